import { createHash, randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import { CommandError } from '../errors.ts';
import { allowOnNodes, distributeAdded } from './cluster/distribute.ts';
import { findMembership, namesWorker } from './cluster/cluster.ts';
import type { Sql, Transaction } from './database.ts';
import { findLockHolders, lockMigrations } from './locks.ts';

const migrationsFolder = new URL('../../migrations/', import.meta.url);

/** What a new database begins with: the whole schema of that version. */
export const firstVersion = '0049_first_version.sql';

/**
 * The release whose databases can still be upgraded: the number of its last migration, and the folder with what
 * takes them to the first version.
 */
const oldest = { release: '1.0.0', version: 45, folder: 'from-1.0.0/' };

/**
 * How long a migration may wait for a table lock. All other statements on that table, including reads,
 * queue behind it, so this is also the longest delay for a request.
 */
const lockTimeoutMilliseconds = 100;
/** Pause between attempts, so that requests run undisturbed most of the time. */
const [minPauseMilliseconds, maxPauseMilliseconds] = [300, 900];
/** Longer than most dumps take. A supervisor restarts the service after it fails. */
const defaultTimeoutMilliseconds = 10 * 60_000;

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly file: URL;
}

export interface MigrateOptions {
  /** Called with a message that names what blocks a migration. */
  readonly onWait?: (text: string) => void;
  /** How long to keep trying to lock the tables of one migration; 10 minutes by default. */
  readonly timeoutMilliseconds?: number;
  /** Overridden only by tests. */
  readonly folder?: URL;
}

/**
 * Brings the schema up to date. Each migration runs in one transaction, under a lock, so that several
 * processes can start at once. If its tables are in use, it is rolled back and retried, so that readers do
 * not queue behind it.
 * @param sql connections that can write; with at least two, it can report what blocks a migration
 * @returns the names of the migrations that were applied
 * @throws CommandError if tables stayed in use until the timeout, if it is a worker of a cluster, or if the database is
 * too old
 */
export async function migrate(sql: Sql, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = migrationsFolder } = options;
  await rejectWorker(sql);
  const applied: string[] = [];
  for (const migration of await listMissing(sql, folder)) {
    const statements = statementsOf(await readScript(migration.file));
    if (await applyWithRetries(sql, migration, statements, options)) applied.push(migration.name);
  }
  return applied;
}

/** Only the coordinator of a cluster has everything, and may change the schema. */
async function rejectWorker(sql: Sql): Promise<void> {
  const membership = await findMembership(sql);
  if (membership !== null && membership.group !== 0) throw new CommandError(namesWorker);
}

