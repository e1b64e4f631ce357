import type { Operation } from '../operations/define.ts';
import { type RefusalKind, refusals } from '../refusals.ts';

/** Ordered by status. */
export const refusalKinds = Object.keys(refusals) as RefusalKind[];

/** Refusals of some operations only; every operation can have the others. */
const special = new Set<RefusalKind>(['invalid', 'notFound']);

/** The refusals that an operation documents: its own, and those of every operation. */
export function refusalsOf({ fails }: Operation): RefusalKind[] {
  const own = new Set<RefusalKind>(fails);
  return refusalKinds.filter((kind) => own.has(kind) || !special.has(kind));
}

/** The example message of a refusal, without reference to an operation. */
export function messageOf(kind: RefusalKind): string {
  const { text, example } = refusals[kind];
  return text(example);
}

/** An operation's messages for one kind of refusal, by example name. */
export function messagesOf(kind: RefusalKind, operation: Operation): Record<string, string> {
  if (kind === 'scopeRequired') return { [kind]: refusals[kind].text(operation.scope) };
  if (kind !== 'invalid') return { [kind]: messageOf(kind) };
  // Provokes the schema's own messages: no parameter is a boolean.
  const names = Object.keys(operation.input.shape);
  const wrong = operation.input.safeParse(Object.fromEntries(names.map((name) => [name, false])));
  const issues = wrong.error?.issues ?? [];
  return Object.fromEntries(issues.map((issue) => [String(issue.path[0]), issue.message]));
}
