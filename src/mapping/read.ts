import { readFile } from 'node:fs/promises';
import { CommandError, UsageError } from '../errors.ts';
import { parseWith } from '../records/problems.ts';
import { withoutComments } from './comments.ts';
import { type Mapping, mappingSchemaFor } from './schema.ts';

/**
 * Reads a mapping file.
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
    value = JSON.parse(withoutComments(text.replace(/^\uFEFF/, '')));
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}.`, { cause: error });
  }
  const parsed = parseWith(mappingSchemaFor(value), value, 'it');
  if ('data' in parsed) return parsed.data;
  throw new UsageError(
    [
      `${file} is not a mapping:`,
      ...parsed.problems.values().map((problem) => `  ${problem}`),
    ].join('\n'),
  );
}
