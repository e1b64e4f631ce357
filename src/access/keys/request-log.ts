import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import { throttled } from '../../log/throttled.ts';
import { keptRequests, type LoggedRequest } from '../../store/keys/requests.ts';
import type { UsedKey, KeyUsage } from './key-usage.ts';

const flushMilliseconds = 10_000;
/** Entries in memory, of all shops together. */
const maxEntries = 20_000;

/** What is logged of a request, besides its key and its time. */
export type AnsweredRequest = Pick<
  LoggedRequest,
  'requestId' | 'transport' | 'operation' | 'status'
> & { readonly milliseconds: number };

interface Entry extends Omit<LoggedRequest, 'at' | 'dropped'> {
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A shop's requests that are not stored yet, oldest first. */
interface Waiting {
  entries: Entry[];
  /** How many older ones were dropped since the last write. */
  dropped: number;
}

type Store = (shopId: number, requests: readonly LoggedRequest[]) => Promise<unknown>;

/**
 * Keeps each shop's latest requests with a key, and writes them every ten seconds. A shop's older requests are dropped if
 * there are more than the stored log keeps; the next one says how many.
 */
export class RequestLog {
  readonly #clock: Clock;
  readonly #logFailure: (cause: unknown) => void;
  readonly #store: Store;
  /** By shop, longest waiting first. */
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param store if it fails, the error is logged, once a minute for all shops, and the requests are included in the next
   * write
   */
  constructor(clock: Clock, log: Log, store: Store) {
    this.#clock = clock;
    this.#logFailure = throttled(clock, (err) =>
      log.warn({ err }, 'could not store the log of requests, will retry'),
    );
    this.#store = store;
  }

  note({ shopId, keyId }: UsedKey, request: AnsweredRequest): void {
    const waiting = this.#of(shopId);
    if (this.#count === maxEntries) this.#makeRoom(waiting);
    const { requestId, transport, operation, status } = request;
    const microseconds = Math.round(request.milliseconds * 1000);
    const at = this.#clock.now();
    waiting.entries.push({ requestId, at, keyId, transport, operation, status, microseconds });
    this.#count += 1;
    // Not one at a time, because moving the others costs as much for one as for many.
    if (waiting.entries.length >= 2 * keptRequests) this.#drop(waiting, keptRequests);
    this.#schedule();
  }

  /** Resolves once everything noted so far is stored, or has failed once more. */
  settle(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writeAll(this.#writing);
    return this.#writing;
  }

  async #writeAll(previous: Promise<void>): Promise<void> {
    await previous;
    await Promise.all([...this.#waiting.keys()].map((shopId) => this.write(shopId)));
  }

  /** Writes a shop's requests before their turn, for a page that shows them. */
  async write(shopId: number): Promise<void> {
    const waiting = this.#waiting.get(shopId);
    // What was dropped is kept for the next request.
    if (!waiting || waiting.entries.length === 0) return;
    this.#waiting.delete(shopId);
    this.#count -= waiting.entries.length;
    const excess = Math.max(0, waiting.entries.length - keptRequests);
    const entries = waiting.entries.slice(excess);
    const dropped = waiting.dropped + excess;
    try {
      await this.#store(shopId, rowsOf(entries, dropped));
    } catch (error) {
      this.#logFailure(error);
      this.#putBack(shopId, entries, dropped);
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.settle(), flushMilliseconds).unref();
  }

  #of(shopId: number): Waiting {
    const known = this.#waiting.get(shopId);
    if (known) return known;
    const waiting = { entries: [], dropped: 0 };
    this.#waiting.set(shopId, waiting);
    return waiting;
  }

  #putBack(shopId: number, entries: readonly Entry[], dropped: number): void {
    const waiting = this.#of(shopId);
    waiting.entries = [...entries, ...waiting.entries];
    waiting.dropped += dropped;
    this.#count += entries.length;
    if (waiting.entries.length >= 2 * keptRequests) this.#drop(waiting, keptRequests);
    this.#schedule();
  }

  /** A shop that has some loses its oldest; for one without any, the shop that has waited longest loses all of its. */
  #makeRoom(waiting: Waiting): void {
    if (!waiting.entries.shift()) return this.#dropLongestWaiting();
    waiting.dropped += 1;
    this.#count -= 1;
  }

  #dropLongestWaiting(): void {
    for (const [shopId, waiting] of this.#waiting) {
      // It has waited for nothing any longer, and would be passed each time.
      this.#waiting.delete(shopId);
      this.#waiting.set(shopId, waiting);
      if (waiting.entries.length === 0) continue;
      this.#drop(waiting, waiting.entries.length);
      return;
    }
  }

  #drop(waiting: Waiting, count: number): void {
    waiting.entries.splice(0, count);
    waiting.dropped += count;
    this.#count -= count;
  }
}

/** @param dropped how many requests before the first one are missing */
function rowsOf(entries: readonly Entry[], dropped: number): LoggedRequest[] {
  return entries.map((entry, index) => ({
    ...entry,
    at: new Date(entry.at),
    dropped: index === 0 ? dropped : 0,
  }));
}

/** What is recorded about requests with keys, beside them: the keys' usage and the log of requests. */
export class Calls {
  readonly #usage: KeyUsage;
  readonly #requests: RequestLog;

  constructor(usage: KeyUsage, requests: RequestLog) {
    this.#usage = usage;
    this.#requests = requests;
  }

  note(key: UsedKey, request: AnsweredRequest): void {
    this.#usage.note(key, request.operation, request.status);
    this.#requests.note(key, request);
  }

  /** A key's last use, as far as this process knows (epoch milliseconds). */
  lastUsedAt(shopId: number, keyId: string): number | undefined {
    return this.#usage.lastUsedAt(shopId, keyId);
  }

  /** Stores what this process knows of a shop's requests, for a page that shows them. */
  storeRequests(shopId: number): Promise<void> {
    return this.#requests.write(shopId);
  }

  /** Stores everything noted so far, or tries once more. */
  async settle(): Promise<void> {
    await Promise.all([this.#usage.settle(), this.#requests.settle()]);
  }
}
