import type { Clock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import type { HourlyRequests } from '../../store/keys/key-requests.ts';
import type { KeyRecord } from '../../store/keys/keys.ts';

const intervalMilliseconds = 60_000;
const hourMilliseconds = 3_600_000;
/** As long as the database keeps them. */
const keptHours = 48;
/** How often to look for keys that are no longer used. */
const flushMilliseconds = 1_000;
/** Limits the load when many keys become unused at once; the others follow a second later. */
const writesPerFlush = 250;

/** A key's usage, as far as this process knows. */
interface Use {
  readonly key: KeyRecord;
  /** Epoch milliseconds, like `writtenAt`. */
  lastUsedAt: number;
  /** Requests by hour that are not stored yet. */
  requests: Map<number, number>;
  /** Last write by this process or, before its first write, by any process. */
  writtenAt: number;
  isWriting: boolean;
}

type WriteUse = (key: KeyRecord, lastUsedAt: number, requests: HourlyRequests) => Promise<unknown>;

/**
 * Tracks each key's last use and its requests per hour. Writes at most once a minute per key, outside the
 * request that used it. Keeps keys used in the last minute, and those with requests that could not be
 * stored.
 */
export class KeyUsage {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #store: WriteUse;
  /** By shop and key; key ids are unique only within a shop. */
  readonly #uses = new Map<number, Map<string, Use>>();
  readonly #pending = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param store stores the last use (epoch milliseconds) and adds the requests. If it fails, the error is
   * logged and the requests are included in the next write
   */
  constructor(clock: Clock, log: Log, store: WriteUse) {
    this.#clock = clock;
    this.#log = log;
    this.#store = store;
  }

  note(key: KeyRecord): void {
    const now = this.#clock.now();
    const use = this.#uses.get(key.shopId)?.get(key.keyId) ?? this.#remember(key);
    // Hours as small integers, which a Map stores without allocating.
    const hour = hourOf(now);
    use.requests.set(hour, (use.requests.get(hour) ?? 0) + 1);
    use.lastUsedAt = now;
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
        if (use.requests.size === 0) {
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
      for (const use of uses.values()) if (use.requests.size > 0) this.#write(use, now);
    }
    await Promise.all(this.#pending);
  }

  #remember(key: KeyRecord): Use {
    const { lastUsedAt } = key;
    const requests = new Map<number, number>();
    const use: Use = { key, lastUsedAt, requests, writtenAt: lastUsedAt, isWriting: false };
    const uses = this.#uses.get(key.shopId) ?? new Map<string, Use>();
    this.#uses.set(key.shopId, uses.set(key.keyId, use));
    this.#timer ??= setInterval(() => this.flush(), flushMilliseconds).unref();
    return use;
  }

  #write(use: Use, now: number): void {
    const { key, lastUsedAt, requests } = use;
    use.requests = new Map();
    use.writtenAt = now;
    use.isWriting = true;
    const writing = this.#store(key, lastUsedAt, requests)
      .catch((cause: unknown) => {
        this.#log.warn({ err: cause, keyId: key.keyId }, 'could not store key usage, will retry');
        putBack(use, requests);
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

/** Also true if the clock went back, or another instance's clock is ahead. */
function isDue({ writtenAt, isWriting }: Use, now: number): boolean {
  return !isWriting && (now < writtenAt || now - writtenAt >= intervalMilliseconds);
}

function putBack(use: Use, requests: HourlyRequests): void {
  const oldest = hourOf(use.lastUsedAt) - keptHours;
  for (const [hour, count] of requests) {
    if (hour >= oldest) use.requests.set(hour, (use.requests.get(hour) ?? 0) + count);
  }
}
