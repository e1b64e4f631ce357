import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listCohorts } from '../../src/metrics/cohorts.ts';
import { listHistory } from '../../src/metrics/history.ts';
import { toMovements } from '../../src/metrics/movements.ts';
import { toRetention } from '../../src/metrics/retention.ts';
import { figuresFromLedger, figuresFromRecords } from '../../src/metrics/segments/figures.ts';
import { findFigureDifferences } from '../../src/metrics/verify/figures.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll, now } from '../support/world.ts';

/** A version of a subscription: when its record was changed, and to what. */
type Version = readonly [updatedAt: string, price: string, over?: object];

function versionsOf(
  id: number,
  customerId: number,
  createdAt: string,
  versions: readonly Version[],
) {
  return versions.map(([updatedAt, currentPrice, over = {}]) => {
    const { quantity = 1, ...rest } = over as { quantity?: number };
    return subscription(id, {
      customerId,
      createdAt,
      updatedAt,
      lines: [
        { lineId: 1, productId: 1, productTitle: 'Tea', variantId: 1, quantity, currentPrice },
      ],
      ...rest,
    });
  });
}

const ended = (at: string, to: string, ...more: readonly object[]) => {
  const statusEvents = [{ at, to }, ...more];
  return { status: (statusEvents.at(-1) as { to: string }).to, statusEvents };
};

/** Ten customers and what they paid a month, from September 2025 to October 2026. */
const records = [
  // Ann takes more, and then somewhat less.
  ...versionsOf(1, 501, '2025-09-05T08:00:00Z', [
    ['2025-09-05T08:00:00Z', '10.00'],
    ['2025-12-10T12:00:00Z', '25.00'],
    ['2026-06-03T12:00:00Z', '20.00'],
  ]),
  // Ben goes from one subscription to another.
  ...versionsOf(2, 502, '2025-09-10T08:00:00Z', [
    ['2025-09-10T08:00:00Z', '30.00'],
    ['2026-02-15T08:00:00Z', '30.00', ended('2026-02-15T08:00:00Z', 'cancelled')],
  ]),
  ...versionsOf(12, 502, '2026-02-15T08:00:00Z', [['2026-02-15T08:00:00Z', '40.00']]),
  // Cem takes three, and then two.
  ...versionsOf(3, 503, '2025-09-20T08:00:00Z', [
    ['2025-09-20T08:00:00Z', '12.00'],
    ['2026-01-20T12:00:00Z', '12.00', { quantity: 3 }],
    ['2026-07-07T12:00:00Z', '12.00', { quantity: 2 }],
  ]),
  // Dee's coupon ends with the year.
  ...versionsOf(4, 504, '2025-10-01T08:00:00Z', [
    ['2025-10-01T08:00:00Z', '16.00'],
    ['2026-01-01T00:00:00Z', '20.00'],
  ]),
  // Eve pays by the year: 8.00 a month.
  ...versionsOf(5, 505, '2025-09-21T08:00:00Z', [
    ['2025-09-21T08:00:00Z', '10.00'],
    ['2026-03-05T12:00:00Z', '96.00', { intervalUnit: 'year', intervalCount: 1 }],
  ]),
  // Fay's price changes while she tries it.
  ...versionsOf(6, 506, '2025-11-10T08:00:00Z', [
    ['2025-11-10T08:00:00Z', '14.00', { trialEndsAt: '2025-12-01T00:00:00Z' }],
    ['2025-11-20T08:00:00Z', '15.00', { trialEndsAt: '2025-12-01T00:00:00Z' }],
  ]),
  // Prices rise in May: for Gus, who has paused, and for Hal.
  ...versionsOf(7, 507, '2025-09-22T08:00:00Z', [
    ['2025-09-22T08:00:00Z', '9.00'],
    ['2026-04-10T08:00:00Z', '9.00', ended('2026-04-10T08:00:00Z', 'paused')],
    ['2026-05-01T00:00:00Z', '11.00', ended('2026-04-10T08:00:00Z', 'paused')],
    [
      '2026-05-20T08:00:00Z',
      '11.00',
      ended('2026-04-10T08:00:00Z', 'paused', { at: '2026-05-20T08:00:00Z', to: 'active' }),
    ],
  ]),
  ...versionsOf(8, 508, '2025-09-23T08:00:00Z', [
    ['2025-09-23T08:00:00Z', '9.00'],
    ['2026-05-01T00:00:00Z', '11.00'],
  ]),
  // Ida moves from one of her subscriptions to the other at once, and pays 5.00 less in all.
  ...versionsOf(9, 509, '2025-09-15T08:00:00Z', [
    ['2025-09-15T08:00:00Z', '50.00'],
    ['2026-08-12T10:00:00Z', '60.00'],
  ]),
  ...versionsOf(19, 509, '2025-09-15T08:00:00Z', [
    ['2025-09-15T08:00:00Z', '20.00'],
    ['2026-08-12T10:00:00Z', '5.00'],
  ]),
  // Jon's payment fails; he comes back to a higher price.
  ...versionsOf(10, 510, '2026-04-02T08:00:00Z', [
    ['2026-04-02T08:00:00Z', '7.00'],
    ['2026-09-09T08:00:00Z', '7.00', ended('2026-09-09T08:00:00Z', 'failed')],
    [
      '2026-10-10T08:00:00Z',
      '8.00',
      ended('2026-09-09T08:00:00Z', 'failed', { at: '2026-10-10T08:00:00Z', to: 'active' }),
    ],
  ]),
];

