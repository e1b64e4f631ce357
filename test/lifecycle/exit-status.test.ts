import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { executable, launch, root, run, runProcess, throwawayFolder } from '../cli/process.ts';
import { type PostgresServer, findPostgresPrograms } from '../support/postgres.ts';
import { lingering, preload } from './preload.ts';
import { startServedDatabase } from './served-database.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

/** Runs a program that imports parts of the service by names below src/. */
function runProgram(source: string) {
  const file = path.join(throwawayFolder(), 'program.ts');
  writeFileSync(file, source.replaceAll("'src/", `'${root}/src/`));
  return runProcess([], { through: [process.execPath, file] });
}

describe('a command that fails', { skip, timeout: 600_000 }, () => {
  const taken = createServer();
  let database: PostgresServer;
  let env: Record<string, string>;
  let reason = '';

  before(async () => {
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    reason = `retention: 127.0.0.1:${port} is already in use by another process. Choose another PORT.\n`;
    ({ database, env } = await startServedDatabase({
      PORT: String(port),
      REDIS_URL: 'redis://127.0.0.1:1',
      LOG_LEVEL: 'silent',
    }));
  });
  after(async () => {
    taken.close();
    await database.destroy();
  });

  test('exits with 1 and the reason, whatever it leaves open', async () => {
    const { code, out, err } = await runProcess(['serve'], { env: { ...env, ...lingering } });
    assert.deepEqual([code, out, err], [1, '', reason]);
  });

  test('exits with 1 and the reason if its workers fail to start, whatever they leave open', async () => {
    const args = ['serve', '--workers', '2'];
    const { code, out, err } = await runProcess(args, { env: { ...env, ...lingering } });
    assert.deepEqual([code, out], [1, '']);
    assert.ok(err.includes(reason), err);
    assert.match(err, /^retention: A worker exited before it was ready\.$/m);
  });

  const redirected = (redirection: string): { through: [string, ...string[]] } => ({
    through: ['sh', '-c', `exec "$0" "$@" ${redirection}`, executable],
  });

  test('exits with 1 and the reason if standard output is closed', async () => {
    const closed = await runProcess(['serve'], { env, ...redirected('>&-') });
    assert.deepEqual([closed.code, closed.err], [1, reason]);

    const piped = launch(['serve'], { env });
    piped.child.stdout?.destroy();
    const { code, err } = await piped.ended;
    assert.deepEqual([code, err], [1, reason]);
  });

  test('exits with 1 if the reason cannot be written', async () => {
    const piped = launch(['serve'], { env });
    piped.child.stderr?.destroy();
    assert.equal((await piped.ended).code, 1);
    // A command that starts sooner; its own status where Node.js replaces the closed output.
    const unusable = { DATABASE_URL: 'none' };
    const list = (to: string) =>
      runProcess(['shops', 'list'], { env: unusable, ...redirected(to) });
    assert.equal((await list('2>&-')).code, 2);
    if (!existsSync('/dev/full')) return;
    assert.equal((await list('2>/dev/full')).code, 2);
    const shop = ['--id=7', '--name=Shop', '--currency=EUR'];
    assert.equal((await run(['shops', 'create', ...shop], { env })).code, 0);
    const refused = await runProcess(['import', '--shop=7', '-'], {
      env,
      input: '{"type":"plan"}\n',
      cwd: throwawayFolder(),
      ...redirected('2>/dev/full'),
    });
    assert.equal(refused.code, 3);
    assert.match(refused.out, /^plan +0 .* 1$/m);
  });

  test('ends by the signal that comes while it starts', async (t) => {
    // It accepts connections and never answers, so the start takes as long as the test.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { child, ended } = launch(['serve'], {
      env: { ...env, PORT: '0', DATABASE_URL: `postgres://u@127.0.0.1:${port}/d` },
    });
    const [socket] = await once(silent, 'connection');
    t.after(() => {
      socket.destroy();
      silent.close();
    });
    socket.on('error', () => {});
    child.kill('SIGTERM');
    const { code, signal } = await ended;
    assert.deepEqual([code, signal], [null, 'SIGTERM']);
  });

  test('exits with 1 if a worker crashes while it stops', async () => {
    const crashing = preload(
      `import cluster from 'node:cluster';
      if (cluster.isWorker) process.on('SIGTERM', () => process.abort());`,
    );
    const { child, ended, said } = launch(['serve', '--workers', '2'], {
      env: { ...env, PORT: '0', LOG_LEVEL: 'error', ...crashing },
    });
    await said(/listens on/);
    child.kill('SIGTERM');
    const { code, err } = await ended;
    assert.equal(code, 1);
    assert.match(err, /"signal":"SIGABRT","msg":"worker failed while stopping"/);
  });
});

test('an uncaught error decides the status of a command that ends meanwhile', async () => {
  const { code, err } = await runProgram(`
    import { endCommand, setLastResort } from 'src/commands/serve/last-resort.ts';
    const saved = Promise.withResolvers();
    setLastResort({
      report: (error) => console.error(error.message),
      // The command ends while the error is dealt with, and its own end comes first.
      save: () => saved.promise,
      flush: async () => {},
    });
    process.on('exit', () => console.error('exit'));
    setTimeout(() => { throw new Error('broken'); });
    setTimeout(() => endCommand(0), 10);
    setTimeout(saved.resolve, 600);`);
  assert.deepEqual([code, err], [1, 'broken\nexit\n']);
});

test('an uncaught error after a command has ended decides the status', async () => {
  const { code, err } = await runProgram(`
    import { endCommand, setLastResort } from 'src/commands/serve/last-resort.ts';
    const flushed = Promise.withResolvers();
    setLastResort({
      report: (error) => console.error(error.message),
      save: () => flushed.promise,
      flush: async () => {
        // The first call is that of the end.
        setTimeout(() => { throw new Error('broken'); });
        await new Promise((resolve) => setTimeout(resolve, 20));
        setTimeout(flushed.resolve, 100);
      },
    });
    setInterval(() => {}, 1_000);
    endCommand(0);`);
  assert.deepEqual([code, err], [1, 'broken\n']);
});

test('a command that does not stop in time says why it failed', async () => {
  const { code, err } = await runProgram(`
    import { StopDeadline } from 'src/commands/serve/stop-deadline.ts';
    import { CommandError } from 'src/errors.ts';
    import { createLog } from 'src/log/log.ts';
    const deadline = new StopDeadline(0.01, createLog('silent'));
    deadline.failure = new CommandError('The embedded database stopped: disk full');
    setInterval(() => {}, 1_000);`);
  assert.deepEqual([code, err], [1, 'retention: The embedded database stopped: disk full\n']);
});

test('an uncaught error is explained where the log is silent', async () => {
  const { code, err } = await runProgram(`
    import { logLastResort, setLastResort } from 'src/commands/serve/last-resort.ts';
    import { createLog } from 'src/log/log.ts';
    setLastResort(logLastResort(createLog('silent')));
    setTimeout(() => { throw new Error('broken'); });`);
  assert.equal(code, 1);
  assert.match(err, /^retention: Error: broken\n/);
});
