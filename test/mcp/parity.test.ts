import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as fc from 'fast-check';
import { onOneDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import {
  createShop,
  createTestKey,
  importAll,
  startWorld,
  type TestShop,
  type World,
} from '../support/world.ts';
import { importGenerated, restBody } from './rest-equivalents.ts';
import { callModern, legacyRequest, post } from './wire.ts';

const anyId = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 495, max: 560 }) },
  { weight: 6, arbitrary: fc.integer({ min: 995, max: 1045 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -1, 1.5, 2 ** 53 - 1, 2 ** 53, 1e300) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>('x', '5 ', '', '1e1') },
);
const anyLimit = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(100, 101, 0, -1, 2.5, 'x', '') },
);
const anyCursor = fc.constantFrom<unknown>('', 'x', 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', '%', 'null');
const optional = { requiredKeys: [] };
const anyStatus = fc.constantFrom('active', 'paused', 'cancelled', 'expired', 'failed', '', 'x');
const anyOutcome = fc.constantFrom('saved', 'cancelled', 'abandoned', '', 'null');

type Call = readonly [tool: string, input: Record<string, unknown>];
const anyCall: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ customerId: anyId }).map((input): Call => ['get_entitlements', input]),
  fc.record({ subscriptionId: anyId }).map((input): Call => ['get_subscription', input]),
  fc
    .record({ limit: anyLimit, cursor: anyCursor, status: anyStatus }, optional)
    .map((input): Call => ['list_subscriptions', input]),
  fc
    .record({ limit: anyLimit, cursor: anyCursor, outcome: anyOutcome }, optional)
    .map((input): Call => ['list_cancellations', input]),
  fc.constantFrom<Call>(['get_metrics_summary', {}], ['list_plans', {}]),
);

onOneDatabase('REST and MCP', (open) => {
  let world: World;
  const shops: World[] = [];
  const assertAlike = async (caller: World, [tool, input]: Call) => {
    const rest = await restBody(caller, tool, input);
    const old = await post(caller, legacyRequest('tools/call', { name: tool, arguments: input }));
    const modern = await callModern(caller, tool, input);
    const { result } = JSON.parse(old.body);
    const { resultType: _, _meta: __, ...same } = JSON.parse(modern.body).result;
    assert.deepEqual(same, result);
    if (rest.status === 200) {
      assert.equal(result.isError, undefined);
      assert.equal(result.content[0].text, rest.text);
      assert.deepEqual(result.structuredContent, JSON.parse(rest.text));
      assert.ok(old.body.endsWith(`"structuredContent":${rest.text}}}`));
      return result.structuredContent;
    }
    assert.ok(rest.status === 400 || rest.status === 404, String(rest.status));
    assert.equal(result.isError, true);
    assert.equal(result.structuredContent, undefined);
    const { message } = JSON.parse(rest.text);
    // An invalid id is unknown in a REST path, but an invalid argument in MCP.
    const isBadId =
      tool === 'get_subscription' &&
      !(Number(input['subscriptionId']) >= 1 && Number.isInteger(input['subscriptionId']));
    const expected = isBadId ? 'subscriptionId must be a positive integer.' : message;
    assert.equal(result.content[0].text, expected);
    return undefined;
  };

  before(async () => {
    world = await startWorld(open());
    for (const [currency, subscriptions, seed] of [
      ['USD', 55, 1],
      ['JPY', 25, 2],
      ['KWD', 25, 3],
    ] as const) {
      const shop: TestShop = await createShop(world.store, { currency });
      const { key } = await createTestKey(world.store, shop.id);
      const caller = { ...world, shop, key };
      assert.deepEqual((await importGenerated(caller, subscriptions, seed)).refused, []);
      shops.push(caller);
    }
    shops.push(world);
  });
  after(() => world.close());

  // Requirements: mcp.tools.payload-shape.
  test('both transports return the same bytes for any input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(3), anyCall, async (shop, call) => {
        await assertAlike(shops[shop] as World, call);
      }),
      runs(150),
    );
  });

  // Requirements: mcp.limits.cursor.
  test('a cursor of one transport works in the other', async () => {
    const caller = shops[0] as World;
    for (const [tool, filter] of [
      ['list_subscriptions', {}],
      ['list_subscriptions', { status: 'active' }],
      ['list_cancellations', {}],
    ] as const) {
      let input: Record<string, unknown> = { limit: 7, ...filter };
      let pages = 0;
      for (;;) {
        const page = await assertAlike(caller, [tool, input]);
        pages += 1;
        if (page.nextCursor === null) break;
        input = { ...input, cursor: page.nextCursor };
      }
      assert.ok(pages > 1, tool);
    }
  });

  // Requirements: mcp.limits.page-size.
  test('both return 50 rows without a limit', async () => {
    const page = await assertAlike(shops[0] as World, ['list_subscriptions', {}]);
    assert.equal(page.subscriptions.length, 50);
    assert.equal(typeof page.nextCursor, 'string');
  });

  test('both escape names in JSON alike', async () => {
    const shop = await createShop(world.store);
    const { key } = await createTestKey(world.store, shop.id);
    const name = 'Quote " back \\ line\nbreak \u2028 \u0001 </script> é 世界 👩‍🚀';
    const record = { type: 'plan', id: 1, name, planType: 'other', intervalUnit: 'day' };
    const { refused } = await importAll(world.store, shop, [{ ...record, intervalCount: 1 }]);
    assert.deepEqual(refused, []);
    const payload = await assertAlike({ ...world, shop, key }, ['list_plans', {}]);
    assert.equal(payload.plans[0].name, name);
  });
});
