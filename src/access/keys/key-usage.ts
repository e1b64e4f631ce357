import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import { throttled } from '../../log/throttled.ts';
import { refusals } from '../../refusals.ts';
import type { RequestCount } from '../../store/keys/requests.ts';
import type { KeyRecord } from '../../store/keys/keys.ts';

const intervalMilliseconds = 60_000;
const hourMilliseconds = 3_600_000;
/** How long counts that cannot be stored are kept. */
const keptHours = 48;
/** How often to look for keys that are no longer used. */
const flushMilliseconds = 1_000;
/** Limits the load when many keys become unused at once; the others follow a second later. */
const writesPerFlush = 250;

/** The key of a request. */
export type UsedKey = Pick<KeyRecord, 'shopId' | 'keyId'>;

type Count = { -readonly [Name in keyof RequestCount]: RequestCount[Name] };

/** A key's usage, as far as this process knows. */
interface Use {
  readonly key: UsedKey;
  /** Epoch milliseconds, like `writtenAt`; 0 for never. */
  lastUsedAt: number;
  /** Requests that are not stored yet. Few: a linear search is faster than a key made of three parts. */
  counts: Count[];
  /** The last write, by this process. */
  writtenAt: number;
  isWriting: boolean;
}

type WriteUse = (
  key: UsedKey,
  lastUsedAt: number,
  counts: readonly RequestCount[],
) => Promise<unknown>;

/**
 * Tracks each key's last use, and its requests per hour by operation and answer. Writes at most once a minute per
 * key, outside the request that used it. Keeps keys used in the last minute, and those with requests that could not be
 * stored.
 */
export class KeyUsage {
  readonly #clock: Clock;
  readonly #logFailure: (cause: unknown) => void;
  readonly #store: WriteUse;
  /** By shop and key; key ids are unique only within a shop. */
  readonly #uses = new Map<number, Map<string, Use>>();
  readonly #pending = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param store stores the last use (epoch milliseconds) and adds the requests. If it fails, the error is
   * logged, once a minute for all keys, and the requests are included in the next write
   */
  constructor(clock: Clock, log: Log, store: WriteUse) {
    this.#clock = clock;
    this.#logFailure = throttled(clock, (err) =>
      log.warn({ err }, 'could not store key usage, will retry'),
    );
    this.#store = store;
  }

  /** Notes an answered request. A refused key was not used, but its requests are counted. */
  note(key: UsedKey, operation: string, status: number): void {
    const now = this.#clock.now();
    const use = this.#uses.get(key.shopId)?.get(key.keyId) ?? this.#remember(key);
    add(use.counts, hourOf(now), operation, status, 1);
    if (status !== refusals.unauthenticated.status) use.lastUsedAt = now;
    if (isDue(use, now)) this.#write(use, now);
  }

  /** A key's last use, as far as this process knows (epoch milliseconds). */
  lastUsedAt(shopId: number, keyId: string): number | undefined {
    return this.#uses.get(shopId)?.get(keyId)?.lastUsedAt;
  }

  /** Writes pending requests of keys that are no longer used, and then removes those keys. */
  flush(): void {
    const now = this.#clock.now();
    let writes = 0;
    for (const [shopId, uses] of this.#uses) {
      for (const [keyId, use] of uses) {
        if (!isDue(use, now)) continue;
        if (use.counts.length === 0) {
          uses.delete(keyId);
        } else if (writes < writesPerFlush) {
          writes += 1;
          this.#write(use, now);
        }
      }
      if (uses.size === 0) this.#uses.delete(shopId);
    }
    if (this.#uses.size === 0) this.#stopTimer();
  }

  /**
   * Resolves once everything noted so far has been written, or has failed once more. Later use of known
   * keys is written only when this is called again.
   */
  async settle(): Promise<void> {
    this.#stopTimer();
    await Promise.all(this.#pending);
    const now = this.#clock.now();
    for (const uses of this.#uses.values()) {
      for (const use of uses.values()) if (use.counts.length > 0) this.#write(use, now);
    }
    await Promise.all(this.#pending);
  }

  #remember(key: UsedKey): Use {
    const use: Use = { key, lastUsedAt: 0, counts: [], writtenAt: 0, isWriting: false };
    const uses = this.#uses.get(key.shopId) ?? new Map<string, Use>();
    this.#uses.set(key.shopId, uses.set(key.keyId, use));
    this.#timer ??= setInterval(() => this.flush(), flushMilliseconds).unref();
    return use;
  }

  #write(use: Use, now: number): void {
    const { key, lastUsedAt, counts } = use;
    use.counts = [];
    use.writtenAt = now;
    use.isWriting = true;
    const writing = this.#store(key, lastUsedAt, counts)
      .catch((cause: unknown) => {
        this.#logFailure(cause);
        putBack(use, counts, this.#clock.now());
      })
      .finally(() => {
        use.isWriting = false;
        this.#pending.delete(writing);
      });
    this.#pending.add(writing);
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function hourOf(at: number): number {
  return Math.floor(at / hourMilliseconds);
}

/** Also true if the clock went back. */
function isDue({ writtenAt, isWriting }: Use, now: number): boolean {
  return !isWriting && (now < writtenAt || now - writtenAt >= intervalMilliseconds);
}

function add(
  counts: Count[],
  hour: number,
  operation: string,
  status: number,
  requests: number,
): void {
  for (const count of counts) {
    if (count.status === status && count.operation === operation && count.hour === hour) {
      count.requests += requests;
      return;
    }
  }
  counts.push({ hour, operation, status, requests });
}

function putBack(use: Use, counts: readonly RequestCount[], now: number): void {
  const oldest = hourOf(now) - keptHours;
  for (const { hour, operation, status, requests } of counts) {
    if (hour >= oldest) add(use.counts, hour, operation, status, requests);
  }
}
