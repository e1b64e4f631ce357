import { setTimeout as sleep } from 'node:timers/promises';
import { leaseDrainMilliseconds } from '../src/access/keys/key-leases.ts';
import { systemClock } from '../src/clock.ts';
import { apiKeys } from '../src/access/keys/keys.ts';
import { createSecret, revokeSecret } from '../src/access/secrets.ts';
import { type Sql, connect } from '../src/store/database.ts';
import { silentLog } from '../test/support/world.ts';
import type { Instance } from './instance.ts';

/** The outcome of one write. */
interface Write {
  readonly begin: number;
  readonly end: number;
  readonly isAcknowledged: boolean;
}

/** How many keys exist at the same time. */
const concurrentKeys = 4;
/** Revoked keys are retried, at a rate below the limit for unknown keys. */
const maxTried = 50;
const tryPauseMilliseconds = 50;
const retryMilliseconds = 100;
/** Time for an instance that stops or dies to be marked as down. */
const stopNoticeMilliseconds = 1_000;

/**
 * Constantly creates and revokes keys, as owners do, and checks what was acknowledged: a created
 * key works from then on, and a revoked key is refused after the lease.
 */
export class Owner {
  readonly writes: Write[] = [];
  /** Start times of pending writes. */
  readonly waiting = new Map<object, number>();
  readonly wrong: string[] = [];
  /** Number of keys checked from creation to revocation. */
  checked = 0;
  readonly #sql: Sql;
  readonly #shopId: number;
  readonly #targets: readonly Instance[];
  readonly #revoked: string[] = [];
  readonly #over = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(databaseUrl: string, shopId: number, targets: readonly Instance[]) {
    this.#sql = connect(databaseUrl, {
      name: 'write',
      connections: concurrentKeys,
      statementTimeoutMilliseconds: 0,
    });
    this.#shopId = shopId;
    this.#targets = targets;
    this.#running = Promise.all([
      ...Array.from({ length: concurrentKeys }, () => this.#repeat(() => this.#createAndRevoke())),
      this.#repeat(() => this.#tryRevoked()),
    ]);
  }

  async end(): Promise<void> {
    this.#over.abort();
    await this.#sql.end(0);
    await this.#running;
  }

  async #repeat(work: () => Promise<void>): Promise<void> {
    while (!this.#over.signal.aborted) await work();
  }

  async #createAndRevoke(): Promise<void> {
    const id = apiKeys.newId();
    const target = { shopId: this.#shopId, id, actor: { who: 'command line' } };
    const parts = { sql: this.#sql, clock: systemClock, log: silentLog };
    const made = await this.#write(() =>
      createSecret(apiKeys, parts, target, { name: 'drill', scopes: ['read:plans'] }),
    );
    if (made?.kind === 'locked') throw new Error('The shop has no access.');
    // The first attempt may have created it although its result was lost.
    const key = made?.kind === 'created' ? made.secret : undefined;
    if (key !== undefined) await this.#expect(key, 200, `key ${id} was created but is refused`);
    const isKnown = await this.#write(() => revokeSecret(apiKeys, parts, target));
    if (isKnown === false) this.wrong.push(`key ${id} was created but does not exist`);
    if (!isKnown || key === undefined) return;
    await sleep(leaseDrainMilliseconds);
    await this.#expect(key, 401, `key ${id} was revoked but works`);
    this.#revoked.push(key);
    if (this.#revoked.length > maxTried) this.#revoked.shift();
    this.checked += 1;
  }

  async #tryRevoked(): Promise<void> {
    await sleep(tryPauseMilliseconds);
    const key = this.#revoked[Math.floor(Math.random() * this.#revoked.length)];
    if (key !== undefined) await this.#expect(key, 401, 'a revoked key works again');
  }

  /** Retries until the write is acknowledged; undefined once the drill is over. */
  async #write<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    while (!this.#over.signal.aborted) {
      const write = {};
      const begin = performance.now();
      this.waiting.set(write, begin);
      const note = (isAcknowledged: boolean) =>
        this.writes.push({ begin, end: performance.now(), isAcknowledged });
      try {
        const result = await work();
        note(true);
        return result;
      } catch {
        note(false);
        await sleep(retryMilliseconds);
      } finally {
        this.waiting.delete(write);
      }
    }
    return undefined;
  }

  /** Every running instance must answer with this status, or with 500. */
  async #expect(key: string, status: 200 | 401, complaint: string): Promise<void> {
    for (const target of this.#targets.filter(({ state }) => state === 'up')) {
      const { starts } = target;
      try {
        const response = await fetch(`${target.baseUrl}/api/external/v1/plans`, {
          headers: { authorization: `Bearer ${key}`, connection: 'close' },
        });
        await response.text();
        if (response.status !== status && response.status !== 500) {
          this.wrong.push(`${target.name}: ${response.status}, ${complaint}`);
        }
      } catch (error) {
        await sleep(stopNoticeMilliseconds);
        if (target.state === 'up' && target.starts === starts) {
          this.wrong.push(`${target.name}: ${String(error)}`);
        }
      }
    }
  }
}
