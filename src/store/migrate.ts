import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { systemClock } from '../clock.ts';
import { CommandError } from '../errors.ts';
import type { Sql, Transaction } from './database.ts';
import { findLockHolders } from './lock-holders.ts';

const ownFolder = new URL('../../migrations/', import.meta.url);

/** Any number; the same in every version, so that all migrating processes wait for each other. */
const lockId = 7_370_110_274;

/**
 * How long a migration may wait for a table. Whatever asks for the table meanwhile waits behind it,
 * readers included, so this is what a request may be delayed by.
 */
const lockTimeoutMilliseconds = 100;
/** Between two attempts, so that requests are served for most of the time. */
const [minPauseMilliseconds, maxPauseMilliseconds] = [300, 900];
/** Longer than most dumps take. What starts the service starts it again when it has ended. */
const defaultPatienceMilliseconds = 10 * 60_000;

interface Migration {
  readonly version: number;
  readonly name: string;
}

export interface MigrateOptions {
  /** Told, once per migration, who holds it up. */
  readonly onWait?: (text: string) => void;
  /** How long to try for the tables of one migration; 10 minutes by default. */
  readonly patienceMilliseconds?: number;
  /** Only tests have other migrations than those there are. */
  readonly folder?: URL;
}

/**
 * Brings the schema up to date: each migration in one transaction, under a lock, so that several
 * processes may start at once. A migration whose tables are in use is rolled back at once and tried
 * again, so that no reader waits behind it.
 * @param sql connections that can write; with two or more it can tell who holds a migration up
 * @returns the names of the migrations that were applied now
 * @throws CommandError when tables were in use for all of the time that it may take
 */
export async function migrate(sql: Sql, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = ownFolder } = options;
  const applied: string[] = [];
  for (const name of await listMissingMigrations(sql, folder)) {
    const migration = { version: versionOf(name), name };
    const text = await readFile(new URL(name, folder), 'utf8');
    if (await applyPatiently(sql, migration, text, options)) applied.push(name);
  }
  return applied;
}

/** @returns false where another process has applied it meanwhile */
async function applyPatiently(
  sql: Sql,
  migration: Migration,
  text: string,
  { onWait, patienceMilliseconds = defaultPatienceMilliseconds }: MigrateOptions,
): Promise<boolean> {
  const end = systemClock.monotonic() + patienceMilliseconds;
  let holders: string | undefined;
  for (let isFirst = true; ; isFirst = false) {
    const settled = new AbortController();
    let search: Promise<string | undefined> | undefined;
    try {
      return await sql.begin(async (tx) => {
        if (await isApplied(tx, migration)) return false;
        // Most migrations get their locks at once, so only a second attempt looks for the holders.
        if (!isFirst && holders === undefined) {
          const [{ pid } = { pid: 0 }] = await tx<
            { pid: number }[]
          >`select pg_backend_pid() as pid`;
          search = findLockHolders(sql, pid, settled.signal).catch(() => undefined);
        }
        await apply(tx, migration, text);
        return true;
      });
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      settled.abort();
      const found = await search;
      if (found !== undefined) {
        holders = found;
        onWait?.(
          `Migration ${migration.name} waits for a table that is in use by ${found}. Requests are not held up.`,
        );
      }
      if (!isFirst && systemClock.monotonic() >= end) {
        throw new CommandError(
          `Migration ${migration.name} was not applied: a table that it changes was in use all the time, by ${holders ?? 'another process'}. Wait until that has ended, or end it, and migrate again.`,
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
  // A login may have a limit of its own; waiting for another process that migrates holds up no reader.
  await tx`set local lock_timeout = 0`;
  await lockMigrations(tx);
  await tx`
    create table if not exists schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null)`;
  const [done] = await tx`select from schema_migrations where version = ${version}`;
  return done !== undefined;
}

async function apply(tx: Transaction, { version, name }: Migration, text: string): Promise<void> {
  await tx.unsafe(`set local lock_timeout = ${lockTimeoutMilliseconds}`);
  await tx.script(text);
  await tx`
    insert into schema_migrations (version, name, applied_at) values (${version}, ${name}, now())`;
}

/** The server's own code for a lock that was not available in time. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}

/** Holds every process that changes the schema or who may use it, until the transaction ends. */
export async function lockMigrations(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockId})`;
}

/** Names of the migrations that this program knows and the database lacks, in their order. */
export async function listMissingMigrations(sql: Sql, folder = ownFolder): Promise<string[]> {
  const [table] = await sql<{ exists: boolean }[]>`
    select to_regclass('schema_migrations') is not null as exists`;
  const done = table?.exists
    ? await sql<{ version: number }[]>`select version from schema_migrations`
    : [];
  const versions = new Set(done.map((row) => row.version));
  const names = await readdir(folder);
  return names
    .filter((name) => /^\d{4}_.*\.sql$/.test(name) && !versions.has(versionOf(name)))
    .toSorted();
}

function versionOf(name: string): number {
  return Number(name.slice(0, 4));
}
