import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { PlatformError } from '../../../src/platforms/errors.ts';
import {
  type ShopifyClient,
  createShopifyClient,
} from '../../../src/platforms/shopify/api/client.ts';
import { fetchContract, fetchPlanGroup } from '../../../src/platforms/shopify/api/fetch.ts';
import { silentLog } from '../../support/world.ts';
import { startStandIn } from './stand-in.ts';
import { type StandInContract, sampleWorld } from './stand-in-world.ts';
import { domain, noBackoff } from './synced.ts';

const gid = 'gid://shopify/SubscriptionContract/1005';

async function begin(t: TestContext) {
  const standIn = await startStandIn(sampleWorld());
  t.after(() => standIn.close());
  const clock = new FixedClock(Date.now());
  const client = createShopifyClient({
    domain,
    origin: standIn.baseUrl,
    accessToken: async () => standIn.accessToken,
    clock,
    log: silentLog,
    backoff: noBackoff(clock),
  });
  const contract = standIn.world.contracts.get(gid) as StandInContract;
  return { standIn, client, contract };
}

/** Makes a change before each further page of attempts is read. */
function beforeNextPage(client: ShopifyClient, change: () => void): ShopifyClient {
  return {
    ...client,
    query(document, variables) {
      if (document.startsWith('query ContractAttempts')) change();
      return client.query(document, variables);
    },
  };
}

const numbersOf = (nodes: readonly { readonly id?: unknown }[]) =>
  nodes.map(({ id }) => String(id).split('/').at(-1));

test('reads a contract with all pages of its attempts', async (t) => {
  const { client, contract, standIn } = await begin(t);
  const whole = await fetchContract(client, gid);
  assert.ok(whole);
  const { node, lines } = contract;
  assert.partialDeepStrictEqual(
    { contract: node, lines },
    { contract: whole.contract, lines: whole.lines },
  );
  assert.equal(whole.contract['status'], 'FAILED');
  assert.equal(whole.lines.length, 1);
  assert.deepEqual(numbersOf(whole.attempts), ['2003', '2004', '2005']);
  assert.deepEqual(whole.attempts[0]?.['state'], {
    __typename: 'SubscriptionBillingAttemptFailedState',
    error: { paymentCode: 'EXPIRED_PAYMENT_METHOD' },
  });
  assert.deepEqual(standIn.requests, ['Contract', 'ContractAttempts']);
});

test('reads a selling plan group with all pages of its plans', async (t) => {
  const { client, standIn } = await begin(t);
  const id = 'gid://shopify/SellingPlanGroup/201';
  const { node, plans } = standIn.world.groups.get(id) ?? {};
  const whole = await fetchPlanGroup(client, id);
  assert.ok(whole);
  assert.partialDeepStrictEqual({ group: node, sellingPlans: plans }, whole);
  assert.equal(whole.group['name'], 'Subscribe & save');
  assert.deepEqual(numbersOf(whole.sellingPlans), ['301', '302', '306', '307']);
});

test('returns undefined for a missing contract or group', async (t) => {
  const { client } = await begin(t);
  assert.equal(await fetchContract(client, 'gid://shopify/SubscriptionContract/1'), undefined);
  assert.equal(await fetchPlanGroup(client, 'gid://shopify/SellingPlanGroup/1'), undefined);
});

test('reads a contract again that changes between two pages', async (t) => {
  const { client, contract } = await begin(t);
  let changes = 0;
  const changing = beforeNextPage(client, () => {
    changes += 1;
    if (changes > 2) return;
    const id = `gid://shopify/SubscriptionBillingAttempt/9${changes}`;
    contract.attempts.push({ ...contract.attempts.shift(), id });
    contract.node['updatedAt'] = `2026-11-20T00:00:0${changes}Z`;
  });
  const whole = await fetchContract(changing, gid);
  assert.equal(whole?.contract['updatedAt'], '2026-11-20T00:00:02Z');
  assert.deepEqual(numbersOf(whole?.attempts ?? []), ['2005', '91', '92']);
});

test('gives up on a contract that keeps changing', async (t) => {
  const { client, contract } = await begin(t);
  let changes = 0;
  const changing = beforeNextPage(client, () => {
    contract.node['updatedAt'] = `2026-11-20T00:00:0${(changes += 1)}Z`;
  });
  const error = await fetchContract(changing, gid).catch((reason: unknown) => reason);
  assert.ok(error instanceof PlatformError);
  assert.deepEqual(
    [error.message, changes],
    ['sample-shop.myshopify.com changed a contract faster than its pages could be read.', 5],
  );
});
