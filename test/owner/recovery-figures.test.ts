import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import type { Period } from '../../src/metrics/bounds.ts';
import { toSummary } from '../../src/metrics/figures.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { dunningCasesAt } from '../model/history.ts';
import type { Upsert } from '../model/records.ts';
import { subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, now, startWorld } from '../support/world.ts';
import { csvRows } from './csv-rows.ts';
import { answerOf, plain, rowsOf } from './page-text.ts';
import { signedInOwner } from './visitor.ts';

const at = Date.parse(now);
const day = 86_400_000;

/** Paid at the sixth attempt, in each of the periods. */
const oftenFailed = [
  subscription(9_000_001, { customerId: 9_000_001, planId: 11, createdAt: '2026-01-01T00:00:00Z' }),
  ...[21, 22, 23, 24, 25, 26, 27].map((on, index, days) => ({
    type: 'payment',
    id: 9_000_001 + index,
    subscriptionId: 9_000_001,
    cycle: '1',
    status: index === days.length - 1 ? 'succeeded' : 'failed',
    amount: '12.00',
    processedAt: `2026-10-${on}T18:00:00Z`,
  })),
];

/** A rate of few is written as what it is of. */
function rateText(n: number, of: number, share = n / of): string {
  if (of < 50) return of === 0 ? '–' : `${n} of ${of}`;
  return new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 }).format(
    share,
  );
}

/** How the attempts to collect in cases that closed in a period ended, in four groups; none is missing. */
function attemptsIn(records: readonly Upsert[], period: Period) {
  const payments = Map.groupBy(
    records.filter((each) => each.type === 'payment'),
    ({ subscriptionId }) => subscriptionId,
  );
  const attempts = [1, 2, 3, 4].map(() => ({
    succeeded: 0,
    failed: 0,
    failedIn: 0,
    cases: 0,
  }));
  for (const record of records) {
    if (record.type !== 'subscription') continue;
    for (const each of dunningCasesAt(record, payments.get(record.id) ?? [], at)) {
      if (each.closedAt === undefined) continue;
      if (each.closedAt < period.from || each.closedAt >= period.until) continue;
      const failedIn = new Set<number>();
      for (const [index, hasSucceeded] of each.attempts.entries()) {
        const group = Math.min(index, 3);
        attempts[group]![hasSucceeded ? 'succeeded' : 'failed'] += 1;
        if (!hasSucceeded) failedIn.add(group);
      }
      for (const group of failedIn) attempts[group]!.failedIn += 1;
      for (const group of attempts.slice(0, each.attempts.length)) group.cases += 1;
    }
  }
  return attempts;
}

