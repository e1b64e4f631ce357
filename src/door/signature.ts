import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';

/*
 * Standard Webhooks (https://www.standardwebhooks.com): three headers, and an HMAC-SHA256 in base64 over
 * "ID.TIMESTAMP.BODY". A secret is `whsec_` and the key in base64. The signature header is a list, so that a
 * sender can sign with an old and a new secret.
 */
const secretPrefix = 'whsec_';
const signaturePrefix = 'v1,';
/** How far the clocks of sender and service may differ, and how long a request can be repeated unchanged. */
const toleranceSeconds = 300;
const maxIdLength = 256;
/** Enough for a sender that rotates; each costs a comparison with each secret. */
const maxSignatures = 10;

/** What a request says of itself; only its signature can prove it. */
export interface Claim {
  readonly id: string;
  readonly timestamp: string;
  readonly signatures: readonly Buffer[];
}

/** Verifies a body as it arrives. */
export interface BodyCheck {
  update(part: Buffer): void;
  /** Whether a signature matches all parts together. Call it once. */
  matches(): boolean;
}

/** @returns undefined if a header is missing or malformed, or the time is not near */
export function readClaim(headers: IncomingHttpHeaders, clock: Clock): Claim | undefined {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const list = headers['webhook-signature'];
  if (typeof id !== 'string' || id === '' || id.length > maxIdLength) return undefined;
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(clock.now() / 1000 - Number(timestamp)) > toleranceSeconds) return undefined;
  if (typeof list !== 'string') return undefined;
  const signatures = list
    .split(' ')
    .filter((each) => each.startsWith(signaturePrefix))
    .slice(0, maxSignatures)
    .map((each) => Buffer.from(each.slice(signaturePrefix.length), 'base64'));
  return signatures.length === 0 ? undefined : { id, timestamp, signatures };
}

/** @param secrets the request may be signed with any of them */
export function startBodyCheck(claim: Claim, secrets: readonly string[]): BodyCheck {
  const hmacs = secrets.map((secret) =>
    createHmac('sha256', keyOf(secret)).update(`${claim.id}.${claim.timestamp}.`),
  );
  return {
    update(part) {
      for (const hmac of hmacs) hmac.update(part);
    },
    matches() {
      const expected = hmacs.map((hmac) => hmac.digest());
      return claim.signatures.some((signature) =>
        expected.some(
          (each) => each.length === signature.length && timingSafeEqual(each, signature),
        ),
      );
    },
  };
}

export function makeSecret(key: Buffer): string {
  return secretPrefix + key.toString('base64');
}

function keyOf(secret: string): Buffer {
  const text = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret;
  return Buffer.from(text, 'base64');
}
