import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { launch, launchServer, type Running, throwawayFolder } from '../cli/process.ts';
import { type PostgresServer, findPostgresPrograms } from '../support/postgres.ts';
import { onServer } from '../support/replication.ts';
import { until } from '../support/until.ts';
import { startServedDatabase } from './served-database.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const secrets = /rtn_[A-Za-z0-9]|sesame/;

/** Preloaded: fails in the way that FAULT names when it gets the signal. */
const faults = path.join(throwawayFolder(), 'faults.mjs');
writeFileSync(
  faults,
  `const broken = () => new Error('broken with rtn_${'a'.repeat(43)}', {
    cause: new Error('the cause, of postgres://u:sesame@h/d'),
  });
  const ways = {
    exception: () => { throw broken(); },
    rejection: () => { Promise.reject(broken()); },
    'no error': () => { throw null; },
    again: () => {
      setInterval(() => { throw new Error('broken again'); }, 1);
      process.on('exit', () => { throw new Error('broken at the end'); });
      throw broken();
    },
    'without end': () => {
      const next = () => { process.nextTick(next); throw new Error('broken again'); };
      process.nextTick(next);
      throw broken();
    },
  };
  process.on('SIGUSR2', () => setTimeout(ways[process.env.FAULT], 1));`,
);
const faultyEnv = (fault: string) => ({ NODE_OPTIONS: `--import=file://${faults}`, FAULT: fault });

describe('an uncaught error', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  let env: Record<string, string>;
  let key = '';

  before(async () => {
    ({ database, env, key } = await startServedDatabase());
  });
  after(() => database.destroy());

  const countRequests = async () => {
    const [row] = await onServer<{ count: number }>(
      database.url,
      'select coalesce(sum(requests), 0)::int as count from request_counts',
    );
    return row?.count ?? 0;
  };

  /** Uses the key so that some usage is not stored yet. */
  async function useKey(baseUrl: string): Promise<void> {
    for (let each = 0; each < 3; each += 1) {
      const response = await fetch(`${baseUrl}/api/external/v1/plans`, {
        headers: { authorization: `Bearer ${key}` },
      });
      assert.equal(response.status, 200);
    }
  }

  interface Line {
    readonly level: string;
    readonly msg: string;
    readonly err: { readonly message: string; readonly stack: string };
  }

  /** All lines of a process that has exited must be JSON. */
  async function uncaughtOf({ ended }: Running): Promise<Line> {
    const { code, signal, err } = await ended;
    assert.deepEqual([code, signal], [1, null], err);
    assert.doesNotMatch(err, secrets);
    const lines = err.trimEnd().split('\n');
    const found = lines
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => msg === 'uncaught error; the process ends');
    assert.equal(found.length, 1, err);
    return found[0] as Line;
  }

  for (const fault of ['rejection', 'again', 'without end']) {
    test(`(${fault}) logs one line with its cause, and key usage is stored`, async () => {
      const server = await launchServer('serve', { ...env, ...faultyEnv(fault) });
      const stored = await countRequests();
      await useKey(server.baseUrl);
      server.child.kill('SIGUSR2');
      const { level, err } = await uncaughtOf(server);
      assert.equal(level, 'error');
      assert.match(err.message, /^broken with rtn_\[redacted\]: the cause, of postgres:/);
      assert.match(err.stack, /faults\.mjs.*\ncaused by: Error: the cause/s);
      // If the event loop is blocked, nothing can be stored.
      if (fault !== 'without end') assert.equal(await countRequests(), stored + 3);
    });
  }

  test('may be a value that is not an Error', async () => {
    const server = await launchServer('serve', { ...env, ...faultyEnv('no error') });
    server.child.kill('SIGUSR2');
    const { err } = await uncaughtOf(server);
    assert.equal(err.message, 'null was thrown, which is not an error.');
  });

  test('ends the process even if the database is frozen', async (t) => {
    const server = await launchServer('serve', { ...env, ...faultyEnv('exception') });
    await useKey(server.baseUrl);
    t.after(() => database.thaw());
    database.freeze();
    server.child.kill('SIGUSR2');
    await uncaughtOf(server);
  });

  describe('with several workers', () => {
    async function launchWorkers() {
      const tree = launch(['serve', '--workers', '2'], {
        env: { ...env, ...faultyEnv('exception'), REDIS_URL: 'redis://127.0.0.1:1', PORT: '0' },
      });
      const [, baseUrl = ''] = await tree.said(/listens on (\S+)\n/);
      const stored = await countRequests();
      await useKey(baseUrl);
      return { ...tree, baseUrl, stored };
    }

    test('ends one worker, which is replaced', async () => {
      const tree = await launchWorkers();
      const [, pid] = await tree.logged(/"pid":(\d+).*"msg":"listening"/);
      process.kill(Number(pid), 'SIGUSR2');
      await tree.logged(/uncaught error.*worker died; starting another.*"listening"/s);
      tree.child.kill('SIGTERM');
      const { code, err } = await tree.ended;
      assert.equal(code, 0, err);
      assert.equal(err.match(/uncaught error; the process ends/g)?.length, 1);
      assert.equal(await countRequests(), tree.stored + 3);
    });

    test('ends all workers if the supervisor fails; they store key usage', async () => {
      const tree = await launchWorkers();
      tree.child.kill('SIGUSR2');
      await uncaughtOf(tree);
      await until(countRequests, (count) => count === tree.stored + 3);
      await assert.rejects(fetch(tree.baseUrl));
    });
  });
});

test('explains an uncaught error in a command', async (t) => {
  // The command connects to this port and waits.
  const silent = createServer().listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  const command = launch(['shops', 'list'], {
    env: { ...faultyEnv('exception'), DATABASE_URL: `postgres://u@127.0.0.1:${port}/d` },
  });
  const sockets = new Set<{ destroy(): void }>();
  silent.on('connection', (socket) => {
    if (sockets.size === 0) command.child.kill('SIGUSR2');
    sockets.add(socket.on('error', () => {}));
  });
  const { code, out, err } = await command.ended;
  for (const socket of sockets) socket.destroy();
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^retention: Error: broken with rtn_\[redacted\]\n/);
  assert.match(err, /\nCaused by: Error: the cause, of postgres:\/\/u:\[redacted\]@h\/d\n/);
  assert.equal(err.match(/^retention:/gm)?.length, 1);
});
