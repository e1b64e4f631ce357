import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createRedisClient,
  type RedisClient,
  windowKey,
} from '../../src/access/limiter/rolling-redis-limiter.ts';
import { FixedClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { modernHeaders, modernRequest, postRaw } from '../mcp/wire.ts';
import { bearer } from '../rest/raw.ts';
import { type RedisServer, redisMissing, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import {
  createShop,
  createTestKey,
  get,
  now,
  openAnyStore,
  startTestService,
} from '../support/world.ts';
import type { Tier } from '../../src/vocabulary.ts';

/** For tests that are not about timeouts, since the machine may pause. */
const longTimeout = { redisTimeoutMilliseconds: 30_000 };

interface Instance {
  readonly service: Service;
  /** Its log lines about Redis: the level and, if present, the reason. */
  readonly said: { level: string; reason?: string }[];
}

describe('several instances with one Redis', { skip: redisMissing, timeout: 600_000 }, () => {
  let store: Store;
  let redis: RedisServer;
  let client: RedisClient;
  const started: Service[] = [];

  before(async () => {
    store = openAnyStore();
    redis = await startRedis('sesame');
    client = createRedisClient(redis.url);
    client.on('error', () => {});
    await client.connect();
  });
  after(async () => {
    for (const service of started) await service.close();
    client.destroy();
    await redis.destroy();
    await store.close();
  });

  async function startInstance(options: { redisUrl?: string; redisTimeoutMilliseconds?: number }) {
    const said: Instance['said'] = [];
    const write = (text: string) => {
      for (const line of text.trim().split('\n')) {
        const { level, msg, reason } = JSON.parse(line);
        if (/Redis/.test(msg)) said.push({ level, ...(reason !== undefined && { reason }) });
      }
    };
    const service = await startTestService(store, {
      // The clock stands still, so its local window never expires.
      clock: new FixedClock(now),
      log: createLog('info', { write }),
      redisUrl: redis.url,
      ...options,
    });
    started.push(service);
    return { service, said };
  }

  async function newKey(tier: Tier = 'growth') {
    const shop = await createShop(store, { tier });
    const made = await createTestKey(store, shop.id);
    return { ...made, holder: `${shop.id}/${made.id}` };
  }

  async function sendRest({ service }: Instance, key: string) {
    const { status, headers } = await get(`${service.baseUrl}/api/external/v1/plans`, key);
    return { status, rateLimit: headers.get('ratelimit') };
  }

  async function sendMcp({ service }: Instance, key: string) {
    const message = modernRequest('tools/call', { name: 'list_plans', arguments: {} });
    const lines = [bearer(key), 'content-type: application/json'];
    const { status, headers } = await postRaw(
      service.baseUrl,
      [...lines, ...modernHeaders('tools/call', 'list_plans')],
      JSON.stringify(message),
    );
    return { status, rateLimit: headers['ratelimit'] ?? null };
  }

  /** How many of these requests were admitted; all others must be 429. */
  async function countAdmitted(instance: Instance, key: string, requests: number) {
    let admitted = 0;
    for (let each = 0; each < requests; each += 1) {
      const { status } = await sendRest(instance, key);
      assert.ok(status === 200 || status === 429, `${status}`);
      if (status === 200) admitted += 1;
    }
    return admitted;
  }

  async function redisOf({ service }: Instance) {
    const { body } = await until(
      () => get(`${service.baseUrl}/readyz`),
      ({ status }) => status === 200,
    );
    return body.redis;
  }

  async function untilRedisIs(state: 'up' | 'down', instances: readonly Instance[]) {
    for (const instance of instances) {
      await until(
        () => redisOf(instance),
        (found) => found === state,
      );
    }
  }

  /** An instance that shares limits, without what it said until then: a busy machine may connect late. */
  async function startSharing() {
    const instance = await startInstance(longTimeout);
    await untilRedisIs('up', [instance]);
    instance.said.length = 0;
    return instance;
  }

  // Requirements: rest.limits.growth, mcp.limits.shared.
  test('admits exactly 60 of 600 concurrent requests over two instances and both transports', async () => {
    const instances = [await startSharing(), await startSharing()] as const;
    const { key } = await newKey();
    const waiting = Array.from({ length: 600 }, (_, index) => {
      const instance = instances[index % 2] as Instance;
      return () => (index % 4 < 2 ? sendRest(instance, key) : sendMcp(instance, key));
    });
    const answers: Awaited<ReturnType<typeof sendRest>>[] = [];
    const worker = async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) answers.push(await next());
    };
    await Promise.all(Array.from({ length: 32 }, worker));

    assert.equal(answers.length, 600);
    const admitted = answers.filter(({ status }) => status === 200);
    assert.equal(answers.filter(({ status }) => status === 429).length, 540);
    // Each remaining slot is used once.
    assert.deepEqual(
      admitted
        .map(({ rateLimit }) => Number(rateLimit?.match(/r=(\d+)/)?.[1]))
        .toSorted((a, b) => a - b),
      Array.from({ length: 60 }, (_, left) => left),
    );
    for (const each of instances) {
      assert.deepEqual([each.said, await redisOf(each)], [[], 'up']);
    }
  });

  // Requirements: rest.limits.enterprise-plus.
  test('a tier without a limit never uses Redis', async () => {
    const instance = await startSharing();
    const [uncapped, capped] = [await newKey('enterprise_plus'), await newKey('pro')];
    for (const { key } of [uncapped, capped])
      assert.equal((await sendRest(instance, key)).status, 200);
    const windows = [uncapped, capped].map(({ holder }) => windowKey(holder));
    assert.deepEqual(await client.sendCommand(['EXISTS', windows[0] as string]), 0);
    assert.deepEqual(await client.sendCommand(['EXISTS', windows[1] as string]), 1);
  });

  test('a Redis crash under load fails no request: instances limit alone until it is back', async (t) => {
    const [one, other] = [await startSharing(), await startSharing()];
    const { key } = await newKey();
    const counted = [await countAdmitted(one, key, 40), await countAdmitted(other, key, 30)];
    assert.deepEqual(counted, [40, 20]);

    const { key: busy } = await newKey('pro');
    const load = new AbortController();
    t.after(() => load.abort());
    const loading = [one, other].flatMap((instance) =>
      Array.from({ length: 4 }, async () => {
        while (!load.signal.aborted) await countAdmitted(instance, busy, 1);
      }),
    );
    await redis.kill();
    await untilRedisIs('down', [one, other]);
    // Requests admitted while sharing still count.
    assert.equal(await countAdmitted(one, key, 30), 20);
    assert.equal(await countAdmitted(other, key, 50), 40);

    await redis.start();
    await untilRedisIs('up', [one, other]);
    load.abort();
    await Promise.all(loading);
    const { key: fresh } = await newKey();
    assert.equal(await countAdmitted(one, fresh, 35), 35);
    assert.equal(await countAdmitted(other, fresh, 35), 25);

    for (const { said } of [one, other]) {
      assert.deepEqual(
        said.map(({ level }) => level),
        ['warn', 'info'],
      );
      assert.doesNotMatch(JSON.stringify(said), /sesame/);
    }
  });

  test('treats a Redis that refuses writes, like a replica, as unavailable', async () => {
    const instance = await startSharing();
    const { key } = await newKey();
    const received = async () => {
      const text = await client.sendCommand<string>(['INFO', 'stats']);
      return Number(/total_connections_received:(\d+)/.exec(text)?.[1]);
    };
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    assert.equal(await countAdmitted(instance, key, 70), 60);
    assert.equal(await redisOf(instance), 'down');
    // Several attempts to reconnect, none of which counts as successful. Each uses a new connection, since
    // the address may point to another server by then.
    const connections = await received();
    await until(received, (count) => count >= connections + 3);
    assert.deepEqual(
      instance.said.map(({ level }) => level),
      ['warn'],
    );
    assert.match(instance.said[0]?.reason ?? '', /READONLY/);
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    await untilRedisIs('up', [instance]);
  });

  test('a frozen Redis delays only the first answers, briefly, and is used again when it recovers', async (t) => {
    t.after(() => redis.thaw());
    const instance = await startInstance({});
    await untilRedisIs('up', [instance]);
    const { key } = await newKey('pro');
    assert.equal((await sendRest(instance, key)).status, 200);
    const countCalls = async () => {
      const text = await client.sendCommand<string>(['INFO', 'commandstats']);
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(text)?.[1]);
    };
    const callsBefore = await countCalls();
    redis.freeze();
    // None of these would be answered if it waited for Redis.
    assert.equal(await countAdmitted(instance, key, 100), 100);
    assert.equal(await redisOf(instance), 'down');
    const reason = 'no answer within 100 milliseconds';
    assert.deepEqual(instance.said.at(-1), { level: 'warn', reason }, 'not only the loss of it');
    redis.thaw();
    await untilRedisIs('up', [instance]);
    assert.ok(
      (await countCalls()) - callsBefore < 50,
      'an unavailable Redis is probed only rarely',
    );

    redis.freeze();
    assert.equal(await countAdmitted(instance, key, 10), 10);
    // Long enough for the connection to be replaced by a new one, which is frozen as well.
    await sleep(4_500);
    assert.equal(await countAdmitted(instance, key, 10), 10);
    redis.thaw();
    // Repeat if Redis was unavailable in the meantime, since a busy machine is silent for as long.
    let admitted: number;
    let logged: number;
    do {
      await untilRedisIs('up', [instance]);
      logged = instance.said.length;
      admitted = await countAdmitted(instance, (await newKey()).key, 61);
    } while (instance.said.length > logged);
    assert.equal(admitted, 60);
  });

  const addresses: [what: string, url: () => string, reason: RegExp][] = [
    ['a wrong password', () => redis.url.replace('sesame', 'open-sesame'), /^WRONGPASS/],
    ['no password', () => redis.url.replace(':sesame@', ''), /^NOAUTH/],
    [
      'an address where nothing listens',
      () => 'redis://:sesame@127.0.0.1:1',
      /^connect ECONNREFUSED/,
    ],
  ];
  for (const [what, url, reason] of addresses) {
    test(`with ${what} the service starts, logs it without a password, and limits alone`, async () => {
      const instance = await startInstance({ redisUrl: url() });
      const { key } = await newKey();
      assert.equal(await redisOf(instance), 'down');
      assert.equal(await countAdmitted(instance, key, 70), 60);
      assert.deepEqual(
        instance.said.map(({ level }) => level),
        ['warn'],
      );
      assert.match(instance.said[0]?.reason ?? '', reason);
      assert.doesNotMatch(JSON.stringify(instance.said), /sesame/);
    });
  }

  test('a password that Redis repeats in an error is not logged', async (t) => {
    const old = await startRedis('sesame', ['--rename-command', 'AUTH', '']);
    t.after(() => old.destroy());
    const instance = await startInstance({ redisUrl: old.url });
    assert.equal(instance.said[0]?.level, 'warn');
    assert.match(instance.said[0]?.reason ?? '', /^ERR unknown command .AUTH.$/);
  });

  test('keeps an idle connection', async () => {
    const instance = await startSharing();
    // Longer than a connection may be silent.
    await sleep(4_000);
    assert.deepEqual([await redisOf(instance), instance.said], ['up', []]);
  });
});
