import type { Sql } from '../database.ts';
import { type KeyRecord, listKeysByHash } from './keys.ts';
import type { LookupAllowance } from './lookup-allowance.ts';

interface PendingLookup extends PromiseWithResolvers<KeyRecord | undefined> {
  readonly client: string;
}

/** The key was not looked up, because its client has requested too many keys that do not exist. */
export class LookupRefused extends Error {}
/** Shared: creating a stack trace each time would cost more than the look-up. */
const refused = new LookupRefused('The client has requested too many keys that do not exist.');

const keysPerStatement = 100;
/** As many requests as can wait at a time; more than this means that someone is guessing keys. */
const maxWaiting = 10_000;
/** How many recently found keys are remembered. */
const maxRecent = 10_000;

/**
 * Looks up keys, one statement at a time, each for all keys that are waiting by then. This limits the load
 * on the database, however many invalid keys arrive.
 */
export class KeyLookups {
  readonly #sql: Sql;
  readonly #allowance: LookupAllowance;
  /** Pending look-ups by hash. Recently found keys go first, so that invalid keys do not delay them. */
  readonly #recent = new Map<string, PendingLookup>();
  readonly #others = new Map<string, PendingLookup>();
  /** Hashes of recently found keys, oldest first. Affects only priority, never access. */
  readonly #found = new Set<string>();
  #isBusy = false;

  /** @param sql the primary database, never a replica that may lag */
  constructor(sql: Sql, allowance: LookupAllowance) {
    this.#sql = sql;
    this.#allowance = allowance;
  }

  /** Number of recently found keys that are remembered. */
  get remembered(): number {
    return this.#found.size;
  }

  /**
   * @param hash SHA-256 in base64
   * @param client whose allowance for unknown keys is charged; recently found keys need none
   * @returns the key's record; undefined if it is unknown
   * @throws LookupRefused if the client's allowance is used up
   * @throws if the database fails, or if too many other keys are waiting
   */
  find(hash: string, client: string): Promise<KeyRecord | undefined> {
    const waiting = this.#found.has(hash) ? this.#recent : this.#others;
    let pending = waiting.get(hash);
    if (!pending) {
      if (waiting === this.#others && this.#allowance.isUsedUp(client)) {
        return Promise.reject(refused);
      }
      if (this.#others.size >= maxWaiting && waiting === this.#others) {
        return Promise.reject(new Error(`${maxWaiting} keys are already waiting to be looked up.`));
      }
      pending = { ...Promise.withResolvers<KeyRecord | undefined>(), client };
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
        const keys = await listKeysByHash(this.#sql, [...batch.keys()]);
        const records = new Map(keys.map(({ hash, record }) => [hash, record]));
        for (const [hash, { client, resolve }] of batch) {
          if (!records.has(hash) && !this.#found.has(hash)) this.#allowance.charge(client);
          this.#remember(hash, records.has(hash));
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

  #remember(hash: string, isKey: boolean): void {
    this.#found.delete(hash);
    if (!isKey) return;
    this.#found.add(hash);
    if (this.#found.size <= maxRecent) return;
    for (const oldest of this.#found) {
      this.#found.delete(oldest);
      return;
    }
  }

  #take(): Map<string, PendingLookup> {
    const batch = new Map<string, PendingLookup>();
    for (const waiting of [this.#recent, this.#others]) {
      for (const [hash, pending] of waiting) {
        if (batch.size === keysPerStatement) return batch;
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
