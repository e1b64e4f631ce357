import { type RateDecision, windowSeconds } from '../access/limiter/rate-limiter.ts';
import type { ServiceError } from '../errors.ts';
import { refusals } from '../refusals.ts';
import type { RequestEntry } from '../log.ts';

/** What a face adds to the log's line of a request. */
export type Facts = Pick<RequestEntry, 'shopId' | 'keyId' | 'operation' | 'revision' | 'mcp'>;

/** All of a response but the headers that every response has. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What `Set-Cookie` headers say, one each. */
  readonly cookies?: readonly string[] | undefined;
  readonly body: string;
  /** What the log should say besides the request itself. */
  readonly facts?: Facts | undefined;
}

export const json = { 'content-type': 'application/json; charset=utf-8' } as const;

const yearSeconds = 365 * 24 * 60 * 60;

/** Names and values, by turns, as Node.js takes them at the least cost. */
export function headersOfEveryAnswer(isHttps: boolean): readonly string[] {
  return [
    'x-content-type-options',
    'nosniff',
    // Of this host only: others below its name are not ours to bind.
    ...(isHttps ? ['strict-transport-security', `max-age=${yearSeconds}`] : []),
  ];
}

/** Answers behind a key are that key's alone and never kept. */
export const keptPrivate = { ...json, 'cache-control': 'private, no-store' } as const;

/** The envelope of every answer that is not 2xx. */
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

export function notFound(): Answer {
  return refuse(404, 'Not found.');
}

/** @param allow the methods that would be answered, as the Allow header lists them */
export function methodNotAllowed(allow: string): Answer {
  return refuse(refusals.methodNotAllowed.status, refusals.methodNotAllowed.text(''), { allow });
}

/** What a caller learns of a failure of ours: nothing but that it is one. */
export function internalError(rate?: RateDecision): Answer {
  return refuse(refusals.internal.status, refusals.internal.text(''), {
    ...keptPrivate,
    ...rateHeaders(rate),
  });
}

/** A refusal in the envelope; the faces before JSON-RPC use it too. */
export function renderRefusal(error: ServiceError, rate: RateDecision | undefined): Answer {
  return refuse(refusals[error.kind].status, error.message, {
    ...keptPrivate,
    ...rateHeaders(rate),
    ...(error.kind === 'unauthenticated' && { 'www-authenticate': 'Bearer' }),
    ...(error.kind === 'rateLimited' && rate && { 'retry-after': String(rate.resetSeconds) }),
  });
}

/**
 * How far a limited key is, for clients that slow down by themselves.
 * @see IETF draft-ietf-httpapi-ratelimit-headers-10: q quota, w window, r remaining, t seconds until
 * more becomes available
 */
export function rateHeaders(rate: RateDecision | undefined): Record<string, string> {
  if (!rate) return {};
  return {
    'ratelimit-policy': `"default";q=${rate.limit};w=${windowSeconds}`,
    ratelimit: `"default";r=${rate.remaining};t=${rate.resetSeconds}`,
  };
}
