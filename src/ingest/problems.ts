import type { z } from 'zod';

/**
 * Validates a value read from a file.
 * @returns the data, or a sentence for each field that is wrong: where it is, and what would be right
 * @param whole the document's name in sentences about all of it
 */
export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole = '',
): { readonly data: z.output<Schema> } | { readonly problems: readonly string[] } {
  const { success, data, error } = schema.safeParse(value, { error: describe });
  if (success) return { data };
  // A number that is too large is reported twice: by its schema, and as no safe integer.
  const problems = new Set(
    error.issues.map(({ path, message }) => `${fieldPath(path) || whole} ${message}`.trimStart()),
  );
  return { problems: [...problems] };
}

const expected: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Replaces zod's own messages where a schema has none: the end of a sentence about a field. */
function describe(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${expected[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${JSON.stringify(issue.values[0])}`
        : `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return 'must not be empty';
    case 'too_big':
      return `must have at most ${issue.maximum} ${issue.origin === 'string' ? 'characters' : 'entries'}`;
    default:
      return `is not valid (${issue.code})`;
  }
}

/** Where a value stands in a JSON document: `lines[0].price`; empty for the whole document. */
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