/** Worked out by hand: what moved in each month, what it came to, and net and gross retention. */
const months: readonly (readonly [
  month: string,
  moved: object,
  closing: number,
  ...rates: unknown[],
])[] = [
  ['2025-09', { new: 130, added: 20 }, 150, null, null],
  ['2025-10', { new: 16 }, 166, 1, 1],
  ['2025-11', {}, 166, 1, 1],
  // 181 / 166
  ['2025-12', { new: 15, expansion: 15 }, 196, 1.0904, 1],
  // 224 / 196
  ['2026-01', { expansion: 28 }, 224, 1.1429, 1],
  // 234 / 224; Ben kept his 30
  ['2026-02', { added: 40, cancelled: 30 }, 234, 1.0446, 1],
  // 232 / 234
  ['2026-03', { contraction: 2 }, 232, 0.9915, 0.9915],
  // 223 / 232
  ['2026-04', { new: 7, paused: 9 }, 230, 0.9612, 0.9612],
  // 232 / 230; Gus had nothing at the start
  ['2026-05', { resumed: 11, expansion: 2 }, 243, 1.0087, 1],
  // 238 / 243
  ['2026-06', { contraction: 5 }, 238, 0.9794, 0.9794],
  // 226 / 238
  ['2026-07', { contraction: 12 }, 226, 0.9496, 0.9496],
  // 221 / 226
  ['2026-08', { contraction: 5 }, 221, 0.9779, 0.9779],
  // 214 / 221
  ['2026-09', { failed: 7 }, 214, 0.9683, 0.9683],
  ['2026-10', { reactivated: 8 }, 222, 1, 1],
];

/** Of those who came in September 2025: at the end of each month since, and now. */
const cohort = [150, 150, 150, 165, 189, 199, 197, 188, 201, 196, 184, 179, 179, 179, 179];

const monthAfter = (month: string) => {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return Date.UTC(year, number, 1);
};

onOneDatabase('fourteen months of prices', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const endAt = Date.parse(now);

  for (const [title, inOrder] of [
    ['as they came', records],
    ['the last first', records.toReversed()],
  ] as const) {
    test(`are what a hand makes of them, ${title}`, async () => {
      const shop = await createShop(store, { currency: 'USD' });
      const { refused } = await importAll(store, shop, [plan(), ...inOrder]);
      assert.deepEqual(refused, []);
      await store.write.begin(async (tx) => {
        for (const figures of [
          figuresFromLedger(tx, shop),
          figuresFromRecords(tx, shop, undefined),
        ]) {
          let opening = 0;
          for (const [month, moved, closing, net, gross] of months) {
            const period = { from: Date.parse(`${month}-01T00:00:00Z`), until: monthAfter(month) };
            const found = toMovements(await figures.movements(period), 'USD');
            const { currency: _, ...values } = found;
            const shown = Object.fromEntries(
              Object.entries(values).filter(
                ([name, value]) => value !== 0 && name !== 'opening' && name !== 'closing',
              ),
            );
            assert.deepEqual(shown, moved, month);
            assert.deepEqual([found.opening, found.closing], [opening, closing], month);
            const retained = toRetention(await figures.retention(period), 10, 'USD');
            assert.deepEqual([retained.net, retained.gross], [net, gross], month);
            opening = closing;
          }
          const whole = { from: Date.parse('2026-02-01Z'), until: Date.parse('2026-05-01Z') };
          const retained = toRetention(await figures.retention(whole), 10, 'USD');
          // (40 + 7) / (30 + 2 + 9), and 230 of 10 subscribers
          assert.deepEqual([retained.quickRatio, retained.arpa], [1.1463, 23]);
          // Of 224: Ben has 40 of 30, Eve 8 of 10, Gus nothing of 9.
          assert.deepEqual([retained.net, retained.gross], [0.9955, 0.9509]);
          const cohorts = await figures.cohorts({ months: 15, now: endAt });
          assert.deepEqual(cohorts.find(({ month }) => month === '2025-09')?.mrr, cohort);
          assert.equal(
            (await figures.summary({ from: endAt - 1, until: endAt }, endAt)).activeSubscribers,
            10,
          );
        }
        assert.deepEqual(await findFigureDifferences(tx, shop, endAt), []);
      });
      assert.deepEqual([...(await findLedgerDifferences(store.write, shop.id))], []);
      const history = await listHistory(store.primary, shop, {
        from: Date.parse('2025-09-01Z'),
        until: endAt,
      });
      for (const [month, , closing] of months) {
        const last = new Date(monthAfter(month) - 1).toISOString().slice(0, 10);
        assert.equal(history.find(({ day }) => day === last)?.mrr, closing, last);
      }
      const known = await listCohorts(store.primary.analyse, shop, { months: 15, now: endAt });
      assert.equal(known.length, 4);
    });
  }
});
