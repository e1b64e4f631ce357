import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';

/** How a sender signs the body of its requests, with an HMAC. */
export interface Scheme {
  /** Lower case. */
  readonly header: string;
  readonly algorithm: 'sha1' | 'sha256';
  readonly encoding: 'base64' | 'hex';
  /** How the key is made of the secret: from base64 after `whsec_`, or of the text as it is. */
  readonly key: 'base64' | 'text';
  /** What the header's entries are separated by; one entry without it. */
  readonly separator?: string;
  /** What precedes each signature, and the time, in an entry. */
  readonly signature?: string;
  readonly time?: string;
  /** What precedes the body in the signed text; `id` and `time` are of the request. */
  readonly signed?: (id: string, time: string) => string;
  /** The vendor's mapping, the only one that its sources may send to; a program's own source may send to any. */
  readonly mapping?: string;
  /** The platform whose events these are; of a shop that is connected to it, they are hints. */
  readonly platform?: string;
}

/**
 * The schemes of Standard Webhooks and of vendors; docs/push.md names the sources. Another one is another line.
 */
export const schemes = {
  standard: {
    header: 'webhook-signature',
    algorithm: 'sha256',
    encoding: 'base64',
    key: 'base64',
    separator: ' ',
    signature: 'v1,',
    signed: (id, time) => `${id}.${time}.`,
  },
  stripe: {
    header: 'stripe-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    separator: ',',
    signature: 'v1=',
    time: 't=',
    signed: (_id, time) => `${time}.`,
    mapping: 'stripe-webhooks',
    platform: 'stripe',
  },
  paddle: {
    header: 'paddle-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    separator: ';',
    signature: 'h1=',
    time: 'ts=',
    signed: (_id, time) => `${time}:`,
    mapping: 'paddle-webhooks',
  },
  churnkey: {
    header: 'ck-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    mapping: 'churnkey-webhooks',
  },
  'chargebee-retention': {
    header: 'x-hub-signature',
    algorithm: 'sha1',
    encoding: 'hex',
    key: 'text',
    mapping: 'chargebee-retention-webhooks',
  },
} as const satisfies Readonly<Record<string, Scheme>>;

export type SchemeName = keyof typeof schemes;
export const schemeNames = Object.keys(schemes) as readonly SchemeName[];

/** These sign no time: anyone who has seen a request can send it again at any time. */
export const timelessSchemes = schemeNames.filter((name) => !('signed' in schemes[name]));

export function isSchemeName(text: string): text is SchemeName {
  return Object.hasOwn(schemes, text);
}

/*
 * Standard Webhooks (https://www.standardwebhooks.com): three headers, and an HMAC-SHA256 in base64 over
 * "ID.TIMESTAMP.BODY". A secret is `whsec_` and the key in base64. The signature header is a list, so that a
 * sender can sign with an old and a new secret. Vendors' own schemes differ in the ways that a Scheme names.
 */
const secretPrefix = 'whsec_';
/** How far the clocks of sender and service may differ, and how long a request can be repeated unchanged. */
const toleranceSeconds = 300;
const maxIdLength = 256;
/** Enough for a sender that rotates; each costs a comparison with each secret. */
const maxSignatures = 10;

/** What a request says of itself; only its signature can prove it. */
export interface Claim {
  readonly scheme: Scheme;
  /** Undefined if the scheme has none. */
  readonly id: string | undefined;
  /** Precedes the body in what is signed. */
  readonly prefix: string;
  readonly signatures: readonly Buffer[];
}

/** Whether a request could be signed by any scheme. */
export function mayBeSigned(headers: IncomingHttpHeaders): boolean {
  return Object.values(schemes).some(({ header }) => headers[header] !== undefined);
}

/** @returns undefined if a header is missing or malformed, or the time is not near */
export function readClaim(
  headers: IncomingHttpHeaders,
  clock: Clock,
  scheme: Scheme = schemes.standard,
): Claim | undefined {
  const { separator, signature = '', time } = scheme;
  const header = headers[scheme.header];
  if (typeof header !== 'string') return undefined;
  const entries = separator === undefined ? [header] : header.split(separator);
  const signatures = entries
    .map((entry) => entry.trim())
    .filter((entry) => entry.startsWith(signature) && entry.length > signature.length)
    .slice(0, maxSignatures)
    .map((entry) => Buffer.from(entry.slice(signature.length), scheme.encoding));
  if (signatures.length === 0) return undefined;
  if (scheme.signed === undefined) return { scheme, id: undefined, prefix: '', signatures };

  const isStandard = time === undefined;
  const id = isStandard ? headers['webhook-id'] : '';
  const sentAt = isStandard
    ? headers['webhook-timestamp']
    : entries
        .find((entry) => entry.trim().startsWith(time))
        ?.trim()
        .slice(time.length);
  if (typeof id !== 'string' || id.length > maxIdLength || (isStandard && id === '')) {
    return undefined;
  }
  if (typeof sentAt !== 'string' || !/^\d{1,12}$/.test(sentAt)) return undefined;
  if (Math.abs(clock.now() / 1000 - Number(sentAt)) > toleranceSeconds) return undefined;
  const prefix = scheme.signed(id, sentAt);
  return { scheme, id: isStandard ? id : undefined, prefix, signatures };
}

/** @param secrets the request may be signed with any of them */
export function isSigned(
  { scheme, prefix, signatures }: Claim,
  secrets: readonly string[],
  body: Buffer,
): boolean {
  return secrets.some((secret) => {
    const key = keyOf(secret, scheme);
    const expected = createHmac(scheme.algorithm, key).update(prefix).update(body).digest();
    return signatures.some(
      (signature) => expected.length === signature.length && timingSafeEqual(expected, signature),
    );
  });
}

export function makeSecret(key: Buffer): string {
  return secretPrefix + key.toString('base64');
}

function keyOf(secret: string, { key }: Scheme): Buffer {
  if (key === 'text') return Buffer.from(secret);
  const text = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret;
  return Buffer.from(text, 'base64');
}
