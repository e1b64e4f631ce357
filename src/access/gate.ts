import type { Clock } from '../clock.ts';
import type { ServiceError } from '../errors.ts';
import { contains } from '../config/networks.ts';
import { refusal } from '../refusals.ts';
import type { KeyRecord } from '../store/keys/keys.ts';
import { clientAddress } from './client-network.ts';
import type { Client, KeyLeases } from './keys/key-leases.ts';
import type { RateDecision, RateLimiter } from './limiter/rate-limiter.ts';
import { tiers } from './tiers.ts';

/** The shop, key and scopes of an admitted request. */
export type Caller = KeyRecord;

/**
 * `rate` is set if the request was checked against a limit, whether it was admitted or not. A refused caller is
 * known if the key exists.
 */
export type Admission =
  | { readonly caller: Caller; readonly rate: RateDecision | undefined }
  | {
      readonly refusal: ServiceError;
      readonly rate: RateDecision | undefined;
      readonly caller: Caller | undefined;
    };

const unauthorized = refusal('unauthenticated');
const tierRequired = refusal('tierRequired');

interface GateParts {
  readonly clock: Clock;
  readonly leases: KeyLeases;
  readonly limiter: RateLimiter;
}

/** Admits requests by key (401), tier (403) and limit (429), in this order, for every transport. */
export class Gate {
  readonly #parts: GateParts;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** @param authorization the Authorization header, unchanged */
  async admit(authorization: string | undefined, client: Client): Promise<Admission> {
    const key = bearerToken(authorization);
    const found = key === undefined ? undefined : this.#parts.leases.find(key, client);
    // To await what is known would cost as much as finding it.
    const caller = found instanceof Promise ? await found : found;
    if (!caller || !isAllowed(caller, client)) {
      return { refusal: unauthorized, rate: undefined, caller };
    }
    // Returning the promise itself would take two more rounds of the microtask queue.
    return await this.judge(caller);
  }

  /** Admits or refuses a request with a key that is known, from wherever it comes. */
  async judge(caller: Caller): Promise<Admission> {
    if (caller.isRevoked || this.#hasExpired(caller)) {
      return { refusal: unauthorized, rate: undefined, caller };
    }
    const tier = tiers[caller.tier];
    if (!tier.hasApiAccess) return { refusal: tierRequired, rate: undefined, caller };
    if (tier.limitPerMinute === undefined) return { caller, rate: undefined };

    const holder = `${caller.shopId}/${caller.keyId}`;
    const rate = await this.#parts.limiter.take(holder, tier.limitPerMinute);
    return rate.admitted
      ? { caller, rate }
      : { refusal: refusal('rateLimited', String(rate.resetSeconds)), rate, caller };
  }

  /** Checked on every request, so that a lease never prolongs a key. */
  #hasExpired({ expiresAt }: KeyRecord): boolean {
    return expiresAt !== null && this.#parts.clock.now() >= expiresAt;
  }
}

/** The address is asked for only if the key is bound to networks: finding it costs something. */
function isAllowed({ networks }: KeyRecord, client: Client): boolean {
  return networks.length === 0 || contains(networks, clientAddress(client.ip));
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization?.match(/^bearer +([^ ]+)$/i)?.[1];
}
