import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from './postgres.ts';
import { until } from './until.ts';

export interface RedisServer {
  readonly port: number;
  /** Its address, with the password if it has one. */
  readonly url: string;
  start(): Promise<void>;
  /** kill -9: its data is lost. */
  kill(): Promise<void>;
  /** Suspends it; its connections stay open. */
  freeze(): void;
  thaw(): void;
  /** Stops it and removes its files. */
  destroy(): Promise<void>;
}

/** Why tests that need Redis are skipped; false if it is available. */
export const redisMissing: false | string =
  findRedisServer() === undefined && 'Redis is not available on this machine';

/** The path of the server program of Redis or Valkey; undefined if not installed. */
function findRedisServer(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .flatMap((folder) => ['redis-server', 'valkey-server'].map((name) => path.join(folder, name)))
    .find((program) => existsSync(program));
}

/**
 * Starts a separate server on a free port, without persistence.
 * @param further settings in the format of the server's command line
 */
export async function startRedis(
  password?: string,
  further: readonly string[] = [],
): Promise<RedisServer> {
  const program = findRedisServer();
  if (program === undefined) throw new Error('Redis is not installed.');
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-redis-'));
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  settings.push('--save', '', '--appendonly', 'no', ...further);
  if (password !== undefined) settings.push('--requirepass', password);
  let server: ChildProcess | undefined;

  const start = async () => {
    const started = spawn(program, settings, { stdio: 'ignore' });
    server = started;
    await until(() => {
      if (started.exitCode !== null) throw new Error(`Redis ended with ${started.exitCode}.`);
      return isListening(port);
    });
  };
  const kill = async () => {
    const running = server;
    server = undefined;
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  };
  const killOnExit = () => void server?.kill('SIGKILL');
  process.once('exit', killOnExit);

  await start();
  const credentials = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
  return {
    port,
    url: `redis://${credentials}127.0.0.1:${port}`,
    start,
    kill,
    freeze: () => void server?.kill('SIGSTOP'),
    thaw: () => void server?.kill('SIGCONT'),
    async destroy() {
      await kill();
      process.removeListener('exit', killOnExit);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