onOneDatabase('the figures of the recovery page', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  test('agrees with the summary for any period, and every number leads to its rows', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    const options = { subscriptions: 300, seed: 7, endAt: at, currency: 'EUR', minorDigits: 2 };
    const records = [...generateShop(options), ...oftenFailed];
    await importAll(world.store, shop, records);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const path = `/app/shops/${shop.id}/recovery`;
    const load = async (url: string) =>
      (await owner.get(url, { 'accept-language': 'en-US' })).text.replaceAll('\u00A0', ' ');
    const rowsIn = async (url: string) => {
      const csv = url.replace('/closed', '/closed.csv').replace('/open', '/open.csv');
      return (await load(csv)).split('\r\n').length - 2;
    };
    let rates = 0;
    for (const [query, period] of [
      ['', { from: at - 30 * day, until: at }],
      ['?days=365', { from: at - 365 * day, until: at }],
      [
        '?from=2026-10-05&to=2026-11-10',
        { from: Date.parse('2026-10-05'), until: Date.parse('2026-11-11') },
      ],
    ] as const) {
      const page = await load(`${path}${query}${query === '' ? '?' : '&'}table=open`);
      const row = await summariseMetrics(world.store.primary.analyse, shop.id, at, period);
      const { recoveryRate } = toSummary(row, 'EUR', at);
      const shown = rateText(row.dunningRecovered, row.dunningClosed, recoveryRate);
      const when = period.until === at ? 'now' : 'just before Nov 11, 2026, 12:00 AM UTC ';
      const owed = `${row.dunningActive} payments outstanding ${when}, €`;
      assert.ok(answerOf(page).startsWith(owed), answerOf(page));
      assert.ok(
        answerOf(page).includes(
          ` ${shown} ${row.dunningClosed < 50 ? 'payments' : 'of those'} closed`,
        ),
        answerOf(page),
      );
      const lost = row.dunningClosed - row.dunningRecovered;
      assert.ok(plain(page).includes(`${row.dunningRecovered} recovered, ${lost} lost`));
      // Every number of the tables, and every bar.
      const links = [
        ...page.matchAll(
          /href="([^"]*\/recovery\/(?:closed|open)\?[^"]*)"\s*>(\d+)(?: payments?)?</g,
        ),
      ];
      assert.notEqual(links.length, 0);
      for (const [, href = '', count] of links) {
        assert.equal(await rowsIn(href.replaceAll('&amp;', '&')), Number(count), href);
      }
      // Every amount, and the rates by code.
      for (const [, href = '', amount = ''] of page.matchAll(
        /<td class="amount"[^>]*>\s*<a href="([^"]*)"\s*>€([\d.,]+)<\/a\s*>/g,
      )) {
        const csv = href.replaceAll('&amp;', '&').replace('/closed', '/closed.csv');
        const cents = csvRows(await load(csv)).map((each) =>
          Math.round(Number(each['Amount']) * 100),
        );
        const sum = cents.reduce((total, each) => total + each, 0);
        assert.equal(sum, Math.round(Number(amount.replace(',', '')) * 100), href);
      }
      for (const [, counts = '', href = ''] of page.matchAll(
        /((?:<td class="number" data-label="\w+">\s*<a href="[^"]*code=[^"]*"\s*>\d+<\/a\s*>\s*){2})<td class="number main" data-label="Rate">\s*<a href="([^"]*)"/g,
      )) {
        const sum = plain(counts)
          .split(' ')
          .reduce((total, each) => total + Number(each), 0);
        assert.equal(await rowsIn(href.replaceAll('&amp;', '&')), sum, href);
        rates += 1;
      }
      const attempts = attemptsIn(records as Upsert[], period);
      const later = attempts[3]!;
      assert.ok(later.failed > later.failedIn && later.failedIn > 0);
      const section =
        page.slice(page.indexOf('<h2 id="recovery-attempts"')).split('</section>', 1)[0] ?? '';
      assert.deepEqual(
        rowsOf(section).map(([, succeeded, failed, rate]) => [succeeded, failed, rate]),
        attempts.map(({ succeeded, failed, failedIn }) => [
          String(succeeded),
          failed === failedIn
            ? String(failed)
            : `${failed} in ${failedIn} payment${failedIn === 1 ? '' : 's'}`,
          rateText(succeeded, succeeded + failed),
        ]),
      );
      // Each rate leads to the cases in which there was such an attempt.
      const tried = [...section.matchAll(/href="([^"]*retries=[^"]*)"/g)].map(
        async ([, href = '']) => rowsIn(href.replaceAll('&amp;', '&')),
      );
      assert.deepEqual(
        await Promise.all(tried),
        attempts.map(({ cases }) => cases).filter((cases) => cases > 0),
      );
      const file = await load(
        `${path}/charts.csv${query}${query === '' ? '?' : '&'}chart=recovery-attempts`,
      );
      assert.deepEqual(
        csvRows(file).map((each) => [Number(each['Recovered']), Number(each['Failed'])]),
        attempts.map(({ succeeded, failed }) => [succeeded, failed]),
      );
      const [figure = ''] = /<h2 id="recovered">.*?<\/figure>/s.exec(page) ?? [];
      const bars = [
        ...figure.matchAll(/<th scope="row">\s*<a href="([^"]*)".*?<td>(\d+)<td>(\d+)/gs),
      ];
      const counts = bars.map(([, , recovered, gone]) => Number(recovered) + Number(gone));
      assert.equal(
        counts.reduce((sum, each) => sum + each, 0),
        row.dunningClosed,
      );
      for (const [index, [, href = '']] of bars.entries()) {
        assert.equal(await rowsIn(href.replaceAll('&amp;', '&')), counts[index], href);
      }
      assert.equal(await rowsIn(`${path}/closed${query}`), row.dunningClosed);
      assert.equal(await rowsIn(`${path}/open${query}`), row.dunningActive);
    }
    assert.notEqual(rates, 0);
  });
});
