import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Store } from '../../../src/store/open.ts';
import { assertSameShop } from '../../model/dump.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop } from '../../support/world.ts';
import {
  attempt,
  billed,
  contract,
  failure,
  group,
  line,
  money,
  order,
  refund,
  sellingPlan,
  success,
} from './nodes.ts';
import { file, importShopify, randomOf, shuffled } from './samples.ts';

const seeds = [1, 2, 3, 4, 5, 6];

type Random = () => number;
const upTo = (random: Random, max: number) => Math.floor(random() * (max + 1));
const oneOf = <T>(random: Random, values: readonly T[]) =>
  values[upTo(random, values.length - 1)] as T;
const dayOf = (random: Random) =>
  `2026-${String(1 + upTo(random, 10)).padStart(2, '0')}-${String(1 + upTo(random, 27)).padStart(2, '0')}T0${upTo(random, 9)}:00:00Z`;

/** An order, perhaps a test, with refunds, or in another currency. */
function randomOrder(random: Random, id: number): object {
  const total = oneOf(random, ['0.0', '15.3', '99.95']);
  return order(id, total, {
    test: upTo(random, 5) === 0,
    totalPriceSet: money(total, upTo(random, 9) === 0 ? 'CAD' : 'USD'),
    refunds: Array.from({ length: upTo(random, 2) }, (_, index) =>
      refund(10 * id + index, oneOf(random, ['0.0', '5.5', '15.3']), dayOf(random)),
    ),
    subtotalLineItemsQuantity: upTo(random, 9),
  });
}

/** A random contract; some are refused, some have plans that no file has. */
function randomFamily(random: Random, id: number): object[] {
  const policy = () => ({
    interval: oneOf(random, ['DAY', 'WEEK', 'MONTH', 'YEAR']),
    intervalCount: 1 + upTo(random, 3),
  });
  const planId = oneOf(random, [null, 301, 302, 303, 309]);
  const lines = Array.from(
    { length: upTo(random, 12) === 0 ? 0 : 1 + upTo(random, 2) },
    (_, index) =>
      line(id, 10 * id + index, {
        title: oneOf(random, ['Tea', 'Cup']),
        quantity: 1 + upTo(random, 4),
        productId: oneOf(random, [null, 'gid://shopify/Product/8001']),
        requiresShipping: oneOf(random, [true, false, false, null]),
        sellingPlanId: planId && `gid://shopify/SellingPlan/${planId}`,
        sellingPlanName: oneOf(random, ['One name', 'Another name', null]),
        currentPrice: {
          amount: oneOf(random, ['15.3', '0.0', '19.99', '1000.00']),
          currencyCode: upTo(random, 15) === 0 ? 'CAD' : 'USD',
        },
      }),
  );
  const attempts = Array.from({ length: upTo(random, 5) }, (_, index) => {
    const [number, originTime] = [10 * id + index, oneOf(random, [null, dayOf(random)])];
    if (upTo(random, 1) === 0) {
      const errorCode = oneOf(random, [null, null, 'CARD_DECLINED', 'INSUFFICIENT_INVENTORY']);
      const ready = upTo(random, 5) > 0;
      return attempt(id, number, dayOf(random), { errorCode, ready, originTime });
    }
    const state = oneOf(random, [
      success(null),
      success(randomOrder(random, number)),
      failure('INVOICE_ALREADY_PAID'),
      failure('TEST_MODE'),
    ]);
    const paymentGroupId = oneOf(random, [null, 'one', 'other']);
    return billed(id, number, dayOf(random), state, { originTime, paymentGroupId });
  });
  const isOrphaned = upTo(random, 12) === 0;
  const parent = contract(id, {
    status: oneOf(random, ['ACTIVE', 'PAUSED', 'CANCELLED', 'EXPIRED', 'FAILED', 'STALE']),
    createdAt: dayOf(random),
    updatedAt: dayOf(random),
    billingPolicy: policy(),
    deliveryPolicy: policy(),
    lastPaymentStatus: oneOf(random, ['SUCCEEDED', 'FAILED', null]),
    nextBillingDate: oneOf(random, [null, dayOf(random)]),
    originOrder: oneOf(random, [null, {}, randomOrder(random, 100_000 + id)]),
    customer:
      upTo(random, 12) === 0 ? null : { id: `gid://shopify/Customer/${1 + upTo(random, 9)}` },
  });
  return [...(isOrphaned ? [] : [parent]), ...lines, ...attempts];
}

const groups = [
  group(201),
  sellingPlan(201, 301),
  sellingPlan(201, 302, { billingPolicy: { interval: 'YEAR', intervalCount: 1 } }),
  sellingPlan(201, 303, { billingPolicy: {} }),
];

onOneDatabase('random contracts in random layouts', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  for (const seed of seeds) {
    test(`are stored the same (seed ${seed})`, async () => {
      const random = randomOf(seed);
      const families = Array.from({ length: 40 }, (_, index) => randomFamily(random, index + 1));
      const [ordered, other] = [await createShop(store), await createShop(store)];
      const inOrder = await importShopify(store, ordered, [
        file('f', [...groups, ...families.flat()]),
      ]);

      const texts = shuffled([...groups, ...families.flat()], random);
      const cuts = [upTo(random, texts.length), upTo(random, texts.length)].toSorted(
        (a, b) => a - b,
      );
      const files = [texts.slice(0, cuts[0]), texts.slice(cuts[0], cuts[1]), texts.slice(cuts[1])];
      const layout = files.map((lines, index) => file(`f${index}`, lines));
      const shuffledRun = await importShopify(store, other, layout, 1 + upTo(random, 20_000));

      assert.ok((inOrder.counts['subscription']?.stored ?? 0) > 5);
      const reasons = (refused: readonly string[]) =>
        refused.map((each) => each.slice(each.indexOf(': '))).toSorted();
      assert.deepEqual(reasons(shuffledRun.refused), reasons(inOrder.refused));
      assert.deepEqual(shuffledRun.kept.toSorted(), inOrder.kept.toSorted());
      await assertSameShop(store.write, other.id, ordered.id);
    });
  }
});
