import { readFile } from 'node:fs/promises';
import { UsageError } from '../errors.ts';
import { isObject } from '../json.ts';
import type { Credentials, Platform } from './platform.ts';

const shopField = {
  expected: 'the number of a shop',
  isUnique: true,
  fits: (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 1,
};

/**
 * Reads the shops from the platform's credentials file.
 * @throws UsageError that lists all problems, without any value from a field that may be a secret
 */
export async function readCredentials(
  { settings, credentialFields }: Platform,
  file: string,
): Promise<readonly Credentials[]> {
  const unusable = (problems: readonly string[]) =>
    new UsageError(
      `${settings.credentialsFile}, ${file}, is not usable:\n${problems.map((each) => `  ${each}`).join('\n')}`,
    );
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unusable([
      error.code === 'ENOENT' ? 'There is no such file.' : `It cannot be read (${error.code}).`,
    ]);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message would quote the file.
    throw unusable(['It is not JSON.']);
  }
  const shops = isObject(value) ? value['shops'] : undefined;
  if (!Array.isArray(shops) || shops.length === 0) {
    throw unusable(['It must be {"shops":[…]} with at least one shop.']);
  }
  const fields = { shop: shopField, ...credentialFields };
  const problems = shops.flatMap((each: unknown, index) =>
    problemsOf(each, `shops[${index}]`, fields),
  );
  if (problems.length > 0) throw unusable(problems);
  const repeated = Object.entries(fields).flatMap(([name, { isUnique }]) => {
    if (!isUnique) return [];
    const values = shops.map((each: Credentials) => each[name]);
    const duplicates = new Set(values.filter((each, index) => values.indexOf(each) !== index));
    return [...duplicates].map((each) => `${name} ${String(each)} appears more than once.`);
  });
  if (repeated.length > 0) throw unusable(repeated);
  return shops as Credentials[];
}

function problemsOf(entry: unknown, place: string, fields: Platform['credentialFields']): string[] {
  const names = Object.keys(fields);
  const required = Object.entries(fields).filter(([, { fits }]) => !fits(undefined));
  if (!isObject(entry)) {
    return [`${place} must be an object with ${listed(required.map(([name]) => name))}.`];
  }
  const wrong = Object.entries(fields)
    .filter(([name, { fits }]) => !fits(entry[name]))
    .map(([name, { expected }]) => `${place}.${name} must be ${expected}.`);
  const unknown = Object.keys(entry)
    .filter((name) => !names.includes(name))
    // Not quoted: a misplaced token could be a field's name.
    .map(() => `${place} has an unknown field; the known ones are ${names.join(', ')}.`);
  return [...wrong, ...new Set(unknown)];
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names);
}
