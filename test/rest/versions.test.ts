import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { z } from 'zod';
import { defineOperation } from '../../src/operations/define.ts';
import { JsonText } from '../../src/operations/coalesce.ts';
import { listPlans } from '../../src/operations/list-plans.ts';
import { operations } from '../../src/operations/index.ts';
import { type RestVersion, restV1 } from '../../src/operations/versions.ts';
import {
  createShop,
  createTestKey,
  get,
  importAll,
  openAnyStore,
  startWorld,
  type World,
} from '../support/world.ts';
import { plan } from './records.ts';
import { bearer, type RawAnswer, request } from './raw.ts';

const windingDown: readonly RestVersion[] = [
  {
    ...restV1,
    deprecatedAt: new Date('2026-11-01T00:00:00Z'),
    sunsetAt: new Date('2026-12-01T00:00:00Z'),
  },
  { name: 'v2', basePath: '/api/external/v2', operations },
];

/** One request for every kind of response of a version. */
async function requestEverything(world: World, basePath: string): Promise<[string, RawAnswer][]> {
  const free = await createShop(world.store, { tier: 'free' });
  const growth = await createShop(world.store, { tier: 'growth' });
  const withoutTier = (await createTestKey(world.store, free.id)).key;
  const limited = (await createTestKey(world.store, growth.id)).key;
  const withoutScope = (await createTestKey(world.store, world.shop.id, ['read:plans'])).key;
  for (let count = 0; count < 60; count += 1)
    await get(`${world.service.baseUrl}${basePath}/plans`, limited);

  const requests: [string, string, string, string?][] = [
    ['200', 'GET', '/plans', world.key],
    ['200', 'HEAD', '/plans', world.key],
    ['400', 'GET', '/entitlements', world.key],
    ['401', 'GET', '/plans'],
    ['401', 'HEAD', '/plans'],
    ['403', 'GET', '/plans', withoutTier],
    ['403', 'GET', '/subscriptions', withoutScope],
    ['404', 'GET', '/subscriptions/1', world.key],
    ['404', 'GET', '/nothing', world.key],
    ['404', 'GET', '', world.key],
    ['405', 'POST', '/plans', world.key],
    ['405', 'OPTIONS', '/subscriptions/1'],
    ['429', 'GET', '/plans', limited],
  ];
  const answers: [string, RawAnswer][] = [];
  for (const [status, method, path, key] of requests) {
    const headers = key === undefined ? [] : [bearer(key)];
    answers.push([status, await request(world.service.baseUrl, method, basePath + path, headers)]);
  }
  return answers;
}

describe('versions', () => {
  let world: World;
  before(async () => {
    world = await startWorld(openAnyStore(), { versions: windingDown });
  });
  after(() => world.close());

  // Requirements: rest.versions.deprecation, rest.versions.sunset.
  test('announce the end of a version in every response during wind-down', async () => {
    for (const [status, answer] of await requestEverything(world, '/api/external/v1')) {
      assert.equal(String(answer.status), status);
      assert.equal(answer.headers['deprecation'], '@1793491200', status);
      assert.equal(answer.headers['sunset'], 'Tue, 01 Dec 2026 00:00:00 GMT', status);
    }
    const alias = `${world.service.baseUrl}/api/external/entitlements`;
    const { headers } = await get(`${alias}?customerId=1`, world.key);
    assert.equal(headers.get('sunset'), 'Tue, 01 Dec 2026 00:00:00 GMT');
  });

  // Requirements: rest.versions.side-by-side.
  test('serve the next version beside it, without an announced end', async () => {
    for (const [status, answer] of await requestEverything(world, '/api/external/v2')) {
      assert.equal(String(answer.status), status);
      assert.equal(answer.headers['deprecation'], undefined);
      assert.equal(answer.headers['sunset'], undefined);
    }
  });

  test('wind down the contract and the unversioned paths of a version with it', async (t) => {
    const ending = await startWorld(openAnyStore(), { versions: windingDown });
    t.after(() => ending.close());
    for (const [method, path, status] of [
      ['GET', '/api/external/v1/openapi.json', 200],
      ['GET', '/api/external/entitlements', 401],
      ['POST', '/api/external/entitlements', 405],
    ] as const) {
      const announced = await request(ending.service.baseUrl, method, path);
      assert.equal(announced.status, status);
      assert.equal(announced.headers['sunset'], 'Tue, 01 Dec 2026 00:00:00 GMT');
    }
    ending.clock.advance(11 * 24 * 3_600_000);
    for (const path of ['/api/external/v1/openapi.json', '/api/external/entitlements']) {
      assert.equal((await request(ending.service.baseUrl, 'GET', path)).status, 410);
    }
  });

  test('do not wind down paths outside a version', async () => {
    for (const path of ['/healthz', '/nothing', '/api/external/v10/plans', '/api/external/v1x']) {
      const { headers } = await request(world.service.baseUrl, 'GET', path);
      assert.equal(headers['sunset'], undefined, path);
    }
  });

  test('respond 410 to everything in a version from its sunset on, and keep serving the others', async (t) => {
    const ending = await startWorld(openAnyStore(), { versions: windingDown });
    t.after(() => ending.close());
    const v1 = `${ending.base}/plans`;
    // From 2026-11-20T12:00Z to the last millisecond of November.
    ending.clock.advance(10.5 * 24 * 3_600_000 - 1);
    assert.equal((await get(v1, ending.key)).status, 200);
    ending.clock.advance(1);
    for (const [method, path, headers] of [
      ['GET', '/plans', [bearer(ending.key)]],
      ['GET', '/plans', []],
      ['GET', '/entitlements', [bearer(ending.key)]],
      ['GET', '/nothing', []],
      ['POST', '/plans', []],
    ] as const) {
      const answer = await request(
        ending.service.baseUrl,
        method,
        `/api/external/v1${path}`,
        headers,
      );
      assert.equal(answer.status, 410);
      assert.equal(answer.body, '{"success":false,"message":"REST v1 is no longer available."}');
      assert.equal(answer.headers['deprecation'], '@1793491200');
      assert.equal(answer.headers['sunset'], 'Tue, 01 Dec 2026 00:00:00 GMT');
    }
    const v2 = `${ending.service.baseUrl}/api/external/v2/plans`;
    assert.equal((await get(v2, ending.key)).status, 200);
    ending.clock.advance(365 * 24 * 3_600_000);
    assert.equal((await get(v1, ending.key)).status, 410);
  });

  test('announce a deprecation without a sunset', async (t) => {
    const deprecated = await startWorld(openAnyStore(), {
      versions: [{ ...restV1, deprecatedAt: new Date(0) }],
    });
    t.after(() => deprecated.close());
    const { headers } = await get(`${deprecated.base}/plans`, deprecated.key);
    assert.equal(headers.get('deprecation'), '@0');
    assert.equal(headers.get('sunset'), null);
  });

  // Requirements: rest.versions.v1-unset, rest.versions.in-path.
  test('have v1 in the path, with no announced end', async (t) => {
    const real = await startWorld(openAnyStore());
    t.after(() => real.close());
    for (const [status, answer] of await requestEverything(real, '/api/external/v1')) {
      assert.equal(String(answer.status), status);
      assert.equal(answer.headers['deprecation'], undefined);
      assert.equal(answer.headers['sunset'], undefined);
    }
    for (const path of ['/api/external/plans', '/api/external/v2/plans', '/v1/plans', '/plans']) {
      assert.equal((await get(real.service.baseUrl + path, real.key)).status, 404);
    }
  });
});

