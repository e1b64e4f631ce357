import type { Clock } from '../clock.ts';
import type { ServiceError } from '../errors.ts';
import { refusal } from '../refusals.ts';
import type { KeyRecord } from '../store/keys/keys.ts';
import type { Client, KeyLeases } from './keys/key-leases.ts';
import type { KeyUsage } from './keys/key-usage.ts';
import type { RateDecision, RateLimiter } from './limiter/rate-limiter.ts';
import { tiers } from './tiers.ts';

/** The shop, key and scopes of an admitted request. */
export type Caller = KeyRecord;

/** `rate` is set if the request was checked against a limit, whether it was admitted or not. */
export type Admission =
  | { readonly caller: Caller; readonly rate: RateDecision | undefined }
  | { readonly refusal: ServiceError; readonly rate: RateDecision | undefined };

const unauthorized: Admission = {
  refusal: refusal('unauthenticated'),
  rate: undefined,
};

const tierRequired: Admission = {
  refusal: refusal('tierRequired'),
  rate: undefined,
};

interface GateParts {
  readonly clock: Clock;
  readonly leases: KeyLeases;
  readonly usage: KeyUsage;
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
    const caller = key === undefined ? undefined : await this.#parts.leases.find(key, client);
    if (!caller || this.#hasExpired(caller)) return unauthorized;
    this.#parts.usage.note(caller);

    const tier = tiers[caller.tier];
    if (!tier.hasApiAccess) return tierRequired;
    if (tier.limitPerMinute === undefined) return { caller, rate: undefined };

    const holder = `${caller.shopId}/${caller.keyId}`;
    const rate = await this.#parts.limiter.take(holder, tier.limitPerMinute);
    return rate.admitted
      ? { caller, rate }
      : { refusal: refusal('rateLimited', String(rate.resetSeconds)), rate };
  }

  /** Checked on every request, so that a lease never prolongs a key. */
  #hasExpired({ expiresAt }: KeyRecord): boolean {
    return expiresAt !== null && this.#parts.clock.now() >= expiresAt;
  }
}

function bearerToken(authorization: string | undefined): string | undefined {
  return authorization?.match(/^bearer +([^ ]+)$/i)?.[1];
}
