import type { z } from 'zod';

/** A list that is too long, as the end of a sentence about it. */
export function tooManyEntries(max: number): string {
  return `must have at most ${max} entries`;
}

/**
 * Validates a value read from a file.
 * @returns the data, or a sentence for each invalid field: where it is, and what is expected
 * @param documentName used in sentences about the whole document
 */
export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  documentName = '',
): { readonly data: z.output<Schema> } | { readonly problems: ReadonlySet<string> } {
  const { success, data, error } = schema.safeParse(value, { error: describe });
  if (success) return { data };
  // A number that is too large is reported twice: by its schema, and as an unsafe integer.
  const problems = new Set(
    error.issues.map(({ path, message }) =>
      `${fieldPath(path) || documentName} ${message}`.trimStart(),
    ),
  );
  return { problems };
}

/** How many problems of a record are named: it may have thousands, and a file thousands of such records. */
export const namedProblems = 10;

/** What is wrong with a record, in one line. */
export function joinProblems(problems: ReadonlySet<string>): string {
  const named = [...problems.values().take(namedProblems)];
  if (problems.size > namedProblems) named.push('and more problems');
  return named.join('; ');
}

const expected: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Quoted unless it is a word. */
function shown(value: unknown): string {
  return /^\w+$/.test(String(value)) ? String(value) : JSON.stringify(value);
}

/** Replaces zod's default messages. The result is the end of a sentence about a field. */
function describe(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${expected[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${JSON.stringify(issue.values[0])}`
        : `must be one of ${issue.values.map(shown).join(', ')}`;
    case 'too_small':
      return 'must not be empty';
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : tooManyEntries(Number(issue.maximum));
    default:
      return `is not valid (${issue.code})`;
  }
}

/** A path in a JSON document, such as `lines[0].price`; empty for the whole document. */
function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      const name = String(part);
      return /^\w+$/.test(name) ? `.${name}` : `["${name}"]`;
    })
    .join('')
    .replace(/^\./, '');
}