describe('a version with one changed operation', () => {
  /** A changed version of /plans in /v1 that returns their number. */
  const listPlansV2 = defineOperation({
    ...listPlans,
    title: 'Plans, counted',
    output: z
      .object({ count: z.int().describe('How many plans there are.') })
      .meta({ id: 'PlanCount', description: 'How many plans the shop has.' }),
    example: { input: {}, output: { count: 3 } },
    run: async (context, input) => {
      const answer = await listPlans.run(context, input);
      const text = answer instanceof JsonText ? answer.text : JSON.stringify(answer);
      return { count: JSON.parse(text).plans.length };
    },
  });
  const v2: RestVersion = {
    name: 'v2',
    basePath: '/api/external/v2',
    operations: operations.map((each) => (each === listPlans ? listPlansV2 : each)),
  };
  let world: World;
  before(async () => {
    world = await startWorld(openAnyStore(), { versions: [restV1, v2] });
    await importAll(world.store, world.shop, [plan({ id: 1 }), plan({ id: 2 })]);
  });
  after(() => world.close());
  const send = (path: string) => get(world.service.baseUrl + path, world.key);

  test('serves the changed operation beside the earlier version', async () => {
    assert.deepEqual((await send('/api/external/v2/plans')).body, { count: 2 });
    assert.equal((await send('/api/external/v1/plans')).body.plans.length, 2);
    // Unchanged operations are the same.
    const [one, two] = await Promise.all(
      ['v1', 'v2'].map((name) => send(`/api/external/${name}/entitlements?customerId=1`)),
    );
    assert.deepEqual(one?.body, two?.body);
    assert.equal((await send('/api/external/v2/entitlements')).status, 400);
  });

  test('has its own contract and reference', async () => {
    const first = (await send('/api/external/v1/openapi.json')).body;
    const second = (await send('/api/external/v2/openapi.json')).body;
    assert.deepEqual([first.info.version, second.info.version], ['1.0.0', '2.0.0']);
    const schemaOf = (document: typeof first, path: string) =>
      document.paths[path].get.responses['200'].content['application/json'].schema;
    const schemas = '#/components/schemas';
    assert.deepEqual(schemaOf(first, '/api/external/v1/plans'), {
      $ref: `${schemas}/SellingPlansResponse`,
    });
    assert.deepEqual(schemaOf(second, '/api/external/v2/plans'), { $ref: `${schemas}/PlanCount` });
    // The alias belongs to the first version.
    assert.ok('/api/external/entitlements' in first.paths);
    assert.ok(!('/api/external/entitlements' in second.paths));
    const page = async (path: string) => (await fetch(world.service.baseUrl + path)).text();
    assert.match(await page('/docs/reference'), /Version 1\.0\.0/);
    assert.match(await page('/docs/v2'), /Version 2\.0\.0[^]*href="\/docs\/v2\/plans-counted"/);
    assert.match(await page('/docs/v2/plans-counted'), /<h1[^>]*>Plans, counted/);
    assert.doesNotMatch(await page('/docs/reference'), /Plans, counted/);
  });
});
