import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { importRecords } from '../../../src/ingest/import.ts';
import { createLog } from '../../../src/log/log.ts';
import { readBulkResults } from '../../../src/platforms/shopify/bulk/records.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { type TestShop, createShop, now } from '../../support/world.ts';
import {
  attempt,
  billed,
  contract,
  failure,
  line,
  money,
  order,
  refund,
  success,
} from './nodes.ts';
import { assertTaken, file, importShopify } from './samples.ts';

const at = '2026-11-05T11:00:00Z';
const withheld = { originOrder: null };
const pending = { __typename: 'SubscriptionBillingAttemptPendingState' };
const price = (amount: string) => ({ currentPrice: { amount, currencyCode: 'USD' } });

onOneDatabase('payments from Shopify, as orders are shown and withheld', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** The stored payments and refunds, the smallest first, after each of these runs. */
  async function storedAfter(...runs: readonly (readonly object[])[]) {
    const shop = await createShop(store);
    const stored: string[] = [];
    for (const nodes of runs) {
      assertTaken(await importShopify(store, shop, [file('f', nodes)]));
      stored.push((await rowsOf(shop)).join(', '));
    }
    return stored;
  }

  async function rowsOf(shop: TestShop): Promise<string[]> {
    const payments = await store.write<{ status: string; amount: string }[]>`
      select status, trim_scale(amount)::text as amount from payments
      where shop_id = ${shop.id} order by amount, status`;
    const refunds = await store.write<{ amount: string }[]>`
      select trim_scale(amount)::text as amount from refunds
      where shop_id = ${shop.id} order by amount`;
    return [
      ...payments.map(({ status, amount }) => `${status} ${amount}`),
      ...refunds.map(({ amount }) => `-${amount}`),
    ];
  }

  /** Whether dunning cases are open, recovered or lost, in order. */
  async function casesOf(...runs: readonly (readonly object[])[]) {
    const shop = await createShop(store);
    for (const nodes of runs) assertTaken(await importShopify(store, shop, [file('f', nodes)]));
    const cases = await store.write<{ result: string | null }[]>`
      select result from dunning_cases where shop_id = ${shop.id} order by position`;
    return cases.map(({ result }) => result ?? 'open');
  }

  test('an amount that was seen replaces an estimate, and stays', async () => {
    const paid = order(71, '18.50', { refunds: [refund(501, '3.00', at)] });
    const versions = [attempt(1, 7, at), billed(1, 7, at, success(paid)), attempt(1, 7, at)];
    const runs = versions.map((each) => [contract(1, withheld), line(1, 1), each]);
    const facts = 'succeeded 18.5, -3';
    assert.deepEqual(await storedAfter(...runs), ['succeeded 15.3', facts, facts]);
    assert.deepEqual(await storedAfter(...runs.slice(1)), [facts, facts]);
  });

  test('the first payment stays when its order is withheld', async () => {
    const first = order(70, '20.00', { refunds: [refund(500, '4.00', at)] });
    assert.deepEqual(
      await storedAfter(
        [contract(1, { originOrder: first }), line(1, 1)],
        [contract(1, withheld), line(1, 1)],
      ),
      ['succeeded 20, -4', 'succeeded 20, -4'],
    );
  });

  test('a share of the first order stays when the contract is edited', async () => {
    const originOrder = order(70, '40.00', {
      refunds: [refund(500, '8.00', at)],
      subtotalLineItemsQuantity: 4,
      subtotalPriceSet: money('40.00'),
    });
    const edited = { originOrder, updatedAt: '2026-11-16T09:00:00Z' };
    assert.deepEqual(
      await storedAfter(
        [contract(1, { originOrder }), line(1, 1, price('10.00'))],
        [contract(1, edited), line(1, 1, price('30.00'))],
      ),
      ['succeeded 10, -2', 'succeeded 10, -2'],
    );
    // All of the order was the contract's, before it was for more.
    const whole = { ...originOrder, subtotalLineItemsQuantity: 1 };
    assert.deepEqual(
      await storedAfter(
        [contract(1, { originOrder: whole }), line(1, 1, price('30.00'))],
        [contract(1, { ...edited, originOrder: whole }), line(1, 1, { quantity: 2 })],
      ),
      ['succeeded 40, -8', 'succeeded 40, -8'],
    );
  });

  test('a test stays no payment when its order is withheld', async () => {
    const tried = success(order(71, '18.50', { test: true }));
    assert.deepEqual(
      await storedAfter(
        ...[pending, tried, success(null), success(null)].map((state) => [
          contract(1, withheld),
          line(1, 1),
          billed(1, 7, at, state),
        ]),
      ),
      ['pending 15.3', 'pending 0', 'pending 0', 'pending 0'],
    );
  });

  test('failures that are none open no dunning case', async () => {
    const failed = (code: string) => [
      contract(1, withheld),
      line(1, 1),
      billed(1, 7, at, failure(code)),
    ];
    const waiting = [contract(1, withheld), line(1, 1), billed(1, 7, at, pending)];
    assert.deepEqual(await casesOf(failed('TEST_MODE')), []);
    assert.deepEqual(await casesOf(waiting, failed('TEST_MODE')), []);
    assert.deepEqual(await casesOf(failed('INVOICE_ALREADY_PAID')), []);
    assert.deepEqual(await casesOf(failed('INSUFFICIENT_INVENTORY')), []);
    assert.deepEqual(await casesOf(waiting, failed('CARD_DECLINED')), ['open']);
  });

  test('an invoice that was paid already closes the open case as recovered', async () => {
    const attempts = [
      billed(1, 7, '2026-11-03T11:00:00Z', failure('CARD_DECLINED')),
      billed(1, 8, at, failure('INVOICE_ALREADY_PAID')),
    ];
    const nodes = [contract(1, withheld), line(1, 1)];
    assert.deepEqual(await casesOf([...nodes, ...attempts]), ['recovered']);
    assert.deepEqual(await storedAfter([...nodes, ...attempts]), ['succeeded 0, failed 15.3']);
  });

  test('an unknown error code is logged once, and never its text if it may be personal', async () => {
    const shop = await createShop(store);
    const logLines: string[] = [];
    const nodes = [contract(1, withheld), line(1, 1)];
    const codes = ['LATER', 'LATER', 'SOONER', 'Mr. Smith', 'CARD_DECLINED'];
    for (const [index, code] of codes.entries()) {
      nodes.push(billed(1, index + 7, at, failure(code)));
    }
    await importRecords([{ name: 'f', lines: readBulkResults([file('f', nodes)], shop) }], {
      sql: store.write,
      shop,
      feed: 'shopify-file',
      clock: new FixedClock(now),
      log: createLog('warn', { write: (text) => void logLines.push(text) }),
      isFromFeed: true,
      refuse: () => assert.fail(),
    });
    const texts = logLines.map((text) => /unknown error code: ([^;]+);/.exec(text)?.[1]);
    assert.deepEqual(texts, ['LATER', 'SOONER', 'that is not an enum value']);
    assert.equal((await rowsOf(shop)).filter((row) => row.startsWith('failed')).length, 5);
  });
});
