import { type ErrorKind, ServiceError } from './errors.ts';

/** A refusal by an operation or the gate, or of a method before either is reached. */
export type RefusalKind = ErrorKind | 'methodNotAllowed';

export type RefusalHeader =
  | 'Allow'
  | 'Retry-After'
  | 'RateLimit-Policy'
  | 'RateLimit'
  | 'WWW-Authenticate';

interface Refusal {
  readonly status: number;
  readonly when: string;
  /** The message of the envelope. */
  text(detail: string): string;
  /** The detail that the reference shows. */
  readonly example: string;
  /** Every answer also has X-Request-Id. */
  readonly headers: readonly RefusalHeader[];
  /** What Retry-After says, unless the key's limit does. */
  readonly retryAfterSeconds?: number;
}

/** Of limited keys only. */
const limits = ['RateLimit-Policy', 'RateLimit'] as const;

/**
 * Why a request can be refused, and how: the one table for the gate, both transports, the reference and
 * OpenAPI. By status, as people read them.
 */
export const refusals: Readonly<Record<RefusalKind, Refusal>> = {
  invalid: {
    status: 400,
    when: 'A parameter is missing or not valid.',
    text: (problem) => problem,
    example: 'Says which parameter, and what to pass instead.',
    headers: limits,
  },
  unauthenticated: {
    status: 401,
    when: 'The key is missing, malformed, unknown or revoked; the answer does not tell which.',
    text: () => 'Unauthorized',
    example: '',
    headers: ['WWW-Authenticate'],
  },
  tierRequired: {
    status: 403,
    when: "The shop's tier does not include API access.",
    text: () => 'Developer API access requires the Growth plan or higher.',
    example: '',
    headers: limits,
  },
  scopeRequired: {
    status: 403,
    when: 'The key does not hold the scope that the endpoint needs.',
    text: (scope) => `This API key does not have the required scope: ${scope}.`,
    example: '<scope>',
    headers: limits,
  },
  notFound: {
    status: 404,
    when: 'The shop has nothing with this id. An id that is not a number gets the same answer.',
    text: (what) => `${what} not found.`,
    example: 'Subscription',
    headers: limits,
  },
  methodNotAllowed: {
    status: 405,
    when: 'The method is neither GET nor HEAD.',
    text: () => 'Method not allowed.',
    example: '',
    headers: ['Allow'],
  },
  rateLimited: {
    status: 429,
    when: 'Too many requests with this key. Wait as long as Retry-After says.',
    text: (seconds) => `Rate limit exceeded. Retry after ${seconds} seconds.`,
    example: '12',
    headers: ['Retry-After', ...limits],
  },
  internal: {
    status: 500,
    when: 'The server failed. It is safe to try again, after as long as Retry-After says.',
    text: () => 'Internal server error.',
    example: '',
    headers: ['Retry-After', ...limits],
    retryAfterSeconds: 2,
  },
};

/** @param detail what the text of this kind takes in: the problem, the scope, the seconds, or what is missing */
export function refusal(kind: ErrorKind, detail = ''): ServiceError {
  return new ServiceError(kind, refusals[kind].text(detail));
}
