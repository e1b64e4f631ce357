import { setTimeout as sleep } from 'node:timers/promises';
import type { ParseArgsOptionsConfig } from 'node:util';
import type { Config } from '../config/config.ts';
import { CommandError, UsageError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { platforms } from '../platforms/registry.ts';
import { migrate } from '../store/migrate.ts';
import { type Store, openStore } from '../store/open.ts';
import { visible } from '../log/visible.ts';

export const exitStatus = { done: 0, failed: 1, wrongUsage: 2, someRefused: 3 } as const;

export interface CommandContext {
  readonly config: Config;
  readonly log: Log;
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export interface Command {
  /** One or two words, as typed after `retention`. */
  readonly name: string;
  /** The arguments, as shown in the help. */
  readonly synopsis: string;
  readonly summary: string;
  readonly options: ParseArgsOptionsConfig;
  /** Further lines of help. */
  readonly details?: readonly string[];
  /** How many positional arguments it takes; none by default. */
  readonly positionals?: readonly [min: number, max: number];
  /** The values that there are for an option (`--tier`) or for an argument, by its place from 1 on: shells complete them. */
  readonly values?: Readonly<Record<string, readonly string[]>>;
  run(context: CommandContext): Promise<number>;
}

/** Whether writing failed because the reader closed our output (EPIPE). */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/** Prints a result for people. Standard output holds only results. */
export function print(text: string): void {
  process.stdout.write(`${visibleLines(text)}\n`);
}

/** Failures of standard output that a command deals with itself. */
const expected = new WeakSet<Error>();

/** Whether nothing deals with a failure of standard output. A command finishes even if its reader is gone (EPIPE). */
export function isUnexpected(error: Error): boolean {
  return !isReaderGone(error) && !expected.has(error);
}

/**
 * Prints a secret, which is shown only once, and waits until it is written.
 * @throws CommandError if it cannot be
 */
export async function printSecret(text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<Error | null | undefined>();
  process.stdout.write(`${text}\n`, (error) => {
    if (error) expected.add(error);
    resolve(error);
  });
  const error = await promise;
  if (!error) return;
  throw new CommandError(
    `Standard output cannot be written, so the secret would be lost, and nothing was changed: ${error.message}.`,
    { cause: error },
  );
}

/** Prints a notice or an error to standard error. */
export function tell(text: string): void {
  process.stderr.write(`${visibleLines(text)}\n`);
}

/** Prints a result for programs, with all characters as they are. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Prints what a command did: with --json as a document, otherwise as a sentence. */
export function printDone({ options }: CommandContext, document: object, sentence: string): void {
  if (options['json']) printJson(document);
  else print(sentence);
}

function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

const reasonTimeoutMilliseconds = 1_000;

/** Opens the store, migrates its schema, runs the work, and always closes the store. */
export async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({
    ...config,
    role: 'command',
    onWait: () =>
      tell('Other commands still use the database that this one opened. It exits after them.'),
  });
  try {
    const running = migrate(store.write, { onWait: tell })
      .then(() => work(store))
      .catch(async (error: unknown) => {
        // A connection may fail before the store reports why the embedded database stopped.
        if (config.databaseUrl === undefined && isConnectionError(error)) {
          await Promise.race([store.failed, sleep(reasonTimeoutMilliseconds)]);
        }
        throw error;
      });
    return await Promise.race([running, rejectWhenLost(store)]);
  } finally {
    await store.close();
  }
}

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('CONNECTION_');
}

/** Reports the reason; statements in progress only see that their connection was closed. */
async function rejectWhenLost(store: Store): Promise<never> {
  const reason = await store.failed;
  throw new CommandError(`The embedded database stopped: ${reason.message}`, { cause: reason });
}

interface Warning {
  readonly check: string;
  readonly detail: string;
}

/** Settings that work, but probably not as intended. */
export function listWarnings(config: Config): Warning[] {
  const { databaseUrl, redisUrl, baseUrl, trustedProxies } = config;
  const warnings: Warning[] = [];
  if (databaseUrl !== undefined && redisUrl === undefined) {
    warnings.push({
      check: 'limits',
      detail:
        'Each instance counts requests separately, so with several, a key gets its full limit on each. Set REDIS_URL to share one count.',
    });
  }
  // A number, even 0, is a deliberate choice.
  const namesNoProxy = typeof trustedProxies !== 'number' && trustedProxies.length === 0;
  if (baseUrl?.startsWith('https:') && namesNoProxy) {
    warnings.push({
      check: 'proxies',
      detail:
        'BASE_URL is https, so there is a proxy in front, and all clients count as one address. Set TRUSTED_PROXIES to tell them apart.',
    });
  }
  const registered = platforms.find(({ name }) => config.platforms[name]?.clientId !== undefined);
  if (registered && !baseUrl?.startsWith('https:')) {
    const { settings, title } = registered;
    warnings.push({
      check: 'public address',
      detail: `${settings.clientId} is set, but BASE_URL is not an https address: ${title} sends owners who connect their shop back to it, and webhooks only to https. Set BASE_URL to the public address.`,
    });
  }
  return warnings;
}

/** The options that a command cannot do without: those outside of brackets in its synopsis. `--KIND` stands for several. */
function requiredOptions({ synopsis }: Command): string[] {
  let outside = synopsis;
  while (outside.includes('[')) outside = outside.replace(/\[[^[\]]*\]/g, '');
  return [...outside.matchAll(/--([a-z][\w-]*)/g)].map(([, name = '']) => name);
}

/** @throws UsageError that names all options that are missing or blank */
export function checkOptions(command: Command, options: CommandContext['options']): void {
  const missing = requiredOptions(command)
    .filter((name) => isBlank(options[name]))
    .map((name) => `--${name}`);
  if (missing.length === 0) return;
  const names = new Intl.ListFormat('en-GB').format(missing);
  throw new UsageError(`${names} ${missing.length === 1 ? 'is' : 'are'} missing.`);
}

function isBlank(value: string | boolean | undefined): value is boolean | undefined {
  return typeof value !== 'string' || value.trim() === '';
}

/** @throws UsageError if the option is missing or blank */
export function requiredOption(context: CommandContext, name: string): string {
  const value = context.options[name];
  if (isBlank(value)) throw new UsageError(`--${name} is missing.`);
  return value.trim();
}

/**
 * Parses an id from the command line.
 * @param what names it in the error
 */
export function parseId(text: string, what: string): number {
  const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
  if (id < 1 || !Number.isSafeInteger(id)) {
    throw new UsageError(`${what} must be an integer from 1 to 9007199254740991, not "${text}".`);
  }
  return id;
}

/** Formats rows under headings, in aligned columns. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const all = [headings, ...rows.map((row) => row.map(visible))];
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
