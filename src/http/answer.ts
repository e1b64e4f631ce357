import type { Readable } from 'node:stream';
import { type RateDecision, windowSeconds } from '../access/limiter/rate-limiter.ts';
import type { UsedKey } from '../access/keys/key-usage.ts';
import type { ServiceError } from '../errors.ts';
import { type RefusalHeader, type RefusalKind, refusals } from '../refusals.ts';
import type { RequestEntry } from '../log/log.ts';

/** What a transport adds to the log line of a request. */
export type Facts = Pick<RequestEntry, 'shopId' | 'keyId' | 'operation' | 'revision' | 'mcp'>;

/** A stream is read as fast as the client receives it, and destroyed if the client leaves. */
export type AnswerBody = string | Buffer | Readable;

/** A response without the headers that every response has. */
export interface Answer<Sent extends AnswerBody = string> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One `Set-Cookie` header each. */
  readonly cookies?: readonly string[] | undefined;
  /** Text before a body of bytes that other answers share. */
  readonly start?: string | undefined;
  readonly body: Sent;
  readonly facts?: Facts | undefined;
  readonly call?: Call | undefined;
}

/** A request with a key that exists, even if it was refused: for the key's usage and the log of requests. */
export interface Call {
  readonly key: UsedKey;
  /** The name of an operation or an MCP method, or `unknown`. */
  readonly operation: string;
}

export const json = { 'content-type': 'application/json; charset=utf-8' } as const;

const yearSeconds = 365 * 24 * 60 * 60;

/** Alternating names and values, the cheapest form for Node.js. */
export function commonHeaders(isHttps: boolean): readonly string[] {
  return [
    'x-content-type-options',
    'nosniff',
    // Without includeSubDomains: subdomains may belong to other services.
    ...(isHttps ? ['strict-transport-security', `max-age=${yearSeconds}`] : []),
  ];
}

/** For responses to requests with a key: they must not be cached. */
export const privateJson = { ...json, 'cache-control': 'private, no-store' } as const;

/** The body of every response that is not 2xx. */
function envelope(message: string): string {
  return JSON.stringify({ success: false, message });
}

export function refuse(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { ...json, ...headers }, body: envelope(message) };
}

export function notFound(headers: Readonly<Record<string, string>> = {}): Answer {
  return refuse(404, 'Not found.', headers);
}

/** The same where browsers get a page. */
export function notFoundForPrograms(): Answer {
  return notFound({ vary: 'accept' });
}

/** @param allow the supported methods, as the Allow header lists them */
export function methodNotAllowed(allow: string): Answer {
  return refuse(refusals.methodNotAllowed.status, refusals.methodNotAllowed.text(''), { allow });
}

/** Reveals nothing about the cause. */
export function internalError(rate?: RateDecision): Answer {
  const { status, text } = refusals.internal;
  return refuse(status, text(''), { ...privateJson, ...headersOf('internal', rate) });
}

/** A refusal in the envelope; MCP uses it too, for requests refused before JSON-RPC. */
export function renderRefusal(error: ServiceError, rate: RateDecision | undefined): Answer {
  return refuse(refusals[error.kind].status, error.message, {
    ...privateJson,
    ...headersOf(error.kind, rate),
  });
}

/** Lets clients slow down before they reach the limit. */
export function rateHeaders(rate: RateDecision | undefined): Record<string, string> {
  if (!rate) return {};
  return {
    'ratelimit-policy': headerValues['RateLimit-Policy'](rate),
    ratelimit: headerValues.RateLimit(rate),
  };
}

/**
 * What the headers in the table of refusals say of a limited key. `Allow` depends on the path instead.
 * @see IETF draft-ietf-httpapi-ratelimit-headers-10: q quota, w window, r remaining, t seconds until
 * more becomes available
 */
const headerValues = {
  'Retry-After': ({ resetSeconds }: RateDecision) => String(resetSeconds),
  'RateLimit-Policy': ({ limit }: RateDecision) => `"default";q=${limit};w=${windowSeconds}`,
  RateLimit: ({ remaining, resetSeconds }: RateDecision) =>
    `"default";r=${remaining};t=${resetSeconds}`,
} satisfies Partial<Record<RefusalHeader, (rate: RateDecision) => string>>;

function headersOf(kind: RefusalKind, rate: RateDecision | undefined): Record<string, string> {
  const { headers: names, retryAfterSeconds } = refusals[kind];
  const headers: Record<string, string> = {};
  for (const name of names) {
    if (name === 'WWW-Authenticate') headers['www-authenticate'] = 'Bearer';
    else if (name === 'Retry-After' && retryAfterSeconds !== undefined)
      headers['retry-after'] = String(retryAfterSeconds);
    else if (rate && name !== 'Allow') headers[name.toLowerCase()] = headerValues[name](rate);
  }
  return headers;
}
