import type { Clock } from '../../clock.ts';
import { LookupRefused } from '../../store/keys/secret-lookups.ts';
import type { KeyRecord } from '../../store/keys/keys.ts';
import { clientNetwork } from '../client-network.ts';
import { hashKey, isWellFormedKey } from './key-format.ts';

/** The sender of a request, as far as the network shows. */
export interface Client {
  readonly ip: string | undefined;
}

type FindKey = (hash: string, client: string) => Promise<KeyRecord | undefined>;

/**
 * How long an instance may trust a key's record, counted from before the read was sent. It is safe to change
 * only if no running instance has a lease longer than the time that revocations wait.
 */
const leaseMilliseconds = 1000;

/**
 * How long a revocation, or a change of tier, waits between its commit and its acknowledgement. By then no
 * lease from before the commit is valid on any instance, without comparing clocks. The extra tenth allows
 * for clocks that run at different speeds.
 */
export const leaseDrainMilliseconds = leaseMilliseconds * 1.1;

/** How long before its end a lease is renewed if the key is in use, so that requests need not wait for the database. */
const renewalMilliseconds = 250;
/** How long renewals wait for others, because the keys of a statement cost the database far less than one each. */
const gatheringMilliseconds = 100;

interface Lease {
  readonly end: number;
  readonly record: Promise<KeyRecord | undefined>;
  isRenewed: boolean;
}

/** A lease to be renewed, and who used it. */
interface Renewal {
  readonly key: string;
  readonly lease: Lease;
  readonly client: Client;
}

const unknownKey = Promise.resolve(undefined);

/**
 * Caches key records, including those of unknown keys, for the length of a lease. Indexed by the key itself:
 * hashing it on every request would cost as much as the rest of the gate.
 */
export class KeyLeases {
  readonly #clock: Clock;
  readonly #find: FindKey;
  /** Ordered by end, but for the time that renewals take, since all leases are equally long. */
  readonly #leases = new Map<string, Lease>();
  #renewals: Renewal[] = [];

  /** @param find reads the key from the primary database, never from a replica, which may lag */
  constructor(clock: Clock, find: FindKey) {
    this.#clock = clock;
    this.#find = find;
  }

  /** Number of leases in memory. */
  get size(): number {
    return this.#leases.size;
  }

  /**
   * @param client used only if the key must be looked up
   * @returns the key's record; undefined if the key is malformed or unknown
   */
  find(key: string, client: Client): Promise<KeyRecord | undefined> {
    const now = this.#clock.monotonic();
    const held = this.#leases.get(key);
    if (held && now < held.end) {
      if (now >= held.end - renewalMilliseconds) this.#renewSoon({ key, lease: held, client });
      return held.record;
    }
    if (!isWellFormedKey(key)) return unknownKey;

    const lease: Lease = {
      end: now + leaseMilliseconds,
      record: this.#read(key, client).catch((error) => {
        // No record was read, so the next request tries again.
        if (this.#leases.get(key) === lease) this.#leases.delete(key);
        if (error instanceof LookupRefused) return undefined;
        throw error;
      }),
      isRenewed: false,
    };
    this.#hold(key, lease);
    return lease.record;
  }

  #renewSoon(renewal: Renewal): void {
    if (renewal.lease.isRenewed) return;
    renewal.lease.isRenewed = true;
    this.#renewals.push(renewal);
    if (this.#renewals.length > 1) return;
    setTimeout(() => {
      const renewals = this.#renewals;
      this.#renewals = [];
      for (const each of renewals) void this.#renew(each);
    }, gatheringMilliseconds).unref();
  }

  async #renew({ key, lease, client }: Renewal): Promise<void> {
    // Else it has ended, and what a request has read since then is newer.
    const isHeld = () => this.#leases.get(key) === lease;
    if (!isHeld()) return;
    const end = this.#clock.monotonic() + leaseMilliseconds;
    try {
      const record = await this.#read(key, client);
      if (isHeld()) this.#hold(key, { end, record: Promise.resolve(record), isRenewed: false });
    } catch {
      // The lease ends as if there had been no renewal; the request after that is told the error.
    }
  }

  #read(key: string, client: Client): Promise<KeyRecord | undefined> {
    return this.#find(hashKey(key), clientNetwork(client.ip));
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
