import type { Operation } from '../operations/define.ts';
import { type RefusalKind, refusals } from '../refusals.ts';

/** The order in which people read them: by status. */
export const refusalKinds = Object.keys(refusals) as RefusalKind[];

/** What only some operations refuse; all else can happen to any of them. */
const special = new Set<RefusalKind>(['invalid', 'notFound']);

/** The kinds of refusal that an operation documents: its own, and those of every operation. */
export function refusalsOf({ fails }: Operation): RefusalKind[] {
  const own = new Set<RefusalKind>(fails);
  return refusalKinds.filter((kind) => own.has(kind) || !special.has(kind));
}

/** The message of a kind as the reference shows it, where no operation is spoken of. */
export function messageOf(kind: RefusalKind): string {
  const { text, example } = refusals[kind];
  return text(example);
}

/** The messages of one kind of refusal as this operation gives them, each under a name. */
export function messagesOf(kind: RefusalKind, operation: Operation): Record<string, string> {
  if (kind === 'scopeRequired') return { [kind]: refusals[kind].text(operation.scope) };
  if (kind !== 'invalid') return { [kind]: messageOf(kind) };
  // The schema is asked for its own words: no parameter is ever a boolean.
  const names = Object.keys(operation.input.shape);
  const wrong = operation.input.safeParse(Object.fromEntries(names.map((name) => [name, false])));
  const issues = wrong.error?.issues ?? [];
  return Object.fromEntries(issues.map((issue) => [String(issue.path[0]), issue.message]));
}
