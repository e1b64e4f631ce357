import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { at, repriced, repricedRecords } from '../metrics/price-records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { plan } from '../rest/records.ts';
import { type World, createShop, importAll, startWorld } from '../support/world.ts';
import { csvRows } from './csv-rows.ts';
import { plain } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

onOneDatabase('what price changes did', (open) => {
  let world: World;
  let visitor: Visitor;
  before(async () => {
    world = await startWorld(open());
    assert.deepEqual((await importAll(world.store, world.shop, repricedRecords)).refused, []);
    ({ visitor } = await signedInOwner(world));
  });
  after(() => world.close());

  async function see(path: string) {
    const { status, text } = await visitor.get(`/app/shops/${world.shop.id}${path}`);
    assert.equal(status, 200, text);
    return text;
  }
  const tableIn = (page: string) => page.split('<h2 id="prices">')[1]?.split('</section>')[0] ?? '';
  const cells = (table: string) =>
    [...table.matchAll(/<t[hd]\b[^>]*>(.*?)(?=<\/?t[rhd]\b|<\/tbody|<\/thead)/gs)].map(
      ([, cell = '']) => plain(cell),
    );
  const linksIn = (table: string) =>
    [
      ...table.matchAll(
        /<td[^>]*>\s*<a href="[^"]*\/app\/shops\/\d+([^"]+)"|<th scope="row"[^>]*>\s*<a href="[^"]*\/app\/shops\/\d+([^"]+)"/g,
      ),
    ].map(([, cell, head]) => (cell ?? head ?? '').replaceAll('&amp;', '&'));

  test('is what they added, less what those who left since were worth, beside the churn of the shop', async () => {
    // From 220 to 242 a month, of which 22 each left after 5, 29 and 31 days: +22 and −66. Of the 16 that were live in
    // those days, paused ones and trials too, these three left.
    assert.deepEqual(cells(tableIn(await see('/revenue'))), [
      'Change',
      'Net',
      'Subscriptions',
      'MRR added',
      'Left since',
      'MRR lost',
      'Churn of the shop',
      'Box Aug 3, 2026 : $22.00 to $24.20 each',
      '−$44.00',
      '10',
      '+$22.00',
      '3 of 10 may be chance',
      '−$66.00',
      '3 of 16 in those days',
    ]);
    const early = cells(tableIn(await see('/revenue?within=30'))).slice(-7);
    assert.deepEqual(early.slice(1), [
      '−$22.00',
      '10',
      '+$22.00',
      '2 of 10 may be chance',
      '−$44.00',
      '2 of 16 in those days',
    ]);
    const [row] = csvRows(await see('/revenue.csv?table=prices&within=30'));
    assert.deepEqual(row, {
      'Day (UTC)': '2026-08-03',
      'Plan number': '11',
      Plan: 'Box',
      Net: '-22',
      Subscriptions: '10',
      'MRR added': '22',
      'MRR before': '220',
      'Left within 30 days': '2',
      'MRR lost': '-44',
      Currency: 'USD',
      'Churn rate of the shop': '0.125',
    });
  });

  test('leads to those whose price changed, to those of them who left, and to the churn of those days', async () => {
    const [changed = '', left = '', churn = ''] = linksIn(tableIn(await see('/revenue')));
    const all = plain(await see(changed));
    assert.match(
      all,
      /10 subscriptions changed price Aug 3, 2026, \+\$22\.00 of MRR\. 4 of them left since/,
    );
    assert.equal(csvRows(await see(changed.replace('?', '.csv?'))).length, 10);
    const some = plain(await see(left));
    assert.match(
      some,
      /3 subscriptions changed price .* 3 of them left within 90 days, worth \$66\.00 a month\./,
    );
    const rows = csvRows(await see(left.replace('?', '.csv?')));
    assert.deepEqual(
      rows.map((each) => [
        each['Subscription'],
        each['Worth a month when it left'],
        each['Left (UTC)'],
      ]),
      [
        ['9', '22', '2026-08-08T09:00:00.000Z'],
        ['7', '22', '2026-09-03T09:00:00.000Z'],
        ['6', '22', '2026-09-01T09:00:00.000Z'],
      ],
    );
    assert.match(plain(await see(churn)), /Churn 3 of 16/);
  });

  test('counts a subscription once that changed twice, and left', async () => {
    const shop = await createShop(world.store);
    const twice = repriced(1, '20.00', '24.00', {
      valueEvents: [
        { at: at('01-01'), mrr: '20.00' },
        { at: at('08-03'), mrr: '22.00' },
        { at: at('09-03'), mrr: '24.00' },
      ],
      status: 'cancelled',
      statusEvents: [{ at: at('09-20'), to: 'cancelled' }],
    });
    assert.deepEqual((await importAll(world.store, shop, [plan({ id: 11 }), twice])).refused, []);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const path = `/app/shops/${shop.id}/revenue/prices`;
    const page = plain((await owner.get(`${path}?days=365`)).text);
    assert.match(
      page,
      /1 subscription changed price .*, \+\$4\.00 of MRR\. 1 of them left since, worth \$24\.00 a month\./,
    );
    assert.match(page, /1 to 2 of 2/);
    assert.equal(csvRows((await owner.get(`${path}.csv?days=365`)).text).length, 2);
  });

  test('is nothing in a year without any', async () => {
    const table = plain(tableIn(await see('/revenue?from=2025-01-01&to=2025-12-31')));
    assert.match(table, /10 or more subscriptions of a plan .* None\.$/);
  });
});
