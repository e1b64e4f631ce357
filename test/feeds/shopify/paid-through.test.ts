import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as fc from 'fast-check';
import { storeBulkResults, storeNodes } from '../../../src/platforms/shopify/sync/intake.ts';
import type { Line } from '../../../src/ingest/lines.ts';
import type { Store } from '../../../src/store/open.ts';
import { assertSameShop } from '../../model/dump.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { runs } from '../../support/seed.ts';
import { type TestShop, createShop, importAll } from '../../support/world.ts';
import { billed, contract, line, order, refund, success } from './nodes.ts';
import { assertTaken, file, importShopify } from './samples.ts';
import { type StandIn, startStandIn } from './stand-in.ts';
import { StandInWorld } from './stand-in-world.ts';
import { syncedShop } from './synced.ts';

const began = '2026-01-10T09:00:00Z';
const yearly = { billingPolicy: { interval: 'YEAR', intervalCount: 1 }, createdAt: began };
const all = (id: number, total: string) => ({
  refunds: [refund(id, total, '2026-02-01T00:00:00Z')],
});
const cancelled = { status: 'CANCELLED', nextBillingDate: null };
const first = order(70, '99.00');

onOneDatabase('what was paid for in Shopify', (open) => {
  let store: Store;
  let standIn: StandIn;
  before(async () => {
    store = open();
    standIn = await startStandIn(new StandInWorld());
  });
  after(async () => {
    await store.close();
    await standIn.close();
  });

  async function paidThrough(shop: TestShop): Promise<string | undefined> {
    const [row] = await store.write<{ at: Date | null }[]>`
      select paid_through_at as at from subscriptions
      where shop_id = ${shop.id} and subscription_id = 1`;
    return row?.at?.toISOString().slice(0, 10);
  }

  /** The end of the last paid period after each of these states of a contract. */
  async function endsAfter(...states: readonly (readonly [over: object, ...attempts: object[]])[]) {
    const shop = await createShop(store);
    const ends: (string | undefined)[] = [];
    for (const [over, ...attempts] of states) {
      const nodes = [contract(1, { ...yearly, ...over }), line(1, 1), ...attempts];
      assertTaken(await importShopify(store, shop, [file('f', nodes)]));
      ends.push(await paidThrough(shop));
    }
    return ends;
  }

  test('stays when the first order is withheld and the contract is cancelled', async () => {
    const unknown = { lastPaymentStatus: null };
    assert.deepEqual(
      await endsAfter(
        [{ ...unknown, originOrder: first }],
        [{ ...unknown, originOrder: null }],
        [{ ...unknown, ...cancelled, originOrder: null, updatedAt: '2026-11-16T00:00:00Z' }],
      ),
      ['2027-01-10', '2027-01-10', '2027-01-10'],
    );
  });

  test('ends with a full refund, for good, but not with a partial one', async () => {
    const refunded = order(70, '99.00', all(500, '99.00'));
    const partly = order(70, '99.00', all(500, '98.99'));
    const next = { nextBillingDate: '2027-01-10T09:00:00Z' };
    assert.deepEqual(
      await endsAfter(
        [{ ...next, originOrder: first }],
        [{ ...next, originOrder: partly }],
        // Shopify still says that the last payment succeeded, and when it bills next.
        [{ ...next, originOrder: refunded }],
        [{ ...next, originOrder: null }],
        [{ ...cancelled, originOrder: { id: 'gid://shopify/Order/70' } }],
      ),
      ['2027-01-10', '2027-01-10', undefined, undefined, undefined],
    );
  });

  test('goes back to the period before, or stays if an older payment is refunded', async () => {
    const monthly = {
      billingPolicy: { interval: 'MONTH', intervalCount: 1 },
      nextBillingDate: '2026-03-12T09:00:00Z',
      createdAt: began,
    };
    const paid = (over: object) =>
      billed(1, 7, '2026-02-10T09:00:00Z', success(order(71, '15.30', over)));
    assert.deepEqual(
      await endsAfter(
        [{ ...monthly, originOrder: order(70, '15.30') }, paid({})],
        [{ ...monthly, originOrder: order(70, '15.30', all(500, '15.3')) }, paid({})],
      ),
      ['2026-03-12', '2026-03-12'],
    );
    assert.deepEqual(
      await endsAfter(
        [{ ...monthly, originOrder: order(70, '15.30') }, paid({})],
        [{ ...monthly, originOrder: null }, paid({})],
        [{ ...monthly, originOrder: null }, paid(all(501, '15.30'))],
        [{ ...monthly, originOrder: null }, billed(1, 7, '2026-02-10T09:00:00Z', success(null))],
      ),
      ['2026-03-12', '2026-03-12', '2026-02-10', '2026-02-10'],
    );
  });

  test('is not lengthened by an interval that was chosen after the payment', async () => {
    const every = (intervalCount: number, nextBillingDate: string | null) => ({
      billingPolicy: { interval: 'MONTH', intervalCount },
      originOrder: order(70, '15.30'),
      nextBillingDate,
    });
    const paid = [
      billed(1, 7, '2026-02-10T09:00:00Z', success(order(71, '15.30'))),
      billed(1, 8, '2026-03-10T09:00:00Z', success(order(72, '45.90'))),
    ];
    const march = '2026-03-10T09:00:00Z';
    assert.deepEqual(
      await endsAfter(
        [every(1, march), ...paid.slice(0, 1)],
        [every(3, march), ...paid.slice(0, 1)],
        [{ ...every(3, null), status: 'CANCELLED' }, ...paid.slice(0, 1)],
        [every(3, '2026-06-10T09:00:00Z'), ...paid],
      ),
      ['2026-03-10', '2026-03-10', '2026-03-10', '2026-06-10'],
    );
  });

  test('stays when the attempt that paid for it is gone', async () => {
    const withheld = { originOrder: null, lastPaymentStatus: 'FAILED' };
    assert.deepEqual(
      await endsAfter([withheld, billed(1, 7, '2026-02-10T09:00:00Z', success(null))], [withheld]),
      ['2027-02-10', '2027-02-10'],
    );
  });

  test('moves back if Shopify bills earlier than it said before', async () => {
    const at = (nextBillingDate: string) => ({ originOrder: null, nextBillingDate });
    assert.deepEqual(
      await endsAfter([at('2027-01-20T09:00:00Z')], [at('2027-01-15T09:00:00Z')], [cancelled]),
      ['2027-01-20', '2027-01-15', '2027-01-15'],
    );
  });

  test('is taken as it is from a file of records', async () => {
    const shop = await createShop(store);
    const nodes = [contract(1, { ...yearly, originOrder: first }), line(1, 1)];
    assertTaken(await importShopify(store, shop, [file('f', nodes)]));
    const record = {
      type: 'subscription',
      id: 1,
      customerId: 500_001,
      planId: 301,
      status: 'active',
      createdAt: began,
      paidThroughAt: '2026-04-01T00:00:00Z',
      paidPeriods: [{ payment: 0, through: 9_999_999_999_999 }],
      lines: [
        {
          lineId: 1,
          productId: 1,
          productTitle: 'Tea',
          variantId: 1,
          quantity: 1,
          currentPrice: '1',
        },
      ],
    };
    const { refused } = await importAll(store, shop, [record]);
    assert.deepEqual(refused, []);
    assert.equal(await paidThrough(shop), '2026-04-01');
  });

  /** The ways in which a contract arrives. */
  const transports = {
    async file(shop: TestShop, nodes: readonly object[]) {
      assertTaken(await importShopify(store, shop, [file('f', nodes)]));
    },
    async sync(shop: TestShop, nodes: readonly object[]) {
      const { synced } = syncedShop(store, shop, standIn);
      const counts = await storeBulkResults(synced, [file('f', nodes.toReversed())]);
      assert.equal(counts['subscription']?.refused, 0);
    },
    async fetch(shop: TestShop, nodes: readonly object[]) {
      const lines = nodes.map((value, index): Line => ({
        number: index + 1,
        text: JSON.stringify(value),
        value,
      }));
      const counts = await storeNodes(syncedShop(store, shop, standIn).synced, lines);
      assert.equal(counts['subscription']?.refused, 0);
    },
  };

  test('never moves back without a full refund, however contracts arrive', async () => {
    const state = fc.record({
      isFirstShown: fc.boolean(),
      isFirstRefunded: fc.boolean(),
      /** What is shown of the attempts that there are. */
      attempts: fc.array(fc.constantFrom('shown', 'withheld', 'refunded'), { maxLength: 2 }),
      isCancelled: fc.boolean(),
      isLastSucceeded: fc.boolean(),
      transport: fc.constantFrom('file', 'sync', 'fetch'),
    });
    const dues = ['2026-02-10T09:00:00Z', '2026-03-10T09:00:00Z'];
    const ends = ['2026-03-10', '2026-04-10'];
    const firstEnd = '2026-02-10';
    await fc.assert(
      fc.asyncProperty(fc.array(state, { minLength: 2, maxLength: 6 }), async (states) => {
        const [shop, other] = [await createShop(store), await createShop(store)];
        const delivered: object[][] = [];
        const known = new Map<number, string>();
        const takenBack = new Set<number>();
        for (const each of states) {
          const attempts = each.attempts.map((shown, index) => {
            if (shown === 'refunded') takenBack.add(index + 1);
            known.set(index + 1, ends[index] ?? '');
            const over = shown === 'refunded' ? all(501 + index, '15.30') : {};
            const paid = shown === 'withheld' ? null : order(71 + index, '15.30', over);
            return billed(1, index + 7, dues[index] ?? '', success(paid));
          });
          if (each.isFirstShown) {
            known.set(0, firstEnd);
            if (each.isFirstRefunded) takenBack.add(0);
          }
          const last = attempts.length;
          const next = last === 0 ? firstEnd : ends[last - 1];
          const isStated = each.isLastSucceeded && !each.isCancelled;
          if (isStated && (last > 0 || !takenBack.has(0))) known.set(last, next ?? '');
          const nodes = [
            contract(1, {
              createdAt: began,
              originOrder: each.isFirstShown
                ? order(70, '15.30', each.isFirstRefunded ? all(500, '15.30') : {})
                : null,
              lastPaymentStatus: each.isLastSucceeded ? 'SUCCEEDED' : 'FAILED',
              nextBillingDate: each.isCancelled ? null : `${next}T09:00:00Z`,
              status: each.isCancelled ? 'CANCELLED' : 'ACTIVE',
            }),
            line(1, 1),
            ...attempts,
          ];
          await transports[each.transport](shop, nodes);
          await transports.file(other, nodes);
          delivered.push(nodes);
          const standing = [...known].filter(([payment]) => !takenBack.has(payment));
          const expected = standing
            .map(([, end]) => end)
            .toSorted()
            .at(-1);
          assert.equal(await paidThrough(shop), expected);
        }
        await assertSameShop(store.write, other.id, shop.id);
        const reversed = await createShop(store);
        for (const nodes of delivered.toReversed()) await transports.file(reversed, nodes);
        assert.equal(await paidThrough(reversed), await paidThrough(shop));
      }),
      runs(12),
    );
  });
});
