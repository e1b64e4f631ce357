import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { type TestContext, after, getTestContext } from 'node:test';
import { main } from '../../src/commands/main.ts';
import { withEnvFile } from '../../src/config/env-file.ts';
import { createLog } from '../../src/log/log.ts';

export const root = path.join(import.meta.dirname, '..', '..');
export const executable = path.join(root, 'bin', 'retention');

/** The first start of a demo takes several seconds, and ten times as long on a busy machine. */
const maxMinutes = 3;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves with the match once standard output has it; rejects if the process ends first, or after three minutes. */
  said(pattern: RegExp): Promise<RegExpMatchArray>;
  /** The same for standard error. */
  logged(pattern: RegExp): Promise<RegExpMatchArray>;
}

export interface RunOptions {
  /** The whole environment, apart from what every program needs. */
  readonly env?: Readonly<Record<string, string>>;
  /** An empty folder by default, so that a developer's .env is not read. */
  readonly cwd?: string;
  readonly input?: string;
  /** The program and its leading arguments; bin/retention by default. */
  readonly through?: readonly [string, ...string[]];
  readonly uid?: number;
}

/**
 * Starts the command line in a child process, which is killed when the test that started it ends; if none did, when the
 * test file ends.
 */
export function launch(args: readonly string[], options: RunOptions = {}): Running {
  const [program, ...before] = options.through ?? [executable];
  // Another user may not be able to read what the tests' options name.
  const isShortLived =
    options.env?.['RETENTION_DATA_DIR'] !== undefined &&
    options.env['NODE_OPTIONS'] === undefined &&
    options.uid === undefined;
  const settings: SpawnOptions = {
    cwd: options.cwd ?? (elsewhere ??= throwawayFolder()),
    env: {
      PATH: process.env['PATH'],
      TMPDIR: tmpdir(),
      // The preload is for embedded databases, and has a cache of its own (global-setup.ts).
      ...(isShortLived
        ? {
            NODE_OPTIONS: process.env['NODE_OPTIONS'],
            NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          }
        : { NODE_COMPILE_CACHE: path.join(root, 'node_modules', '.cache', 'compile') }),
      ...options.env,
    },
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  };
  const child = spawn(program, [...before, ...args], settings);
  running.add(child);
  child.stdin?.on('error', () => {
    // It exited without reading all of its input.
  });
  child.stdin?.end(options.input ?? '');

  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, out, err });
    });
  });
  const matched = (stream: 'stdout' | 'stderr', pattern: RegExp) =>
    new Promise<RegExpMatchArray>((resolve, reject) => {
      const fail = (what: string) =>
        reject(new Error(`${args.join(' ')} ${what} without ${pattern}:\n${out}${err}`));
      const timer = setTimeout(() => fail(`ran ${maxMinutes} minutes`), maxMinutes * 60_000);
      const look = () => {
        const match = (stream === 'stdout' ? out : err).match(pattern);
        if (!match) return;
        clearTimeout(timer);
        resolve(match);
      };
      look();
      child[stream]?.on('data', look);
      child.on('close', (code) => {
        clearTimeout(timer);
        fail(`ended (${code})`);
      });
    });
  // Otherwise a test that fails would leave the port, the data folder or the jobs to a process that it forgot.
  testOf(getTestContext())?.after(async () => {
    if (!running.has(child)) return;
    end(child);
    await ended.catch(() => {});
  });
  const said = (pattern: RegExp) => matched('stdout', pattern);
  const logged = (pattern: RegExp) => matched('stderr', pattern);
  return { child, ended, said, logged };
}

/** Runs the command line in a process of its own until it exits. */
export function runProcess(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return launch(args, options).ended;
}

interface Done {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

type RunHere = Pick<RunOptions, 'env' | 'cwd' | 'input'> & {
  /** Asks it to stop at once. */
  readonly signal?: NodeJS.Signals;
};

/**
 * Runs the command line in this process. What is about the process itself, such as signals, needs `runProcess`.
 * Without `cwd`, there is no .env.
 */
export function run(args: readonly string[], options: RunHere = {}): Promise<Done> {
  return begin(args, options).ended;
}

/** The same, with what was printed so far. */
export function begin(
  args: readonly string[],
  { env = {}, cwd, input = '', signal }: RunHere = {},
) {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const io = {
    stdin: Readable.from([Buffer.from(input)]),
    stdout,
    stderr,
    environment: () => (cwd === undefined ? env : withEnvFile({ ...env })),
    openLog: (level: string) => createLog(level, stderr),
    stopSignal: () => (signal ? Promise.resolve(signal) : new Promise<never>(() => {})),
    giveWay() {},
  };
  const exit = cwd === undefined ? main(args, io) : inFolder(cwd, () => main(args, io));
  const ended = exit.then((code) => ({ code, out: stdout.text, err: stderr.text }));
  return { ended, printed: () => stdout.text };
}

class Collected extends Writable {
  text = '';

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

let folderIsFree: Promise<unknown> = Promise.resolve();

/** Commands that need a folder take turns, because a process has one current folder. */
function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const turn = folderIsFree.then(async () => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      return await work();
    } finally {
      process.chdir(before);
    }
  });
  folderIsFree = turn.catch(() => {});
  return turn;
}

/** Starts `serve` or `demo` on a free port, and resolves with its address once it listens. */
export async function launchServer(
  command: 'serve' | 'demo',
  env: Readonly<Record<string, string>>,
  ...options: readonly string[]
) {
  const server = launch([command, ...options], { env: { PORT: '0', ...env } });
  const [, baseUrl = ''] = await server.said(/listens on (\S+)\n/);
  return { ...server, baseUrl };
}

/** An id that no other test uses. */
export function newShopId(): string {
  return String(randomInt(1, 2 ** 47));
}

/** A folder that is removed when the test file ends. */
export function throwawayFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-cli-test-'));
  folders.add(folder);
  return folder;
}

let elsewhere: string | undefined;

/** A data folder whose database has only the schema, copied because migrating takes seconds. */
export function migratedFolder(): string {
  const folder = path.join(throwawayFolder(), 'data');
  cpSync(process.env['TEST_EMBEDDED_FOLDER'] as string, folder, { recursive: true });
  return folder;
}

/** The data folder of a database that runs for all tests, so that commands need not start one. */
export function runningFolder(): string {
  return process.env['TEST_EMBEDDED_DATA'] as string;
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();
// They would keep the test file from ending.
after(() => running.forEach(end));

function end(child: ChildProcess): void {
  child.kill('SIGKILL');
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Undefined outside of tests, also in the hooks of a suite. */
function testOf(context: ReturnType<typeof getTestContext>): TestContext | undefined {
  return context && 'after' in context ? context : undefined;
}

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
