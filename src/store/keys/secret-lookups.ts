import type { Clock } from '../../clock.ts';

interface PendingLookup<Found> extends PromiseWithResolvers<Found | undefined> {
  readonly client: string;
}

/** The secret was not looked up, because its client has sent too many that do not exist. */
export class LookupRefused extends Error {}
/** Shared: creating a stack trace each time would cost more than the look-up. */
const refused = new LookupRefused('The client has sent too many secrets that do not exist.');

const secretsPerStatement = 100;
/** As many requests as can wait at a time; more than this means that someone is guessing. */
const maxWaiting = 10_000;
/** How many recently found secrets are remembered. */
const maxRecent = 10_000;

/**
 * Reads what is stored by these hashes, in no order and without the unknown ones, from the primary database, never from
 * a replica that may lag.
 */
type Read<Found> = (
  hashes: readonly string[],
) => Promise<readonly { readonly hash: string; readonly record: Found }[]>;

/**
 * Looks up secrets that callers send, such as API keys, one statement at a time, each for all that are waiting by then.
 * This limits the load on the database, however many invented ones arrive.
 */
export class SecretLookups<Found> {
  readonly #read: Read<Found>;
  readonly #allowance: LookupAllowance;
  /** Pending look-ups by hash. Recently found secrets go first, so that invented ones do not delay them. */
  readonly #recent = new Map<string, PendingLookup<Found>>();
  readonly #others = new Map<string, PendingLookup<Found>>();
  /** Hashes of recently found secrets, oldest first. Affects only priority, never access. */
  readonly #found = new Set<string>();
  #isBusy = false;

  constructor(read: Read<Found>, allowance: LookupAllowance) {
    this.#read = read;
    this.#allowance = allowance;
  }

  /** Number of recently found secrets that are remembered. */
  get remembered(): number {
    return this.#found.size;
  }

  /**
   * @param hash SHA-256 in base64
   * @param client whose allowance for unknown secrets is charged; recently found ones need none
   * @returns undefined if the secret is unknown
   * @throws LookupRefused if the client's allowance is used up
   * @throws if the database fails, or if too many other secrets are waiting
   */
  find(hash: string, client: string): Promise<Found | undefined> {
    const waiting = this.#found.has(hash) ? this.#recent : this.#others;
    let pending = waiting.get(hash);
    if (!pending) {
      if (waiting === this.#others && this.#allowance.isUsedUp(client)) {
        return Promise.reject(refused);
      }
      if (this.#others.size >= maxWaiting && waiting === this.#others) {
        return Promise.reject(
          new Error(`${maxWaiting} secrets are already waiting to be looked up.`),
        );
      }
      pending = { ...Promise.withResolvers<Found | undefined>(), client };
      waiting.set(hash, pending);
      if (!this.#isBusy) {
        this.#isBusy = true;
        setImmediate(() => void this.#work());
      }
    }
    return pending.promise;
  }

  async #work(): Promise<void> {
    for (let batch = this.#take(); batch.size > 0; batch = this.#take()) {
      try {
        const found = await this.#read([...batch.keys()]);
        const records = new Map(found.map(({ hash, record }) => [hash, record]));
        for (const [hash, { client, resolve }] of batch) {
          if (!records.has(hash) && !this.#found.has(hash)) this.#allowance.charge(client);
          if (records.has(hash)) this.remember(hash);
          else this.#found.delete(hash);
          resolve(records.get(hash));
        }
      } catch (error) {
        // Look-ups behind this batch have waited just as long.
        for (const waiting of [batch, this.#recent, this.#others]) {
          for (const { reject } of waiting.values()) reject(error);
          waiting.clear();
        }
      }
    }
    this.#isBusy = false;
  }

  /** Counts a secret as recently found, such as one that has just been made. */
  remember(hash: string): void {
    this.#found.delete(hash);
    this.#found.add(hash);
    if (this.#found.size <= maxRecent) return;
    for (const oldest of this.#found) {
      this.#found.delete(oldest);
      return;
    }
  }

  #take(): Map<string, PendingLookup<Found>> {
    const batch = new Map<string, PendingLookup<Found>>();
    for (const waiting of [this.#recent, this.#others]) {
      for (const [hash, pending] of waiting) {
        if (batch.size === secretsPerStatement) return batch;
        waiting.delete(hash);
        if (waiting === this.#others && this.#allowance.isUsedUp(pending.client)) {
          pending.reject(refused);
        } else {
          batch.set(hash, pending);
        }
      }
    }
    return batch;
  }
}

/** The debt for one unknown secret; a client pays off 100 per second. */
const costMilliseconds = 10;
/** Maximum debt; above it, a client's secrets are not looked up. */
const maxDebtMilliseconds = 1_000;
const maxClients = 10_000;

/**
 * Limits how many unknown secrets, such as API keys, a client may have looked up: a burst of 100, then 100 per second.
 * Those that exist cost nothing.
 */
export class LookupAllowance {
  readonly #clock: Clock;
  /** When each client's debt will be paid off; most recently charged last. */
  readonly #paidOffAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of remembered clients. */
  get size(): number {
    return this.#paidOffAt.size;
  }

  isUsedUp(client: string): boolean {
    const paidOffAt = this.#paidOffAt.get(client);
    if (paidOffAt === undefined) return false;
    return paidOffAt + costMilliseconds - this.#clock.monotonic() > maxDebtMilliseconds;
  }

  /** Charges a client for a secret that does not exist. */
  charge(client: string): void {
    const now = this.#clock.monotonic();
    const paidOffAt = Math.max(now, this.#paidOffAt.get(client) ?? now) + costMilliseconds;
    this.#paidOffAt.delete(client);
    this.#paidOffAt.set(client, paidOffAt);
    for (const [oldest, end] of this.#paidOffAt) {
      if (end > now && this.#paidOffAt.size <= maxClients) return;
      this.#paidOffAt.delete(oldest);
    }
  }
}
