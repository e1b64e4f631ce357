import type { Sql } from '../database.ts';
import { type KeyRecord, listKeysByHash } from './keys.ts';
import type { LookupAllowance } from './lookup-allowance.ts';

interface Wanted extends PromiseWithResolvers<KeyRecord | undefined> {
  readonly client: string;
}

/** The key was not looked up: its client has asked for too many that do not exist. */
export class LookupRefused extends Error {}
/** One for all: making a stack trace for each would cost more than the look-up. */
const refused = new LookupRefused('The client has asked for too many keys that do not exist.');

const keysPerStatement = 100;
/** As many requests as can wait for a moment; more of them are somebody's attempt to find a key. */
const mostWaiting = 10_000;
/** How many of those that were found last are remembered to be keys. */
const mostFamiliar = 10_000;

/**
 * Looks keys up, one statement at a time, each for as many keys as wait by then. So what a flood of
 * invented keys costs the database is bounded, however many come.
 */
export class KeyLookups {
  readonly #sql: Sql;
  readonly #allowance: LookupAllowance;
  /** What waits, by hash. Keys that were found before go first: inventors keep none of them waiting. */
  readonly #familiar = new Map<string, Wanted>();
  readonly #strange = new Map<string, Wanted>();
  /** Hashes of keys, those found last at the end. It says who goes first, never who comes in. */
  readonly #found = new Set<string>();
  #isBusy = false;

  /** @param sql the primary database, never a replica that may lag */
  constructor(sql: Sql, allowance: LookupAllowance) {
    this.#sql = sql;
    this.#allowance = allowance;
  }

  /**
   * @param hash SHA-256 in base64
   * @param client whose allowance of unknown keys counts; a key that was found before needs none
   * @returns the key's record, or undefined where it is unknown or revoked
   * @throws LookupRefused when the client's allowance is used up
   * @throws when the database fails, or too many keys that were never found wait already
   */
  find(hash: string, client: string): Promise<KeyRecord | undefined> {
    const waiting = this.#found.has(hash) ? this.#familiar : this.#strange;
    let wanted = waiting.get(hash);
    if (!wanted) {
      if (waiting === this.#strange && this.#allowance.isUsedUp(client)) {
        return Promise.reject(refused);
      }
      if (this.#strange.size >= mostWaiting && waiting === this.#strange) {
        return Promise.reject(
          new Error(`${mostWaiting} keys are waiting to be looked up already.`),
        );
      }
      wanted = { ...Promise.withResolvers<KeyRecord | undefined>(), client };
      waiting.set(hash, wanted);
      if (!this.#isBusy) {
        this.#isBusy = true;
        setImmediate(() => void this.#work());
      }
    }
    return wanted.promise;
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
        // Whoever waits behind it has waited as long.
        for (const waiting of [batch, this.#familiar, this.#strange]) {
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
    if (this.#found.size <= mostFamiliar) return;
    for (const oldest of this.#found) {
      this.#found.delete(oldest);
      return;
    }
  }

  #take(): Map<string, Wanted> {
    const batch = new Map<string, Wanted>();
    for (const waiting of [this.#familiar, this.#strange]) {
      for (const [hash, wanted] of waiting) {
        if (batch.size === keysPerStatement) return batch;
        waiting.delete(hash);
        if (waiting === this.#strange && this.#allowance.isUsedUp(wanted.client)) {
          wanted.reject(refused);
        } else {
          batch.set(hash, wanted);
        }
      }
    }
    return batch;
  }
}
