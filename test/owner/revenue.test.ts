import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../support/databases.ts';
import {
  type TestShop,
  type World,
  createShop,
  createTestKey,
  get,
  importAll,
  startWorld,
} from '../support/world.ts';
import { createAwkwardShop } from './awkward-shop.ts';
import { revenueRecords } from './insight-records.ts';
import { plain } from './page-text.ts';
import { signedInOwner } from './visitor.ts';

/** The movements of a page, as formatted, by name. */
function movementsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/data-movement="(\w+)">([^<]*)</g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('\u00A0', ' '),
    ]),
  );
}

onOneDatabase('the revenue page', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  async function owner(shop: TestShop) {
    const { visitor } = await signedInOwner({ ...world, shop });
    const see = async (path: string) => {
      const { status, text } = await visitor.get(`/app/shops/${shop.id}/${path}`);
      assert.equal(status, 200, text);
      return text;
    };
    const load = async (path: string) => (await see(path)).slice(0, -2).split('\r\n');
    return { visitor, see, load };
  }

  test('says how much MRR came and left, each amount rounded once', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    assert.deepEqual((await importAll(world.store, shop, revenueRecords)).refused, []);
    const { see, load } = await owner(shop);
    const page = await see('revenue');
    const text = plain(page);
    assert.match(text, /MRR fell by €24\.99: €0\.01 came, €25\.00 left\./);
    assert.match(text, /Sep 21 – Oct 21, 2026, when it did not change\./);
    assert.match(text, /rounded once, so the rounded ones may differ from their sum/);
    assert.deepEqual(movementsIn(page), {
      opening: '€35.00',
      new: '+€0.01',
      added: '+€0.01',
      resumed: '€0.00',
      reactivated: '€0.00',
      expansion: '€0.00',
      contraction: '€0.00',
      paused: '−€5.00',
      cancelled: '−€20.00',
      expired: '€0.00',
      failed: '€0.00',
      closing: '€10.01',
    });
    assert.deepEqual(await load('revenue.csv?table=movements'), [
      'Change,This period,Compared with,Currency',
      'At the start,35,35,EUR',
      'New,0.01,0,EUR',
      'Added,0.01,0,EUR',
      'Resumed,0,0,EUR',
      'Reactivated,0,0,EUR',
      'Expansion,0,0,EUR',
      'Contraction,0,0,EUR',
      'Paused,-5,0,EUR',
      'Cancelled while active,-20,0,EUR',
      'Expired,0,0,EUR',
      'Failed,0,0,EUR',
      'At the end,10.01,35,EUR',
    ]);
  });

  test('projects renewals by week, shows each day, and adds up over any period', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    await importAll(world.store, shop, revenueRecords);
    const { key } = await createTestKey(world.store, shop.id);
    const { summary } = (await get(`${world.base}/metrics/summary`, key)).body;
    const { visitor, see, load } = await owner(shop);
    const weeks = await load('revenue.csv?table=chart-renewals');
    assert.deepEqual(
      weeks.slice(1).map((each) => each.split(',').at(-1)),
      ['1', '0', '0', '0', '1', '1', '0', '0'],
    );
    assert.equal(weeks[1], `2026-11-20,2026-11-26,${summary.upcomingRenewals7d}`);
    const values = await load('revenue.csv?table=chart-renewals-value');
    assert.equal(values[1], `2026-11-20,2026-11-26,${summary.upcomingRenewalsValue7d},EUR`);
    assert.deepEqual(
      values.slice(1).map((each) => each.split(',')[2]),
      ['10', '0', '0', '0', '10', '0.06', '0', '0'],
    );
    const mrr = await load('revenue.csv?table=chart-mrr');
    assert.equal(mrr.length, 1 + 31);
    assert.equal(mrr.at(-1), `2026-11-20,2026-11-20,${summary.mrr},35,EUR`);
    assert.equal(mrr.at(-12), '2026-11-09,2026-11-09,35.01,35,EUR');
    const revenue = await load('revenue.csv?table=chart-revenue');
    assert.equal(revenue[0], 'First day (UTC),Last day (UTC),Revenue,"Revenue, before",Currency');
    assert.ok(revenue.includes('2026-11-05,2026-11-05,-2.5,0,EUR'));
    assert.equal(summary.revenue30d, 7.5);
    assert.match(plain(await see('revenue?show=chart-revenue')), /Revenue €7\.50/);
    const moved = await load('revenue.csv?table=chart-movements&days=90');
    assert.deepEqual(
      moved.slice(1).filter((each) => !each.endsWith(',0,0,EUR')),
      [
        '2026-08-29,2026-09-04,25,0,EUR',
        '2026-10-31,2026-11-06,0.01,0,EUR',
        '2026-11-07,2026-11-13,0,25,EUR',
      ],
    );
    const one = plain(await see('revenue?from=2026-11-10&to=2026-11-10'));
    assert.match(one, /MRR fell by €20\.00: €0\.00 came, €20\.00 left\./);
    // What explains it is what changed in the period, whatever it is compared with.
    const since = plain(await see('revenue?from=2026-11-10&to=2026-11-10&compare=year'));
    assert.match(since, /−€20\.00 in all\. .* Monthly box −€20\.00 €35\.01 €15\.01/);
    assert.deepEqual(await load('revenue.csv?table=why&from=2026-11-10&to=2026-11-10'), [
      'Plan,Part,Before,Now,Currency',
      'Monthly box,-20,35.01,15.01,EUR',
    ]);
    // Half a cent a month, and another.
    const cents = await load('revenue.csv?table=why&by=interval&from=2026-11-01&to=2026-11-09');
    assert.ok(cents.includes('Every year,0.01,0,0.01,EUR'), cents.join());
    assert.match(
      plain(await see('revenue?days=365')),
      /data begins Aug 1, 2026, too late to compare/,
    );
    for (const table of ['', 'none', 'constructor']) {
      const { status } = await visitor.get(`/app/shops/${shop.id}/revenue.csv?table=${table}`);
      assert.equal(status, 404);
    }
  });

  for (const currency of ['JPY', 'KWD'] as const) {
    test(`equals the API in ${currency}`, async () => {
      const { shop, expected } = await createAwkwardShop(world.store, currency);
      const { see, load } = await owner(shop);
      const shown = { JPY: ['¥1,000,000,000', '+¥1', '¥1,000,000,001'] }[currency as string] ?? [
        'KWD 1,000,000,000.001',
        '+KWD 0.001',
        'KWD 1,000,000,000.002',
      ];
      const { opening, new: added, closing } = movementsIn(await see('revenue'));
      assert.deepEqual([opening, added, closing], shown);
      const last = async (table: string, line: number) =>
        Number((await load(`revenue.csv?table=${table}`)).at(line)?.split(',')[2]);
      assert.equal(await last('chart-mrr', -1), expected.api['mrr']);
      assert.equal(await last('chart-renewals', 1), expected.api['upcomingRenewals7d']);
      assert.equal(await last('chart-renewals-value', 1), expected.api['upcomingRenewalsValue7d']);
    });
  }

  test('says what will be here in a shop without records', async () => {
    const shop = await createShop(world.store);
    const { visitor, see } = await owner(shop);
    assert.match(await see('revenue'), /No data yet/);
    assert.equal((await visitor.get(`/app/shops/${shop.id}/revenue.csv`)).status, 404);
    const refused = await visitor.get(`/app/shops/${shop.id}/revenue?days=31`);
    assert.equal(refused.status, 400);
    assert.match(plain(refused.text), /“31” is not one of the periods/);
  });

  test('shows a day that has just begun', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    await importAll(world.store, shop, revenueRecords);
    world.clock.advance(12 * 3_600_000);
    const { see } = await owner(shop);
    const query = '?from=2026-11-21&to=2026-11-21';
    assert.match(plain(await see(`revenue${query}`)), /MRR did not change: €0\.00 came/);
    assert.match(plain(await see(`cancel-flow${query}`)), /No session that began/);
  });
});
