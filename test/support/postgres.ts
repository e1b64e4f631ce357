import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from './client.ts';

export interface PostgresServer {
  /** Address of the server's first database. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Creates another database and returns its address. */
  createDatabase(name: string): Promise<string>;
  start(): Promise<void>;
  /** `crash` kills every process of the server with -9; `stop` waits for a clean shutdown. */
  stop(how?: 'stop' | 'crash'): Promise<void>;
  /** Copies the data of the stopped server; returns the folder, which is deleted with the server. */
  saveData(): string;
  /** Suspends every process of the server until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Starts a hot standby that streams from it. */
  startReplica(): Promise<PostgresServer>;
  /** Stops it and removes its files. */
  destroy(): Promise<void>;
}

/** Only ends a start that hangs. */
const startTimeoutMilliseconds = 180_000;

/** The folder of PostgreSQL's programs, the newest version first; undefined if not installed. */
export function findPostgresPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a))
    : [];
  const folders = [
    ...versions.map((version) => path.join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(path.delimiter),
  ];
  return folders.find((folder) =>
    ['postgres', 'initdb'].every((name) => existsSync(path.join(folder, name))),
  );
}

interface PostgresOptions {
  /** An empty cluster with its own system identifier, instead of a copy of the migrated one. */
  readonly isNew?: boolean;
  /** Keeps the server's data here, and begins with what an earlier one has left. Ctrl-C does not reach the server. */
  readonly folder?: string | undefined;
}

/** The same as startPostgres, for tests that are skipped without PostgreSQL. */
export async function requirePostgres(
  ...options: Parameters<typeof startPostgres>
): Promise<PostgresServer> {
  const server = await startPostgres(...options);
  if (!server) throw new Error('PostgreSQL is not installed.');
  return server;
}

/**
 * Starts a separate PostgreSQL server on a free port; its database is migrated.
 * @param settings server settings, such as fsync=off
 * @returns undefined if PostgreSQL is not installed
 */
export async function startPostgres(
  settings: readonly string[] = [],
  { isNew = false, folder }: PostgresOptions = {},
): Promise<PostgresServer | undefined> {
  const programs = findPostgresPrograms();
  if (programs === undefined) return undefined;

  const saved = isNew ? undefined : process.env['TEST_POSTGRES_FOLDER'];
  const prepare: Prepare = (data, run) =>
    saved === undefined
      ? run(
          path.join(programs, 'initdb'),
          `-D ${data} -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync`,
        )
      : run('cp', `-Rp ${saved} ${data}`);
  return startIn(programs, settings, prepare, folder);
}

/** Creates the server's data folder. */
type Prepare = (data: string, run: (program: string, args: string) => void) => void;

/** @param kept a folder that is not deleted; by default, a new one that is */
async function startIn(
  programs: string,
  settings: readonly string[],
  prepare: Prepare,
  kept?: string,
): Promise<PostgresServer> {
  if (kept !== undefined) mkdirSync(kept, { recursive: true });
  const folder = kept ?? mkdtempSync(path.join(tmpdir(), 'retention-postgres-'));
  const data = path.join(folder, 'data');
  const remove = () => {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  // The server refuses to run as root.
  const owner = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const runAsOwner = (program: string, args: string) => {
    execFileSync(program, args.split(' '), { ...owner, stdio: 'ignore', cwd: folder });
  };
  try {
    if (!existsSync(data)) prepare(data, runAsOwner);
    // A process that was killed has left its server.
    else if (existsSync(path.join(data, 'postmaster.pid'))) {
      runAsOwner(path.join(programs, 'pg_ctl'), `stop -D ${data} -m immediate`);
    }
  } catch (error) {
    remove();
    throw error;
  }

  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  const start = async () => {
    const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
    // A standby on a busy machine may need WAL that a checkpoint would have removed.
    args.push('-c', 'wal_keep_size=1GB');
    const started = spawn(
      path.join(programs, 'postgres'),
      [...args, ...settings.flatMap((setting) => ['-c', setting])],
      { ...owner, stdio: 'ignore', cwd: folder, detached: kept !== undefined },
    );
    server = started;
    await untilReady(url, () => started.exitCode);
  };
  const stop = async (how: 'stop' | 'crash' = 'stop') => {
    const running = server;
    server = undefined;
    if (!running?.pid || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    if (how === 'crash') signalFamily(running.pid, 'SIGKILL');
    else running.kill('SIGINT');
    await ended;
  };
  const killOnExit = () => {
    if (server?.pid) signalFamily(server.pid, 'SIGKILL');
    remove();
  };
  process.once('exit', killOnExit);

  await start();
  return {
    url,
    port,
    get pid() {
      return server?.pid ?? 0;
    },
    async createDatabase(name) {
      const sql = openClient(url);
      await sql.unsafe(`create database ${name}`);
      await sql.end();
      return url.replace(/postgres$/, name);
    },
    start,
    stop,
    saveData() {
      const copy = path.join(folder, 'saved');
      execFileSync('cp', ['-Rp', data, copy], owner);
      return copy;
    },
    freeze: () => void (server?.pid && signalFamily(server.pid, 'SIGSTOP')),
    thaw: () => void (server?.pid && signalFamily(server.pid, 'SIGCONT')),
    startReplica: () =>
      startIn(
        programs,
        [...settings, 'hot_standby=on', 'wal_retrieve_retry_interval=200ms'],
        (copy, run) =>
          run(
            path.join(programs, 'pg_basebackup'),
            `-d ${url} -D ${copy} --write-recovery-conf --checkpoint=fast --no-sync`,
          ),
      ),
    async destroy() {
      await stop();
      process.removeListener('exit', killOnExit);
      remove();
    },
  };
}

function signalFamily(pid: number, signal: NodeJS.Signals): void {
  // It fails if there are none.
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  for (const id of [pid, ...stdout.split(/\s+/).filter(Boolean).map(Number)]) {
    try {
      process.kill(id, signal);
    } catch {
      // It has exited in the meantime.
    }
  }
}

async function untilReady(url: string, exitCode: () => number | null): Promise<void> {
  const sql = openClient(url);
  try {
    const end = Date.now() + startTimeoutMilliseconds;
    for (;;) {
      try {
        await sql`select 1`;
        return;
      } catch (error) {
        if (exitCode() !== null || Date.now() > end) throw error;
        await sleep(50);
      }
    }
  } finally {
    await sql.end(1);
  }
}

/** Where to look for the next port; concurrent processes start at different points. */
let nextPort = 10_000 + ((process.pid * 16) % 20_000);

/**
 * A port that is free and that no one else is given before or while it is used: systems assign ports from
 * 32768 on, to listeners and to outgoing connections.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort;
    nextPort += 1;
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
}
