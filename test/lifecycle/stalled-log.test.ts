import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { executable, launch, throwawayFolder } from '../cli/process.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { preload } from './preload.ts';

/** More lines of the log than a pipe holds. */
const requests = 1_500;

async function sendMany(baseUrl: string): Promise<void> {
  for (let each = 0; each < requests; each += 50) {
    const sent = Array.from({ length: 50 }, () => fetch(`${baseUrl}/healthz`));
    for (const { status } of await Promise.all(sent)) assert.equal(status, 200);
  }
}

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('a log that cannot be written', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  before(async () => {
    database = await requirePostgres(['fsync=off']);
  });
  after(() => database.destroy());

  /** Serves with standard error redirected; standard output tells the address. */
  async function serveLoggingTo(target: string, env: Readonly<Record<string, string>> = {}) {
    const server = launch(['serve'], {
      env: { DATABASE_URL: database.url, PORT: '0', LOG_LEVEL: 'info', ...env },
      through: ['sh', '-c', `exec "$0" "$@" 2>"${target}"`, executable],
    });
    const [, baseUrl = ''] = await server.said(/listens on (\S+)\n/);
    return { ...server, baseUrl };
  }

  /** A pipe whose reader reads nothing. */
  function stalledPipe(): { readonly fifo: string; close(): void } {
    const fifo = path.join(throwawayFolder(), 'log');
    execFileSync('mkfifo', [fifo]);
    const reader = openSync(fifo, constants.O_RDWR);
    return { fifo, close: () => closeSync(reader) };
  }

  test('because its reader has stalled does not keep the service from answering and stopping', async (t) => {
    const { fifo, close } = stalledPipe();
    t.after(close);
    const server = await serveLoggingTo(fifo);
    await sendMany(server.baseUrl);
    server.child.kill('SIGTERM');
    const { code, signal } = await server.ended;
    assert.deepEqual([code, signal], [0, null]);
  });

  test('because its reader has stalled does not keep an uncaught error from ending the process', async (t) => {
    const { fifo, close } = stalledPipe();
    t.after(close);
    const broken = preload(`process.on('SIGUSR2', () => { throw new Error('broken'); });`);
    const server = await serveLoggingTo(fifo, broken);
    await sendMany(server.baseUrl);
    server.child.kill('SIGUSR2');
    const { code, signal } = await server.ended;
    assert.deepEqual([code, signal], [1, null]);
  });

  const full = '/dev/full';
  const noDevice = !existsSync(full) && 'this system has no /dev/full';
  test('because its disk is full loses only log lines', { skip: noDevice }, async () => {
    const server = await serveLoggingTo(full);
    await sendMany(server.baseUrl);
    server.child.kill('SIGTERM');
    const { code, signal } = await server.ended;
    assert.deepEqual([code, signal], [0, null]);
  });

  test('because its reader has exited loses only log lines', async () => {
    const { fifo, close } = stalledPipe();
    const server = await serveLoggingTo(fifo);
    close();
    await sendMany(server.baseUrl);
    await until(async () => (await fetch(`${server.baseUrl}/readyz`)).status === 200);
    server.child.kill('SIGTERM');
    const { code, signal } = await server.ended;
    assert.deepEqual([code, signal], [0, null]);
  });
});