/** @returns false if another process applied it in the meantime */
async function applyWithRetries(
  sql: Sql,
  migration: Migration,
  statements: readonly string[],
  { onWait, timeoutMilliseconds = defaultTimeoutMilliseconds }: MigrateOptions,
): Promise<boolean> {
  const end = systemClock.monotonic() + timeoutMilliseconds;
  let holders: string | undefined;
  for (let isFirst = true; ; isFirst = false) {
    const settled = new AbortController();
    let search: Promise<string | undefined> | undefined;
    try {
      return await sql.begin(async (tx) => {
        if (await isApplied(tx, migration)) return false;
        // Most migrations get their locks at once, so look for blockers only from the second attempt.
        if (!isFirst && holders === undefined) {
          const [{ pid } = { pid: 0 }] = await tx<
            { pid: number }[]
          >`select pg_backend_pid() as pid`;
          search = findLockHolders(sql, pid, settled.signal).catch(() => undefined);
        }
        await apply(tx, migration, statements);
        return true;
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      settled.abort();
      const found = await search;
      if (found !== undefined) {
        holders = found;
        onWait?.(
          `Migration ${migration.name} is waiting for a table that is in use by ${found}. Requests are not blocked.`,
        );
      }
      if (!isFirst && systemClock.monotonic() >= end) {
        throw new CommandError(
          `Migration ${migration.name} was not applied: a table that it changes stayed in use by ${holders ?? 'another process'}. Wait for that process or stop it, then migrate again.`,
          { cause: error },
        );
      }
      await sleep(randomInt(minPauseMilliseconds, maxPauseMilliseconds));
    } finally {
      settled.abort();
    }
  }
}

async function isApplied(tx: Transaction, { version }: Migration): Promise<boolean> {
  // Override any limit set for the login. Waiting for another migrating process blocks no readers.
  await tx`set local lock_timeout = 0`;
  await lockMigrations(tx);
  await tx`
    create table if not exists schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null)`;
  const [done] = await tx`select from schema_migrations where version = ${version}`;
  return done !== undefined;
}

async function apply(
  tx: Transaction,
  { version, name }: Migration,
  statements: readonly string[],
): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${lockTimeoutMilliseconds}`);
  await allowOnNodes(tx);
  for (const statement of statements) await tx.script(statement);
  await distributeAdded(tx);
  await tx`
    insert into schema_migrations (version, name, applied_at) values (${version}, ${name}, now())`;
}

/** lock_not_available */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}

/**
 * Names of the migrations that the database lacks, in order.
 * @throws CommandError if the database is too old for them
 */
export async function listMissingMigrations(sql: Sql): Promise<string[]> {
  return (await listMissing(sql, migrationsFolder)).map(({ name }) => name);
}

/** Changes with every change of the schema. */
export async function digestOfMigrations(): Promise<string> {
  const hash = createHash('sha256');
  for (const { file } of await listMigrations(migrationsFolder)) {
    hash.update(await readScript(file));
  }
  return hash.digest('hex');
}

async function listMissing(sql: Sql, folder: URL): Promise<Migration[]> {
  const [table] = await sql<{ exists: boolean }[]>`
    select to_regclass('schema_migrations') is not null as exists`;
  const done = table?.exists
    ? await sql<{ version: number }[]>`select version from schema_migrations`
    : [];
  const versions = new Set(done.map((row) => row.version));
  const isMissing = ({ version }: Migration) => !versions.has(version);
  const all = await listMigrations(folder);
  const first = versionOf(firstVersion);
  if (versions.size === 0 || versions.has(first)) return all.filter(isMissing);
  // It began with the first version of a later release.
  if (Math.max(...versions) > first) return [];
  if (!versions.has(oldest.version)) {
    throw new CommandError(
      `The database is older than version ${oldest.release} of the service: start that version on it first, then this one.`,
    );
  }
  const steps = await listMigrations(new URL(oldest.folder, folder));
  return [...steps, ...all.filter(({ version }) => version > first)].filter(isMissing);
}

async function listMigrations(folder: URL): Promise<Migration[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => /^\d{4}_.*\.sql$/.test(name))
    .toSorted()
    .map((name) => ({ version: versionOf(name), name, file: new URL(name, folder) }));
}

function versionOf(name: string): number {
  return Number(name.slice(0, 4));
}

/** What may contain a semicolon that ends no statement: texts, quoted names, and comments. */
const opaque = [
  /'(?:[^']|'')*'/,
  /"[^"]*"/,
  /--[^\n]*/,
  /\/\*[^]*?\*\//,
  /(?<tag>\$\w*\$)[^]*?\k<tag>/,
];
const token = new RegExp(`${opaque.map(({ source }) => source).join('|')}|;|[^]`, 'g');

/**
 * The statements of a script. Sent one by one, because a cluster sends on the whole text that it received,
 * and its nodes take one statement at a time.
 */
export function statementsOf(script: string): string[] {
  const statements: string[] = [];
  let current: string[] = [];
  for (const [text] of script.matchAll(token)) {
    if (text === ';') {
      statements.push(current.join(''));
      current = [];
    } else if (!text.startsWith('--') && !text.startsWith('/*')) current.push(text);
  }
  statements.push(current.join(''));
  return statements.map((each) => each.trim()).filter((each) => each !== '');
}

/** The text of a script, with those that it includes in place of its lines `\ir FILE`, as psql reads it. */
export async function readScript(file: URL): Promise<string> {
  const text = await readFile(file, 'utf8');
  const parts = text.split(/^\\ir (\S+)$/m);
  const read = (part: string, index: number) =>
    index % 2 === 0 ? part : readScript(new URL(part, file));
  return (await Promise.all(parts.map(read))).join('');
}
