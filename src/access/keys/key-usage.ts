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
  /** Milliseconds since `#startedAt`, like `writtenAt`; undefined for never. */
  lastUsedAt: number | undefined;
  /** Requests that are not stored yet. Few: a linear search is faster than a key made of three parts. */
  counts: Count[];
  /** Of these, the one that the latest request was added to. */
  latest: Count | undefined;
  /** The last write, by this process. */
  writtenAt: number | undefined;
  isWriting: boolean;
  /** It is no longer in `#uses`. */
  isForgotten: boolean;
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
  /** Times since then, unlike those since 1970, are small enough that V8 has no number elsewhere for each. */
  readonly #startedAt: number;
  /** By shop and key; key ids are unique only within a shop. */
  readonly #uses = new Map<string, Use>();
  /** By record: with thousands of keys, the search by their ids takes longer than the rest. */
  readonly #useOf = new WeakMap<UsedKey, Use>();
  readonly #pending = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param store stores the last use (epoch milliseconds) and adds the requests. If it fails, the error is
   * logged, once a minute for all keys, and the requests are included in the next write
   */
  constructor(clock: Clock, log: Log, store: WriteUse) {
    this.#clock = clock;
    this.#startedAt = clock.now();
    this.#logFailure = throttled(clock, (err) =>
      log.warn({ err }, 'could not store key usage, will retry'),
    );
    this.#store = store;
  }

  /** Notes an answered request. A refused key was not used, but its requests are counted. */
  note(key: UsedKey, operation: string, status: number): void {
    const now = this.#now();
    const known = this.#useOf.get(key);
    const use = known && !known.isForgotten ? known : this.#find(key);
    const hour = hourOf(this.#startedAt + now);
    const { latest } = use;
    if (latest && isOf(latest, hour, operation, status)) latest.requests += 1;
    else use.latest = add(use.counts, { hour, operation, status, requests: 1 });
    if (status !== refusals.unauthenticated.status) use.lastUsedAt = now;
    if (isDue(use, now)) this.#write(use, now);
  }

  /** A key's last use, as far as this process knows (epoch milliseconds). */
  lastUsedAt(shopId: number, keyId: string): number | undefined {
    const use = this.#uses.get(idOf({ shopId, keyId }));
    return use && this.#epochOf(use.lastUsedAt);
  }

  /** Writes pending requests of keys that are no longer used, and then removes those keys. */
  flush(): void {
    const now = this.#now();
    let writes = 0;
    for (const [id, use] of this.#uses) {
      if (!isDue(use, now)) continue;
      if (use.counts.length === 0) {
        use.isForgotten = true;
        this.#uses.delete(id);
      } else if (writes < writesPerFlush) {
        writes += 1;
        this.#write(use, now);
      }
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
    const now = this.#now();
    for (const use of this.#uses.values()) if (use.counts.length > 0) this.#write(use, now);
    await Promise.all(this.#pending);
  }

  #now(): number {
    return this.#clock.now() - this.#startedAt;
  }

  /** 0 for never. */
  #epochOf(time: number | undefined): number {
    return time === undefined ? 0 : this.#startedAt + time;
  }

  #find(key: UsedKey): Use {
    const use = this.#uses.getOrInsertComputed(idOf(key), () => ({
      key,
      lastUsedAt: undefined,
      counts: [],
      latest: undefined,
      writtenAt: undefined,
      isWriting: false,
      isForgotten: false,
    }));
    this.#useOf.set(key, use);
    this.#timer ??= setInterval(() => this.flush(), flushMilliseconds).unref();
    return use;
  }

  #write(use: Use, now: number): void {
    const { key, counts } = use;
    use.counts = [];
    use.latest = undefined;
    use.writtenAt = now;
    use.isWriting = true;
    const writing = this.#store(key, this.#epochOf(use.lastUsedAt), counts)
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

function idOf({ shopId, keyId }: UsedKey): string {
  return `${shopId}/${keyId}`;
}

/** Also true if the clock went back. */
function isDue({ writtenAt, isWriting }: Use, now: number): boolean {
  if (isWriting) return false;
  return writtenAt === undefined || now < writtenAt || now - writtenAt >= intervalMilliseconds;
}

function isOf(count: Count, hour: number, operation: string, status: number): boolean {
  return count.status === status && count.operation === operation && count.hour === hour;
}

/** @returns the count that the requests were added to */
function add(counts: Count[], added: Count): Count {
  const { hour, operation, status, requests } = added;
  const count = counts.find((each) => isOf(each, hour, operation, status));
  if (count) count.requests += requests;
  else counts.push(added);
  return count ?? added;
}

function putBack(use: Use, counts: readonly Count[], now: number): void {
  const oldest = hourOf(now) - keptHours;
  for (const count of counts) if (count.hour >= oldest) add(use.counts, count);
}
