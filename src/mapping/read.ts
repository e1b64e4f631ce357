import { fieldPath } from '../ingest/field-path.ts';
import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { CommandError, UsageError } from '../errors.ts';
import { type Mapping, createMappingSchema } from './schema.ts';

/**
 * A mapping file.
 * @throws CommandError if it cannot be read
 * @throws UsageError with everything that is wrong in it
 */
export async function readMapping(file: string): Promise<Mapping> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      `${file} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}.`,
    );
  });
  return parseMapping(file, text);
}

/** @throws UsageError with everything that is wrong in it */
export function parseMapping(file: string, text: string): Mapping {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}.`, { cause: error });
  }
  const { success, data, error } = createMappingSchema(value).safeParse(value, { error: describe });
  if (success) return data;
  const problems = new Set(error.issues.map(({ path, message }) => sentence(path, message)));
  throw new UsageError(
    [`${file} is not a mapping:`, ...[...problems].map((problem) => `  ${problem}`)].join('\n'),
  );
}

function sentence(path: readonly PropertyKey[], message: string): string {
  return `${fieldPath(path) || 'it'} ${message}`;
}

const expected: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** In place of zod's own messages: the end of a sentence about a place in the file. */
function describe(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${expected[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return 'must not be empty';
    default:
      return `is not valid (${issue.code})`;
  }
}
