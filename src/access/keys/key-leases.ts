import type { Clock } from '../../clock.ts';
import { LookupRefused } from '../../store/keys/secret-lookups.ts';
import type { FoundKey, KeyRecord } from '../../store/keys/keys.ts';
import { clientNetwork } from '../client-network.ts';
import { hashKey, isWellFormedKey } from './key-format.ts';

/** The sender of a request, as far as the network shows. */
export interface Client {
  readonly ip: string | undefined;
}

type FindKey = (hash: string, client: string) => Promise<FoundKey | undefined>;

/**
 * How long an instance may trust what it has read, counted from before the read was sent. It is safe to change only if
 * no running instance has a lease longer than the time that revocations wait.
 */
const leaseMilliseconds = 1000;

/**
 * How long a revocation, or a change of tier, waits between its commit and its acknowledgement. By then no
 * lease from before the commit is valid on any instance, without comparing clocks. The extra tenth allows
 * for clocks that run at different speeds.
 */
export const leaseDrainMilliseconds = leaseMilliseconds * 1.1;

/** How long before its lease ends the generation is read again, so that requests need not wait for the database. */
const renewalMilliseconds = 250;
/** Records are forgotten when they are once to twice as old, so that the process has no keys that are no longer used. */
const rememberedMilliseconds = 60_000;
/** With more, records are forgotten earlier; twice as many are remembered at most. */
const maxRemembered = 25_000;

/** Undefined for a key that does not exist. */
type Found = KeyRecord | undefined;

interface Lease {
  readonly end: number;
  readonly record: Promise<Found>;
}

const unknownKey = Promise.resolve(undefined);

/**
 * Caches key records for the length of a lease, including those of unknown keys. Afterwards, a record is trusted as long
 * as leases of the generation say that no key has changed since it was read: one small read a second for all keys,
 * however many are in use (docs/decisions/0016-secrets-and-keys.md). Indexed by the key itself: hashing it on every
 * request would cost as much as the rest of the gate.
 */
export class KeyLeases {
  readonly #clock: Clock;
  readonly #find: FindKey;
  readonly #readGeneration: () => Promise<string | null>;
  /** Ordered by end, since all leases are equally long. */
  readonly #leases = new Map<string, Lease>();
  /** What was read with `#generation`, since `#knownSince` and in the period before that. */
  #known = new Map<string, KeyRecord>();
  #knownBefore: ReadonlyMap<string, KeyRecord> = new Map();
  #knownSince = 0;
  /** The answer to the read that was sent last. */
  #generation: { readonly value: string | null; readonly end: number } = { value: null, end: 0 };
  #reading: { readonly noted: Promise<void>; readonly end: number } | undefined;

  /**
   * @param find reads the key from the primary database, never from a replica, which may lag
   * @param readGeneration the same for the generation; null if there is none
   */
  constructor(clock: Clock, find: FindKey, readGeneration: () => Promise<string | null>) {
    this.#clock = clock;
    this.#find = find;
    this.#readGeneration = readGeneration;
  }

  /** Number of leases in memory. */
  get size(): number {
    return this.#leases.size;
  }

  /** Number of records that are trusted while no key changes. */
  get remembered(): number {
    return this.#known.size + this.#knownBefore.size;
  }

  /**
   * @param client used only if the key must be looked up
   * @returns the key's record; undefined if the key is malformed or unknown
   */
  find(key: string, client: Client): Found | Promise<Found> {
    const known = this.#recall(key);
    if (!known) return this.#lookUp(key, client);
    const now = this.#clock.monotonic();
    const { end } = this.#generation;
    if (now >= end) return this.#confirm(key, client);
    // If this fails, requests after the lease read again, and report the error.
    if (now >= end - renewalMilliseconds) this.#renew(now).catch(() => {});
    return known;
  }

  #recall(key: string): KeyRecord | undefined {
    return this.#known.get(key) ?? this.#knownBefore.get(key);
  }

  async #confirm(key: string, client: Client): Promise<Found> {
    await this.#renew(this.#clock.monotonic());
    return this.#recall(key) ?? this.#lookUp(key, client);
  }

  /** Reads the generation, unless a read is under way whose lease has not ended. */
  #renew(now: number): Promise<void> {
    if (this.#reading && now < this.#reading.end) return this.#reading.noted;
    const end = now + leaseMilliseconds;
    const reading = {
      end,
      noted: this.#readGeneration()
        .then((value) => this.#note(value, end))
        .finally(() => {
          if (this.#reading === reading) this.#reading = undefined;
        }),
    };
    this.#reading = reading;
    return reading.noted;
  }

  /** Answers may come out of order: what was sent last counts. */
  #note(value: string | null, end: number): void {
    if (end <= this.#generation.end) return;
    if (value !== this.#generation.value) {
      this.#known = new Map();
      this.#knownBefore = new Map();
    }
    this.#generation = { value, end };
  }

  #lookUp(key: string, client: Client): Promise<Found> {
    const now = this.#clock.monotonic();
    const held = this.#leases.get(key);
    if (held && now < held.end) return held.record;
    if (!isWellFormedKey(key)) return unknownKey;

    const end = now + leaseMilliseconds;
    const lease: Lease = {
      end,
      record: this.#read(key, client, end).catch((error) => {
        // No record was read, so the next request tries again.
        if (this.#leases.get(key) === lease) this.#leases.delete(key);
        if (error instanceof LookupRefused) return undefined;
        throw error;
      }),
    };
    this.#hold(key, lease);
    return lease.record;
  }

  async #read(key: string, { ip }: Client, end: number): Promise<Found> {
    const found = await this.#find(hashKey(key), clientNetwork(ip));
    // Unknown keys are not remembered: there may be any number of them.
    if (typeof found?.generation === 'string') {
      this.#note(found.generation, end);
      // An answer that is late, and older, is not remembered, so the next request looks again.
      if (found.generation === this.#generation.value) this.#remember(key, found);
    }
    return found;
  }

  /** Forgets what is old, too. */
  #remember(key: string, record: KeyRecord): void {
    const now = this.#clock.monotonic();
    if (now - this.#knownSince >= rememberedMilliseconds || this.#known.size >= maxRemembered) {
      this.#knownBefore = this.#known;
      this.#known = new Map();
      this.#knownSince = now;
    }
    this.#known.set(key, record);
  }

  /** Drops what has expired, too. */
  #hold(key: string, lease: Lease): void {
    const now = this.#clock.monotonic();
    for (const [each, { end }] of this.#leases) {
      if (now < end) break;
      this.#leases.delete(each);
    }
    this.#leases.delete(key);
    this.#leases.set(key, lease);
  }
}
