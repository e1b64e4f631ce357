import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { figures, toSummary } from '../../src/metrics/figures.ts';
import { listCounted } from '../../src/metrics/segments/lists.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { summariseMovements } from '../../src/metrics/movements.ts';
import { type Ratio, add, parseDecimal, roundHalfAway, zero } from '../../src/money.ts';
import type { SubscriptionText } from '../../src/store/records/subscriptions.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, type World, createShop, importAll, startWorld } from '../support/world.ts';
import { now } from '../support/world.ts';
import { csvRows } from './csv-rows.ts';
import { plain } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const at = Date.parse(now);
const day = 86_400_000;
const golden = readFileSync(new URL('../golden/records.ndjson', import.meta.url), 'utf8');
const worlds = {
  'the demo shop': () => {
    const options = { subscriptions: 800, seed: 20_26, currency: 'USD', minorDigits: 2 };
    return [...generateShop({ ...options, endAt: at })];
  },
  'the golden data set': () => golden.trim().split('\n'),
};

/** Of a list of a figure of money, the column of its file that sums to it. */
const amountIn: Readonly<Record<string, string>> = {
  mrr: 'Worth a month',
  revenue30d: 'Amount',
  upcomingRenewalsValue7d: 'Price per cycle',
};
/** Their lists have subscriptions, and they count customers. */
const ofCustomers = new Set(['activeSubscribers', 'pausedSubscribers']);

onOneDatabase('the list of a figure', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  const setUp = async (records: readonly (object | string)[]) => {
    const shop = await createShop(world.store);
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    const { visitor } = await signedInOwner({ ...world, shop });
    return { shop, visitor };
  };
  const see = async (visitor: Visitor, path: string) => {
    const { status, text } = await visitor.get(path, { 'accept-language': 'en-US' });
    assert.equal(status, 200, path);
    return text;
  };
  const sumOf = (values: readonly string[]): Ratio =>
    values.map((value) => parseDecimal(value)).reduce(add, zero);
  const valuesOf = (rows: readonly SubscriptionText[]): string[] =>
    rows.map(({ json }) => JSON.parse(json).value);
  const listMrr = (shop: TestShop, period: { from: number; until: number }) => {
    const isNow = period.until === at;
    const counted = { figure: 'mrr', ...period, at: isNow ? at : period.until - 1 } as const;
    const page = { after: undefined, limit: 10_000 };
    const from = world.store.primary;
    return listCounted(from, shop, { ...counted, isPast: !isNow }, page, undefined);
  };

  for (const [name, records] of Object.entries(worlds)) {
    test(`sums to it, in ${name}`, async () => {
      const { shop, visitor } = await setUp(records());
      const row = await summariseMetrics(world.store.primary.analyse, shop.id, at);
      const summary = toSummary(row, shop.currency, at);
      let compared = 0;
      for (const figure of Object.values(figures)) {
        const { field, rows, filter = {}, format } = figure;
        const value = Number(summary[field]);
        if (format === 'share' || field === 'avgSubscriptionValue') continue;
        const query = new URLSearchParams(filter);
        const file = csvRows(await see(visitor, `/app/shops/${shop.id}${rows}.csv?${query}`));
        const column = amountIn[field];
        if (column !== undefined) {
          // Each amount in the file is rounded.
          const sum = roundHalfAway(sumOf(file.map((each) => each[column] ?? '')), 2);
          const most = field === 'mrr' ? file.length * 0.005 : 0;
          assert.ok(Math.abs(sum - value) <= most + 1e-9, `${field}: ${sum} for ${value}`);
        } else {
          const count = ofCustomers.has(field)
            ? new Set(file.map((each) => each['Customer'])).size
            : file.length;
          assert.equal(count, value, field);
        }
        compared += 1;
      }
      assert.equal(compared, 11);

      const text = plain(await see(visitor, `/app/shops/${shop.id}/subscriptions?figure=mrr`));
      const listed = await listMrr(shop, { from: at - 30 * day, until: at });
      const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
      const said = money.format(summary.mrr);
      assert.ok(text.includes(`${said} of MRR from ${listed.length} subscription`), text);
      assert.match(text, new RegExp(`Total ${said.replaceAll(/[$.]/g, '\\$&')} `));
      assert.equal(roundHalfAway(sumOf(valuesOf(listed)), 2), summary.mrr);
    });
  }

  test('sums to MRR as it was then, without those in their trial then', async () => {
    const { shop } = await setUp(worlds['the demo shop']());
    let differing = 0;
    for (const days of [20, 150, 400]) {
      const period = { from: at - (days + 30) * day, until: at - days * day };
      const listed = await listMrr(shop, period);
      const { closing } = await summariseMovements(world.store.primary.analyse, shop.id, period);
      assert.equal(roundHalfAway(sumOf(valuesOf(listed)), 2), roundHalfAway(closing, 2));
      differing += listed.filter(({ json }) => {
        const { value, currentPrice, interval } = JSON.parse(json);
        return interval.unit === 'month' && Math.abs(value * interval.count - currentPrice) > 1;
      }).length;
    }
    assert.ok(differing > 0);
  });

  test('of active subscribers says how many bring no MRR yet', async () => {
    const { shop, visitor } = await setUp(worlds['the demo shop']());
    const page = await see(visitor, `/app/shops/${shop.id}/subscriptions?figure=active`);
    const [, count = '', link = '', mrr = ''] =
      /(\d+) of them are in their trial and bring\s+no\s+MRR\s+yet;\s+<a\s+href="([^"]*)"\s*>the\s+others\s+bring\s+<bdi>([^<]*)</.exec(
        page,
      ) ?? [];
    const href = link.replaceAll('&amp;', '&');
    assert.ok(href, plain(page).slice(0, 900));
    const active = csvRows(
      await see(visitor, `/app/shops/${shop.id}/subscriptions.csv?figure=active`),
    );
    const others = csvRows(await see(visitor, href.replace('?', '.csv?')));
    assert.ok(others.length > 0 && Number(count) > 0);
    assert.equal(active.length, others.length + Number(count));
    assert.ok(plain(await see(visitor, href)).includes(`${mrr} of MRR from ${others.length}`));
    // A sum of both would be of nothing.
    assert.doesNotMatch(plain(page), /Total/);
  });
});
