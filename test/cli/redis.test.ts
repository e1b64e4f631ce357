import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type RedisServer, redisMissing, startRedis } from '../support/redis.ts';
import { launchServer, migratedFolder, run, runProcess, runningFolder } from './process.ts';
import { requirePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = redisMissing || (DATABASE_URL === '' && 'PostgreSQL is not available on this machine');

describe('the command line with Redis', { skip, timeout: 600_000 }, () => {
  let redis: RedisServer;

  before(async () => {
    redis = await startRedis('sesame');
  });
  after(() => redis.destroy());

  const warning =
    'Each instance counts requests separately, so with several, a key gets its full limit on each. Set REDIS_URL to share one count.';
  const warningsIn = (err: string) =>
    err
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .filter(({ level, msg }) => level === 'warn' && msg === warning)
      .map(({ msg }) => msg);

  test('serve starts even if Redis refuses it, stops cleanly, and hides the password', async () => {
    const wrong = redis.url.replace('sesame', 'open-sesame');
    for (const [url, state] of [
      [redis.url, 'up'],
      [wrong, 'down'],
    ] as const) {
      const env = { DATABASE_URL, REDIS_URL: url };
      const server = await launchServer('serve', env);
      const expected = { status: 'ready', database: 'up', redis: state };
      await until(
        async () => (await fetch(`${server.baseUrl}/readyz`)).json(),
        (ready) => isDeepStrictEqual(ready, expected),
      );
      server.child.kill('SIGTERM');
      const { code, err } = await server.ended;
      assert.equal(code, 0, err);
      assert.match(err, state === 'up' ? /Redis answers/ : /WRONGPASS.*Redis does not answer/);
      assert.doesNotMatch(err, /sesame/);
      assert.deepEqual(warningsIn(err), []);
    }
  });

  test('serve and doctor warn without Redis that each instance counts requests by itself', async (t) => {
    const warningsOf = async (env: Record<string, string>) => {
      const server = await launchServer('serve', env);
      await until(async () => (await fetch(`${server.baseUrl}/readyz`)).ok);
      server.child.kill('SIGTERM');
      const { code, err } = await server.ended;
      assert.equal(code, 0, err);
      return warningsIn(err);
    };
    assert.deepEqual(await warningsOf({ DATABASE_URL }), [warning]);
    assert.deepEqual(await warningsOf({ RETENTION_DATA_DIR: migratedFolder() }), []);

    const own = await requirePostgres(['fsync=off']);
    t.after(() => own.destroy());
    const shown = await run(['doctor'], { env: { DATABASE_URL: own.url } });
    assert.equal(shown.code, 0, shown.out);
    assert.ok(shown.out.includes(`warn  limits: ${warning}\n`), shown.out);
    const { code, out } = await run(['doctor', '--json'], { env: { DATABASE_URL: own.url } });
    assert.equal(code, 0, out);
    assert.deepEqual(JSON.parse(out).findings.at(-1), {
      check: 'limits',
      ok: true,
      warning: true,
      detail: warning,
    });
    const alone = { RETENTION_DATA_DIR: runningFolder() };
    for (const env of [{ DATABASE_URL, REDIS_URL: redis.url }, alone]) {
      assert.doesNotMatch((await run(['doctor'], { env })).out, /warn +limits/);
    }
  });

  test('serve disconnects from Redis and exits if it cannot listen', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    assert.ok(typeof address === 'object' && address);
    const { code, err } = await runProcess(['serve'], {
      env: {
        REDIS_URL: redis.url,
        DATABASE_URL,
        LOG_LEVEL: 'error',
        PORT: '0',
        METRICS_PORT: String(address.port),
      },
    });
    assert.equal(code, 1);
    assert.match(err, /^retention: .* is already in use by another process.* METRICS_PORT\./);
    taken.close();
  });

  test('doctor shows the Redis version, or why Redis cannot be used, and hides the password', async () => {
    const examine = async (url: string) => {
      const env = { RETENTION_DATA_DIR: runningFolder(), REDIS_URL: url };
      const { code, out, err } = await run(['doctor', '--json'], { env });
      assert.doesNotMatch(out + err, /sesame/);
      const { ok, configuration, findings } = JSON.parse(out);
      return { code, ok, address: configuration.redisUrl, redis: findings.at(-1) };
    };
    const healthy = await examine(redis.url);
    assert.deepEqual(
      [healthy.code, healthy.ok, healthy.redis.check, healthy.redis.ok],
      [0, true, 'redis', true],
    );
    assert.match(healthy.redis.detail, /^(Redis|Valkey) \d+\.\d+\.\d+$/);
    assert.equal(healthy.address, `redis://:redacted@127.0.0.1:${redis.port}`);

    const refused = await examine(redis.url.replace('sesame', 'open-sesame'));
    assert.deepEqual([refused.code, refused.ok, refused.redis.ok], [1, false, false]);
    assert.match(refused.redis.detail, /^WRONGPASS/);
    const unreachable = await examine('redis://:sesame@127.0.0.1:1');
    assert.deepEqual(unreachable.redis, {
      check: 'redis',
      ok: false,
      detail: 'connect ECONNREFUSED 127.0.0.1:1',
    });
  });
});
