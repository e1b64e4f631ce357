import type { ErrorKind } from '../errors.ts';
import type { Operation } from '../operations/define.ts';

/** A refusal by the operation or, for methods, before any operation is reached. */
type RefusalKind = ErrorKind | 'methodNotAllowed';

interface Refusal {
  readonly status: number;
  readonly when: string;
  /** What the envelope says, for an operation or in general. */
  readonly message: string;
  readonly headers: readonly string[];
}

const counted = ['RateLimit-Policy', 'RateLimit'];
const scopeMessage = (scope: string) => `This API key does not have the required scope: ${scope}.`;

/** Why a request can be refused, and what the answer is. Every answer also has X-Request-Id. */
export const refusals: Readonly<Record<RefusalKind, Refusal>> = {
  invalid: {
    status: 400,
    when: 'A parameter is missing or not valid.',
    message: 'Says which parameter, and what to pass instead.',
    headers: counted,
  },
  unauthenticated: {
    status: 401,
    when: 'The key is missing, malformed, unknown or revoked; the answer does not tell which.',
    message: 'Unauthorized',
    headers: ['WWW-Authenticate'],
  },
  tierRequired: {
    status: 403,
    when: "The shop's tier does not include API access.",
    message: 'Developer API access requires the Growth plan or higher.',
    headers: counted,
  },
  scopeRequired: {
    status: 403,
    when: 'The key does not hold the scope that the endpoint needs.',
    message: scopeMessage('<scope>'),
    headers: counted,
  },
  notFound: {
    status: 404,
    when: 'The shop has nothing with this id. An id that is not a number gets the same answer.',
    message: 'Subscription not found.',
    headers: counted,
  },
  methodNotAllowed: {
    status: 405,
    when: 'The method is neither GET nor HEAD.',
    message: 'Method not allowed.',
    headers: ['Allow'],
  },
  rateLimited: {
    status: 429,
    when: 'Too many requests with this key. Wait as long as Retry-After says.',
    message: 'Rate limit exceeded. Retry after 12 seconds.',
    headers: ['Retry-After', ...counted],
  },
  internal: {
    status: 500,
    when: 'The server failed. It is safe to try again later.',
    message: 'Internal server error.',
    headers: counted,
  },
};

/** The order in which people read them: by status. */
export const refusalKinds = Object.keys(refusals) as RefusalKind[];

/** What only some operations refuse; all else can happen to any of them. */
const special = new Set<RefusalKind>(['invalid', 'notFound']);

/** The kinds of refusal that an operation documents: its own, and those of every operation. */
export function refusalsOf({ fails }: Operation): RefusalKind[] {
  const own = new Set<RefusalKind>(fails);
  return refusalKinds.filter((kind) => own.has(kind) || !special.has(kind));
}

/** The messages of one kind of refusal as this operation gives them, each under a name. */
export function messagesOf(kind: RefusalKind, operation: Operation): Record<string, string> {
  if (kind === 'scopeRequired') return { [kind]: scopeMessage(operation.scope) };
  if (kind !== 'invalid') return { [kind]: refusals[kind].message };
  // The schema is asked for its own words: no parameter is ever a boolean.
  const names = Object.keys(operation.input.shape);
  const wrong = operation.input.safeParse(Object.fromEntries(names.map((name) => [name, false])));
  const issues = wrong.error?.issues ?? [];
  return Object.fromEntries(issues.map((issue) => [String(issue.path[0]), issue.message]));
}
