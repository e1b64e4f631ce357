import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Running, launch, run } from '../test/cli/process.ts';
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
  (findPostgresPrograms() === undefined && 'PostgreSQL could not be had on this machine') ||
  redisMissing;

/** The service's patience with a database that says nothing, and much for a busy machine. */
const longestMilliseconds = 60_000;

/** An instance in a process of its own, on a port that it keeps. */
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
        assert.equal((await run(['shops', 'create', ...create], { env })).code, 0);
        const records = await run([
          'demo-data',
          '--subscriptions',
          '40',
          '--until',
          '2025-01-01T00:00:00Z',
        ]);
        const { code, err } = await run(['import', '--shop', shop, '-'], {
          env,
          input: records.out,
        });
        assert.equal(code, 0, err);
        const scopes = 'read:entitlements,read:subscriptions,read:metrics,read:plans';
        for (let each = 0; each < (shop === '1' ? 8 : 1); each += 1) {
          const key = await run(
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
    /** Waits until every instance says that of itself. */
    const untilReady = (pattern: RegExp) =>
      until(async () =>
        (await Promise.all(instances.map(readiness))).every((text) => pattern.test(text)),
      );

    /** Endings of the requests that began since then. */
    const endingsSince = (begin: number) =>
      traffic.outcomes.filter((each) => each.begin >= begin).map(({ ending }) => ending);
    /** Waits until so many have been answered that began since then, and none of them failed. */
    async function answersSince(begin: number, count: number): Promise<void> {
      await until(() => endingsSince(begin).filter((ending) => ending === 'right').length >= count);
      assert.ok(!endingsSince(begin).includes('failed'), 'some failed');
    }

    /** Waits until all is well, and stays so for hundreds of requests. */
    async function recovered(): Promise<void> {
      await untilReady(/in use/);
      await until(() => traffic.outcomes.slice(-200).every(({ ending }) => ending !== 'failed'));
      await answersSince(performance.now(), 200);
    }

    /** Nothing that no client may see was seen so far. */
    function nothingWrong(): void {
      assert.deepEqual(traffic.wrong.slice(0, 3), []);
      const longest = Math.max(...traffic.outcomes.map(({ milliseconds }) => milliseconds));
      assert.ok(longest < longestMilliseconds, `one waited ${longest} ms`);
    }

    test('[rest.errors.500] the database dies and returns: failures are admitted meanwhile, nothing is wrong, all is well soon', async () => {
      const begin = performance.now();
      await primary.stop('crash');
      await until(() => endingsSince(begin).includes('failed'));
      await primary.start();
      await recovered();
      nothingWrong();
    });

    test('Redis dies and returns: everybody is answered as before', async () => {
      const begin = performance.now();
      await redis.kill();
      await untilReady(/"redis":"down"/);
      await answersSince(begin, 100);
      await redis.start();
      await untilReady(/"redis":"up"/);
      await answersSince(begin, 200);
      nothingWrong();
    });

    test('the standby dies and returns: its requests are answered by the primary', async () => {
      const begin = performance.now();
      await standby.stop('crash');
      await untilReady(/left out/);
      await answersSince(begin, 100);
      await standby.start();
      await untilReady(/in use/);
      await answersSince(begin, 200);
      nothingWrong();
    });

    test('an instance is killed, the other goes on; it comes back', async () => {
      const [one] = instances;
      const begin = performance.now();
      one.state = 'down';
      one.process.child.kill('SIGKILL');
      await one.process.ended;
      await answersSince(begin, 100);
      one.process = await restart(Number(new URL(one.baseUrl).port));
      one.state = 'up';
      await answersSince(performance.now(), 100);
      nothingWrong();
    });

    test('an instance is stopped: no request is lost, the other takes over; it comes back', async () => {
      const [, two] = instances;
      const begin = performance.now();
      two.process.child.kill('SIGTERM');
      assert.equal((await two.process.ended).code, 0);
      assert.equal(two.state, 'leaving');
      await answersSince(begin, 100);
      two.process = await restart(Number(new URL(two.baseUrl).port));
      two.state = 'up';
      await answersSince(performance.now(), 100);
      nothingWrong();
    });

    test('after 50 rounds of lost connections there are no more of them than before', async () => {
      const total = async () => {
        const counts = [await countConnections(primary.url), await countConnections(standby.url)];
        return counts.flatMap((each) => Object.values(each)).reduce((sum, count) => sum + count, 0);
      };
      await recovered();
      // Those for writes are opened as they are needed, and those for reading from the primary.
      const most = (await total()) + 2 * (4 + 5);
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
      assert.ok(left <= most, `${left} connections, at most ${most} before`);
      nothingWrong();
    });
  },
);
