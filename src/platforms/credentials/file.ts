import { readFile, stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { CommandError, UsageError } from '../../errors.ts';
import { isObject } from '../../json.ts';
import type { Log } from '../../log/log.ts';
import type { CredentialField, Platform, CredentialSource, Credentials } from '../platform.ts';

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
  { settings, credentialFields, credentialKinds = [] }: Platform,
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
  const found = shops.map((each: unknown, index) =>
    problemsOf(each, `shops[${index}]`, fields, credentialKinds),
  );
  const problems = (await Promise.all(found)).flat();
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

/**
 * Checks an entry as it is in a credentials file.
 * @param name what it is called in the problems
 * @throws UsageError that lists all problems, without any value from a field that may be a secret
 */
export async function checkEntry(
  { credentialFields, credentialKinds = [] }: Platform,
  entry: unknown,
  name: string,
): Promise<Credentials> {
  const fields = { shop: shopField, ...credentialFields };
  const problems = await problemsOf(entry, name, fields, credentialKinds);
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return entry as Credentials;
}

async function problemsOf(
  entry: unknown,
  place: string,
  fields: Readonly<Record<string, CredentialField>>,
  kinds: readonly (readonly string[])[],
): Promise<string[]> {
  const names = Object.keys(fields);
  const required = Object.entries(fields).filter(([, { fits }]) => !fits(undefined));
  const choice = kinds.map(listed).join(', or ');
  if (!isObject(entry)) {
    const needed = required.map(([name]) => name);
    const fixed = choice === '' ? listed(needed) : `${needed.join(', ')} and ${choice}`;
    return [`${place} must be an object with ${fixed}.`];
  }
  const wrong = Object.entries(fields)
    .filter(([name, { fits }]) => !fits(entry[name]))
    .map(([name, { expected }]) =>
      entry[name] === undefined
        ? `${place} lacks ${name}, which must be ${expected}.`
        : `${place}.${name} must be ${expected}.`,
    );
  const inside = Object.entries(fields).map(async ([name, { fits, problemsOf: within }]) => {
    const value = entry[name];
    const found = within && fits(value) ? await within(value) : [];
    return found.map((problem) => `${place}.${name}${problem}.`);
  });
  const given = kinds.flat().filter((name) => entry[name] !== undefined);
  const isOfOneKind =
    kinds.length === 0 || kinds.some((kind) => isDeepStrictEqual(new Set(kind), new Set(given)));
  const unknown = Object.keys(entry)
    .filter((name) => !names.includes(name))
    // Not quoted: a misplaced token could be a field's name.
    .map(() => `${place} has an unknown field; the known ones are ${names.join(', ')}.`);
  return [
    ...wrong,
    ...(await Promise.all(inside)).flat(),
    ...(isOfOneKind ? [] : [`${place} must have either ${choice}.`]),
    ...new Set(unknown),
  ];
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names);
}

/** The shops of a platform's credentials file, read again whenever the file changes. */
export class CredentialsFile {
  readonly #platform: Platform;
  readonly #path: string;
  readonly #log: Log;
  #entries: readonly Credentials[] = [];
  /** Of the file as it was read last. */
  #state: string | undefined;

  private constructor(platform: Platform, path: string, log: Log) {
    this.#platform = platform;
    this.#path = path;
    this.#log = log;
  }

  /** @throws UsageError if the file is not usable */
  static async open(platform: Platform, path: string, log: Log): Promise<CredentialsFile> {
    const file = new CredentialsFile(platform, path, log);
    const state = await file.#stat();
    file.#entries = await readCredentials(platform, path);
    file.#state = state;
    return file;
  }

  /** Keeps the entries that it has while the file is not usable, and says why in the log, once per change. */
  async entries(): Promise<readonly Credentials[]> {
    const state = await this.#stat();
    if (state === this.#state) return this.#entries;
    this.#state = state;
    try {
      this.#entries = await readCredentials(this.#platform, this.#path);
      this.#log.info({ file: this.#path }, 'credentials file read again');
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      this.#log.error(
        { reason: error.message },
        'credentials file not usable; keeping what it had',
      );
    }
    return this.#entries;
  }

  /** Replacing a file, editing it, and mounting another one all change it. */
  async #stat(): Promise<string> {
    const found = await stat(this.#path).catch(() => undefined);
    return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : 'none';
  }
}

/** The credentials of a shop in a credentials file, which the service never writes. */
export function credentialsInFile(file: CredentialsFile, shopId: number): CredentialSource {
  const read = async () => {
    const entry = (await file.entries()).find(({ shop }) => shop === shopId);
    if (entry) return entry;
    throw new CommandError(`Shop ${shopId} is no longer in the credentials file.`);
  };
  // Nothing in a file ends: a field for it does not exist.
  return { read, renew: read };
}
