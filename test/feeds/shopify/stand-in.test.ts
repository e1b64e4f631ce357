import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { apiVersion } from '../../../src/platforms/shopify/api/version.ts';
import { type StandIn, startStandIn } from './stand-in.ts';
import { sampleWorld } from './stand-in-world.ts';

const id = 'gid://shopify/SubscriptionContract/1001';
const read = (fields: string) => `query { subscriptionContract(id: "${id}") { ${fields} } }`;

describe('the stand-in for Shopify', () => {
  let standIn: StandIn;
  before(async () => {
    standIn = await startStandIn(sampleWorld());
  });
  after(() => standIn.close());

  const post = (query: string, version: string = apiVersion) =>
    fetch(`${standIn.baseUrl}/admin/api/${version}/graphql.json`, {
      method: 'POST',
      headers: { 'x-shopify-access-token': standIn.accessToken },
      body: JSON.stringify({ query, variables: {} }),
    });
  const ask = async (query: string) => {
    const { data, errors } = (await (await post(query)).json()) as {
      data?: unknown;
      errors?: { message: string }[];
    };
    return { data, errors: errors?.map(({ message }) => message) };
  };

  test('answers only the version in use', async () => {
    const query = read('status');
    assert.equal((await post(query)).status, 200);
    assert.equal((await post(query, '2026-07')).status, 404);
  });

  test('refuses a field that Shopify does not have', async () => {
    const { data, errors } = await ask(read('id mood'));
    assert.equal(data, undefined);
    assert.deepEqual(errors, ['Cannot query field "mood" on type "SubscriptionContract".']);
  });

  test('cannot return what the schema excludes', async () => {
    const { node } = standIn.world.contracts.get(id) ?? assert.fail();
    const { status, updatedAt } = node;
    Object.assign(node, { status: 'HAPPY' });
    const unknown = 'Enum "SubscriptionContractSubscriptionStatus" cannot represent value: "HAPPY"';
    assert.deepEqual((await ask(read('status'))).errors, [unknown]);
    Object.assign(node, { status, updatedAt: 'yesterday' });
    assert.deepEqual((await ask(read('updatedAt'))).errors, [
      '"yesterday" is no DateTime as Shopify writes it',
    ]);
    Object.assign(node, { updatedAt: undefined });
    assert.deepEqual((await ask(read('updatedAt'))).errors, [
      'Cannot return null for non-nullable field SubscriptionContract.updatedAt.',
    ]);
    Object.assign(node, { updatedAt });
  });

  test('refuses a page without a size', async () => {
    assert.deepEqual((await ask(read('lines { nodes { id } }'))).errors, [
      'A connection needs "first", from 1 to 250',
    ]);
  });

  test('writes the results of bulk queries flat and grouped', () => {
    const query =
      '{ sellingPlanGroups { edges { node { id sellingPlans { edges { node { id } } } } } } }';
    const linesOf = (isGrouped: boolean) =>
      standIn.world.bulkResult(query, isGrouped).map((line) => {
        const node = JSON.parse(line) as Record<string, string>;
        const [own = '', parent] = [node['id'], node['__parentId']].map((gid) =>
          gid?.split('/').at(-1),
        );
        return parent === undefined ? own : `${own} of ${parent}`;
      });
    const [subscribe, gifts, membership] = [
      ['301 of 201', '302 of 201', '306 of 201', '307 of 201'],
      ['303 of 202', '305 of 202'],
      ['304 of 203'],
    ] as const;
    assert.deepEqual(linesOf(true), ['201', ...subscribe, '202', ...gifts, '203', ...membership]);
    assert.deepEqual(linesOf(false), ['201', '202', '203', ...subscribe, ...gifts, ...membership]);
  });

  test('refuses a bulk query beyond the limits, and a sixth at a time', () => {
    const { bulk } = standIn;
    const codes = (query: string) => bulk.run(query).userErrors.map((error) => error.code);
    assert.deepEqual(codes('{ nodes(ids: []) { id } }'), ['INVALID']);
    const query = '{ sellingPlanGroups { edges { node { id } } } }';
    const started = Array.from({ length: 6 }, () => codes(query));
    assert.deepEqual(started, [[], [], [], [], [], ['LIMIT_REACHED']]);
  });
});
