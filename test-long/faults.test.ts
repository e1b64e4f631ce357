import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Running, launch, runProcess } from '../test/cli/process.ts';
import {
  type PostgresServer,
  findPostgresPrograms,
  freePort,
  startPostgres,
} from '../test/support/postgres.ts';
import { type RedisServer, redisMissing, startRedis } from '../test/support/redis.ts';
import { countConnections, onServer } from '../test/support/replication.ts';
import { until } from '../test/support/until.ts';
import { type Target, type Traffic, startTraffic } from '../test/support/traffic.ts';

const skip =
  (findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine') ||
  redisMissing;

/** The service's timeout for a silent database, plus ample time for a busy machine. */
const maxMilliseconds = 60_000;

/** An instance in a separate process, which keeps its port across restarts. */
interface Instance extends Target {
  process: Running;
}

describe(
  'two instances on a database with a standby and Redis, under load',
  { skip, timeout: 600_000 },
  () => {
    let primary: PostgresServer;
    let standby: PostgresServer;
    let redis: RedisServer;
    let env: Record<string, string>;
    let instances: readonly [Instance, Instance];
    let traffic: Traffic;

    before(async () => {
      const started = await startPostgres(['fsync=off']);
      assert.ok(started);
      primary = started;
      redis = await startRedis();
      env = { DATABASE_URL: primary.url, LOG_LEVEL: 'warn' };
      const keys: string[] = [];
      for (const [shop, tier] of [
        ['1', 'enterprise_plus'],
        ['2', 'growth'],
      ] as const) {
        const create = ['--id', shop, '--name', 'x', '--currency', 'USD', '--tier', tier];
        assert.equal((await runProcess(['shops', 'create', ...create], { env })).code, 0);
        const records = await runProcess([
          'demo-data',
          '--subscriptions',
          '40',
          '--until',
          '2025-01-01T00:00:00Z',
        ]);
        const { code, err } = await runProcess(['import', '--shop', shop, '-'], {
          env,
          input: records.out,
        });
        assert.equal(code, 0, err);
        const scopes = 'read:entitlements,read:subscriptions,read:metrics,read:plans';
        for (let each = 0; each < (shop === '1' ? 8 : 1); each += 1) {
          const key = await runProcess(
            ['keys', 'create', '--shop', shop, '--name', 'k', '--scopes', scopes],
            { env },
          );
          keys.push(key.out.trimEnd());
        }
      }
      standby = await primary.startReplica();
      env['DATABASE_READ_URL'] = standby.url;
      env['REDIS_URL'] = redis.url;
      instances = [await startInstance('one'), await startInstance('two')];
      await untilReady(/in use/);
      traffic = await startTraffic(instances, keys, 16);
    });
    after(async () => {
      await traffic?.end();
      for (const { process } of instances ?? []) process.child.kill('SIGKILL');
      await redis?.destroy();
      await standby?.destroy();
      await primary?.destroy();
    });

    async function startInstance(name: string): Promise<Instance> {
      const port = await freePort();
      const instance = { name, baseUrl: `http://127.0.0.1:${port}`, state: 'down' as const };
      return Object.assign(instance, { process: await restart(port), state: 'up' as const });
    }

    async function restart(port: number): Promise<Running> {
      const process = launch(['serve'], { env: { ...env, PORT: String(port) } });
      await process.said(/listens on/);
      return process;
    }

    const readiness = async ({ baseUrl }: Target) => (await fetch(`${baseUrl}/readyz`)).text();
    /** Waits until `/readyz` of every instance matches. */
    const untilReady = (pattern: RegExp) =>
      until(async () =>
        (await Promise.all(instances.map(readiness))).every((text) => pattern.test(text)),
      );

    /** Results of the requests sent since then. */
    const resultsSince = (begin: number) =>
      traffic.outcomes.filter((each) => each.begin >= begin).map(({ ending }) => ending);
    /** Waits for this many right responses to requests sent since then; none may have failed. */
    async function untilAnswers(begin: number, count: number): Promise<void> {
      await until(() => resultsSince(begin).filter((ending) => ending === 'right').length >= count);
      assert.ok(!resultsSince(begin).includes('failed'), 'some failed');
    }

    /** Waits until everything works, and keeps working for hundreds of requests. */
    async function recovered(): Promise<void> {
      await untilReady(/in use/);
      await until(() => traffic.outcomes.slice(-200).every(({ ending }) => ending !== 'failed'));
      await untilAnswers(performance.now(), 200);
    }

    /** Checks that no client has seen a wrong response or waited too long. */
    function assertNoClientErrors(): void {
      assert.deepEqual(traffic.wrong.slice(0, 3), []);
      const longest = Math.max(...traffic.outcomes.map(({ milliseconds }) => milliseconds));
      assert.ok(longest < maxMilliseconds, `one waited ${longest} ms`);
    }

    // Requirements: rest.errors.500.
    test('a database crash causes only reported failures, and the service recovers', async () => {
      const begin = performance.now();
      await primary.stop('crash');
      await until(() => resultsSince(begin).includes('failed'));
      await primary.start();
      await recovered();
      assertNoClientErrors();
    });

    test('a Redis crash fails no request', async () => {
      const begin = performance.now();
      await redis.kill();
      await untilReady(/"redis":"down"/);
      await untilAnswers(begin, 100);
      await redis.start();
      await untilReady(/"redis":"up"/);
      await untilAnswers(begin, 200);
      assertNoClientErrors();
    });

    test('the primary answers for a crashed standby', async () => {
      const begin = performance.now();
      await standby.stop('crash');
      await untilReady(/left out/);
      await untilAnswers(begin, 100);
      await standby.start();
      await untilReady(/in use/);
      await untilAnswers(begin, 200);
      assertNoClientErrors();
    });

    test('the other instance continues when one is killed', async () => {
      const [one] = instances;
      const begin = performance.now();
      one.state = 'down';
      one.process.child.kill('SIGKILL');
      await one.process.ended;
      await untilAnswers(begin, 100);
      one.process = await restart(Number(new URL(one.baseUrl).port));
      one.state = 'up';
      await untilAnswers(performance.now(), 100);
      assertNoClientErrors();
    });

    test('stopping an instance loses no request', async () => {
      const [, two] = instances;
      const begin = performance.now();
      two.process.child.kill('SIGTERM');
      assert.equal((await two.process.ended).code, 0);
      assert.equal(two.state, 'leaving');
      await untilAnswers(begin, 100);
      two.process = await restart(Number(new URL(two.baseUrl).port));
      two.state = 'up';
      await untilAnswers(performance.now(), 100);
      assertNoClientErrors();
    });

    test('50 rounds of terminated connections leak none', async () => {
      const total = async () => {
        const counts = [await countConnections(primary.url), await countConnections(standby.url)];
        return counts.flatMap((each) => Object.values(each)).reduce((sum, count) => sum + count, 0);
      };
      await recovered();
      // Connections for writes, and for reads from the primary, are opened as needed.
      const allowed = (await total()) + 2 * (4 + 5);
      for (let round = 0; round < 50; round += 1) {
        for (const { url } of [primary, standby]) {
          await onServer(
            url,
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'retention %' and application_name <> 'retention test'`,
          );
        }
        await sleep(20);
      }
      await recovered();
      const left = await total();
      assert.ok(left <= allowed, `${left} connections, at most ${allowed} before`);
      assertNoClientErrors();
    });
  },
);
