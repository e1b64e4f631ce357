import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { movements } from '../../src/metrics/facts.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import {
  type TestShop,
  type World,
  createShop,
  createTestKey,
  get,
  importAll,
  now,
  startWorld,
} from '../support/world.ts';
import { csvRows } from './csv-rows.ts';
import { revenueRecords } from './insight-records.ts';
import { plain, rowsOf } from './page-text.ts';
import { signedInOwner } from './visitor.ts';

const payment = (id: number, over: object) => ({
  type: 'payment',
  id,
  subscriptionId: 1001,
  status: 'succeeded',
  amount: '1.00',
  ...over,
});

onOneDatabase('the rows behind figures of money', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  async function owner(shop: TestShop) {
    const { visitor } = await signedInOwner({ ...world, shop });
    const home = `/app/shops/${shop.id}`;
    const see = async (path: string) => {
      const { status, text } = await visitor.get(
        path.startsWith('/app') ? path : `${home}/${path}`,
      );
      assert.equal(status, 200, text);
      return text;
    };
    const load = async (path: string) => csvRows(await see(path));
    /** The file of the list that a page shows. */
    const loadFrom = (path: string) => load(path.replace(/(?=\?|$)/, '.csv'));
    return { visitor, home, see, load, loadFrom };
  }

  /** In minor units, as sums of floating-point numbers are not exact. */
  const cents = (rows: readonly Record<string, string>[], column: string) =>
    rows.reduce((sum, row) => sum + Math.round(Number(row[column]) * 100), 0);

  /** The links of a chart's table, with what is written on them. */
  const linksOf = (page: string, id: string) => {
    const [, figure = ''] = page.split(`id="${id}"`);
    const [table = ''] = figure.split('</table>');
    return [...table.matchAll(/<tr>\s*<th scope="row">(.*?)<\/tr>/gs)].map(([row]) =>
      [...row.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&')),
    );
  };

  test('come to each figure, bar and point that leads to them', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    const options = { subscriptions: 60, seed: 11, currency: 'EUR', minorDigits: 2 };
    const records = [...generateShop({ ...options, endAt: Date.parse(now) })];
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    const { key } = await createTestKey(world.store, shop.id);
    const { summary } = (await get(`${world.base}/metrics/summary`, key)).body;
    const { see, load, loadFrom, home } = await owner(shop);

    const overview = await see(home);
    for (const path of ['/payments', '/payments?kind=failed', '/revenue/renewals']) {
      assert.ok(overview.includes(`href="${home}${path}"`), path);
    }
    assert.equal(cents(await load('payments.csv'), 'Amount'), Math.round(summary.revenue30d * 100));
    const failed = await load('payments.csv?kind=failed');
    assert.equal(failed.length, summary.failedPayments30d);
    assert.notEqual(failed.length, 0);
    const renewals = await load('revenue/renewals.csv');
    assert.equal(renewals.length, summary.upcomingRenewals7d);
    const value = Math.round(summary.upcomingRenewalsValue7d * 100);
    assert.equal(cents(renewals, 'Price per cycle'), value);

    const page = await see('revenue?days=90&table=open');
    const figures = await load('revenue.csv?table=movements&days=90');
    for (const [index, name] of movements.entries()) {
      const path = `${home}/revenue/movements?movement=${name}&days=90`;
      assert.ok(page.includes(`href="${path.replace('&', '&amp;')}"`), path);
      const rows = await loadFrom(path);
      const shown = Math.round(Number(figures[index + 1]?.['This period']) * 100);
      const sum = cents(rows, 'MRR');
      // Each row is rounded by itself.
      assert.ok(Math.abs(sum - shown) <= rows.length / 2 + 1, `${name}: ${sum}, ${shown}`);
      assert.deepEqual(new Set(rows.map((row) => row['Change']?.toLowerCase())).size <= 1, true);
    }
    const table = async (id: string) => load(`revenue.csv?table=${id}&days=90`);
    for (const [id, columns] of [
      ['chart-movements', ['Came', 'Left']],
      ['chart-revenue', ['Revenue']],
      ['chart-renewals-value', ['Value']],
    ] as const) {
      const bars = linksOf(await see(`revenue?days=90&table=open&show=${id}`), id);
      const values = await table(id);
      assert.equal(bars.length, values.length);
      for (const index of [0, 2, values.length - 1]) {
        for (const [column, name] of columns.entries()) {
          const rows = await loadFrom(bars[index]?.[column] ?? '');
          const amount = { Revenue: 'Amount', Value: 'Price per cycle' }[name as string] ?? 'MRR';
          const shown = Math.round(Number(values[index]?.[name]) * 100);
          const difference = Math.abs(Math.abs(cents(rows, amount)) - Math.abs(shown));
          const allowed = amount === 'MRR' ? rows.length / 2 + 1 : 0;
          assert.ok(difference <= allowed, `${id}, ${index}, ${name}: ${difference}`);
        }
      }
    }
    const [href = ''] = linksOf(page, 'chart-mrr').at(-7) ?? [];
    const [point] = (await table('chart-mrr')).slice(-7);
    const closing = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });
    const { MRR: mrr = '' } = point ?? {};
    assert.match(plain(await see(href)), new RegExp(`to ${closing.format(Number(mrr))} `));
  });

  test('say what they are, in words', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    assert.deepEqual((await importAll(world.store, shop, revenueRecords)).refused, []);
    const { see, visitor, home, loadFrom } = await owner(shop);
    const all = await see('revenue/movements');
    assert.match(
      plain(all),
      /MRR went from €35\.00 to €10\.01 Oct 21 – Nov 20, 2026 ?: €0\.01 came, €25\.00 left\./,
    );
    // What the MRR at the start and at the end is of, also where the period begins with a cancellation.
    const idsAt = async (query: string, label: string) => {
      const [, href = ''] =
        new RegExp(`<a href="([^"]*)"\\s*>At the ${label}<`).exec(await see(`revenue${query}`)) ??
        [];
      const rows = await loadFrom(href.replaceAll('&amp;', '&'));
      return rows.map((row) => Number(row['Subscription'])).toSorted();
    };
    assert.deepEqual(await idsAt('', 'start'), [1, 4, 5]);
    assert.deepEqual(await idsAt('', 'end'), [1, 2, 3]);
    assert.deepEqual(await idsAt('?from=2026-11-10&to=2026-11-10', 'start'), [1, 2, 3, 4, 5]);
    assert.deepEqual(await idsAt('?from=2026-11-10&to=2026-11-10', 'end'), [1, 2, 3, 5]);
    assert.deepEqual(
      rowsOf(all.slice(all.indexOf('class="rows"'))).map((row) => row.slice(0, 6)),
      [
        ['5', '4', 'Monthly box', 'Paused', 'every month', '−€5.00'],
        ['4', '3', 'Monthly box', 'Cancelled while active', 'every month', '−€20.00'],
        ['3', '1', 'Monthly box', 'Added', 'every year', '+€0.01'],
        ['2', '2', 'Monthly box', 'New', 'every year', '+€0.01'],
      ],
    );
    const cancelled = plain(await see('revenue/movements?movement=cancelled'));
    assert.match(cancelled, /−€20\.00 of MRR Oct 21 – Nov 20, 2026 ?: cancelled while active\./);
    assert.match(cancelled, /Total −€20\.00/);
    assert.match(plain(all), /Total −€24\.99/);
    const payments = await see('payments');
    assert.match(
      plain(payments),
      /€7\.50 revenue Oct 21 – Nov 20, 2026 ?: €10\.00 in payments, less €2\.50 in refunds\./,
    );
    assert.deepEqual(
      rowsOf(payments.slice(payments.indexOf('class="rows"'))).map((row) => row.slice(3)),
      [
        ['Refunded', '−€2.50', 'Nov 5, 2026'],
        ['Paid', '€10.00', 'Nov 1, 2026'],
      ],
    );
    assert.match(plain(await see('payments?kind=refunds&first=2026-11-06')), /€0\.00 in refunds/);
    assert.match(plain(await see('payments?segment=x&status=paused')), /€0\.00 revenue/);
    const renewals = await see('revenue/renewals?week=5');
    assert.match(plain(renewals), /1 subscription for €10\.00 expected to renew Dec 18 – 25, 2026/);
    assert.match(plain(renewals), /Total €10\.00/);
    assert.match(plain(await see('revenue/renewals?status=paused')), /0 subscriptions for €0\.00/);
    for (const [path, message] of [
      [
        'revenue/movements?movement=gone',
        /“gone” is not a change of MRR\. Choose came, left, new, /,
      ],
      [
        'revenue/movements?first=2026-11-31',
        /“2026-11-31” is not a day\. Write one as in 2026-11-20\./,
      ],
      ['revenue/movements?cursor=x', /This address continues another list/],
      [
        'payments?kind=pending',
        /“pending” is not a kind of payment\. Choose succeeded, refunds or failed\./,
      ],
      ['payments?cursor=paid', /This address continues another list/],
      ['payments?cursor=paid.x', /This address continues another list/],
      ['revenue/renewals?week=9', /“9” is not a week ahead\. Choose one from 1 to 8\./],
      ['revenue/renewals?week=2&status=active', /only the next 7 days are known\. Choose week 1\./],
    ] as const) {
      const { status, text } = await visitor.get(`${home}/${path}`);
      assert.equal(status, 400, path);
      assert.match(plain(text), message, path);
      // A file begins with the first row.
      if (path.includes('cursor')) continue;
      const file = await visitor.get(`${home}/${path.replace('?', '.csv?')}`);
      assert.equal(file.status, 303, path);
    }
  });

  test('count a cycle that failed on several days once, on the last of them', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    const failures = ['2026-11-02', '2026-11-04', '2026-11-09'].map((day, index) =>
      payment(index + 1, { status: 'failed', cycle: '7', processedAt: `${day}T00:00:00Z` }),
    );
    const records = [plan(), subscription(1001), ...failures];
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    const { load } = await owner(shop);
    const days = async (query: string) =>
      (await load(`payments.csv?kind=failed${query}`)).map((row) =>
        row['Time (UTC)']?.slice(0, 10),
      );
    assert.deepEqual(await days(''), ['2026-11-09']);
    assert.deepEqual(await days('&first=2026-11-02&last=2026-11-04'), []);
    assert.deepEqual(await days('&from=2026-11-01&to=2026-11-05'), ['2026-11-04']);
    assert.deepEqual(await days('&from=2026-11-01&to=2026-11-05&last=2026-11-03'), []);
  });

  test('are in pages that follow one another, though payments and refunds have equal numbers', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    const at = '2026-11-10T00:00:00Z';
    const ids = Array.from({ length: 40 }, (_, index) => index + 1);
    const records = [
      plan(),
      subscription(1001),
      ...ids.map((id) => payment(id, { cycle: String(id), processedAt: at })),
      ...ids.map((id) => ({ type: 'refund', id, paymentId: id, amount: '1.00', refundedAt: at })),
    ];
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    const { see } = await owner(shop);
    const seen: string[] = [];
    for (let path: string | undefined = 'payments'; path !== undefined;) {
      const page = await see(path);
      seen.push(...rowsOf(page.slice(page.indexOf('class="rows"'))).map((row) => row[3] ?? ''));
      path = /class="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    assert.deepEqual(seen, [...ids.map(() => 'Refunded'), ...ids.map(() => 'Paid')]);
  });
});
