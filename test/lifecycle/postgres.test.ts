import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { openClient } from '../support/client.ts';
import { launch, launchServer, runProcess } from '../cli/process.ts';
import { type PostgresServer, findPostgresPrograms } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { startServedDatabase } from './served-database.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('serving from a PostgreSQL server', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  let env: Record<string, string>;
  let key = '';

  before(async () => {
    ({ database, env, key } = await startServedDatabase({ LOG_LEVEL: 'error' }, 'read:metrics'));
  });
  after(() => database.destroy());

  async function send(url: string) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    return { status: response.status, body: await response.json() };
  }

  // Requirements: rest.errors.500.
  test('survives the loss of its database, reports it, and reconnects by itself', async () => {
    const server = await launchServer('serve', env);
    const plans = `${server.baseUrl}/api/external/v1/plans`;
    assert.deepEqual(await send(plans), { status: 200, body: { plans: [] } });

    for (const how of ['crash', 'stop'] as const) {
      const inFlight = Array.from({ length: 5 }, () => send(plans));
      await database.stop(how);
      for (const { status } of await Promise.all(inFlight))
        assert.ok(status === 200 || status === 500);

      // The key's record may still be trusted for a moment, but plans are not cached. Enough requests that
      // they must not each wait for a connection attempt, a quarter of a second apart.
      const failed = await Promise.all(Array.from({ length: 300 }, () => send(plans)));
      const failure = { success: false, message: 'Internal server error.' };
      for (const each of failed) assert.deepEqual(each, { status: 500, body: failure });
      const message = 'Not ready: the database does not answer.';
      const unready = { status: 503, body: { success: false, message } };
      assert.deepEqual(await send(`${server.baseUrl}/readyz`), unready);
      assert.equal((await send(`${server.baseUrl}/healthz`)).status, 200);

      await database.start();
      await until(
        () => send(plans),
        ({ status }) => status === 200,
      );
      await until(
        () => send(`${server.baseUrl}/readyz`),
        ({ status }) => status === 200,
      );
    }
    assert.equal(server.child.exitCode, null);
    server.child.kill('SIGTERM');
    const { code, err } = await server.ended;
    assert.equal(code, 0, err);
    assert.match(err, /"msg":"request failed"/);
    assert.doesNotMatch(err, /rtn_[\w-]/);
  });

  /** A server with requests that wait for the test's lock, on connections that it has accepted. */
  async function withWaitingRequests(count: number) {
    const server = await launchServer('serve', env);
    const sql = openClient(database.url, 2);
    const agent = new Agent({ keepAlive: true });
    const held = await sql.reserve();
    await held`begin`;
    await held`lock table plans in access exclusive mode`;
    const requests = Array.from({ length: count }, () =>
      get(`${server.baseUrl}/api/external/v1/plans`, {
        agent,
        headers: { authorization: `Bearer ${key}` },
      }),
    );
    const answers = requests.map(async (request) => {
      const [response] = await once(request, 'response');
      response.resume();
      return response.statusCode;
    });
    // The tests check answers later; until then a rejection must not count as unhandled.
    for (const answer of answers) answer.catch(() => {});
    await Promise.all(requests.map((request) => once(request, 'finish')));
    // Everything sent before this has been read.
    await send(`${server.baseUrl}/healthz`);
    await until(
      () => sql`select from pg_locks where not granted`,
      ({ length }) => length > 0,
    );
    const release = async () => {
      await held`rollback`;
      held.release();
      await sql.end();
    };
    return { server, answers, release };
  }

  // Of two pending signals of one kind, only one would arrive.
  for (const signals of [['SIGTERM'], ['SIGINT', 'SIGTERM']] as const) {
    test(`${signals.join(', ')} at once: requests in flight are answered, new ones are not accepted`, async () => {
      const { server, answers, release } = await withWaitingRequests(20);
      for (const signal of signals) server.child.kill(signal);
      await until(
        () => send(`${server.baseUrl}/healthz`).catch(() => undefined),
        (answer) => answer === undefined,
      );
      await release();
      assert.deepEqual(
        await Promise.all(answers),
        Array.from({ length: 20 }, () => 200),
      );
      const { code, signal } = await server.ended;
      assert.deepEqual([code, signal], [0, null]);
    });
  }

  test('a second signal, of either kind, ends it at once', async () => {
    const { server, answers, release } = await withWaitingRequests(1);
    server.child.kill('SIGTERM');
    // Repeated until it counts as a second signal; a single one may come too early.
    const again = setInterval(() => server.child.kill('SIGINT'), 100);
    const { code, signal } = await server.ended;
    clearInterval(again);
    assert.deepEqual([code, signal], [null, 'SIGINT']);
    await assert.rejects(answers[0] as Promise<unknown>);
    await release();
  });

  test('names a host that this machine does not have', async () => {
    const { code, out, err } = await runProcess(['serve'], {
      env: { ...env, HOST: '192.0.2.1', PORT: '0' },
    });
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^retention: Cannot listen on 192\.0\.2\.1:0: .*\. Choose another HOST/);
  });

  test('does not start without its database, and explains why', async () => {
    await database.stop();
    const { ended } = launch(['serve'], { env: { ...env, PORT: '0' } });
    const { code, out, err } = await ended;
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^retention: DATABASE_URL: PostgreSQL at .*ECONNREFUSED.*\n$/);
  });
});
