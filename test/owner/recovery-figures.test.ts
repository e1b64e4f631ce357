import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { toSummary } from '../../src/metrics/figures.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, now, startWorld } from '../support/world.ts';
import { plain } from './page-text.ts';
import { signedInOwner } from './visitor.ts';

const at = Date.parse(now);
const day = 86_400_000;

onOneDatabase('the figures of the recovery page', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  const answerOf = (page: string) =>
    plain(/<p class="answer">.*?<\/p>\s*<p>.*?<\/p>/s.exec(page)?.[0] ?? '');

  test('agrees with the summary for any period, and every number leads to its rows', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    const options = { subscriptions: 300, seed: 7, endAt: at, currency: 'EUR', minorDigits: 2 };
    await importAll(world.store, shop, [...generateShop(options)]);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const path = `/app/shops/${shop.id}/recovery`;
    const load = async (url: string) =>
      (await owner.get(url, { 'accept-language': 'en-US' })).text.replaceAll('\u00A0', ' ');
    const rowsIn = async (url: string) => {
      const csv = url.replace('/closed', '/closed.csv').replace('/open', '/open.csv');
      return (await load(csv)).split('\r\n').length - 2;
    };
    for (const [query, period] of [
      ['', { from: at - 30 * day, until: at }],
      ['?days=365', { from: at - 365 * day, until: at }],
      [
        '?from=2026-10-05&to=2026-11-02',
        { from: Date.parse('2026-10-05'), until: Date.parse('2026-11-03') },
      ],
    ] as const) {
      const page = await load(path + query);
      const row = await summariseMetrics(world.store.primary.analyse, shop.id, at, period);
      const { recoveryRate } = toSummary(row, 'EUR', at);
      const now30 = await summariseMetrics(world.store.primary.analyse, shop.id, at);
      const shown = new Intl.NumberFormat('en-US', {
        style: 'percent',
        maximumFractionDigits: 2,
      }).format(recoveryRate);
      assert.ok(answerOf(page).startsWith(`${now30.dunningActive} payments outstanding, €`));
      assert.ok(answerOf(page).includes(` ${shown} of those closed`), answerOf(page));
      const lost = row.dunningClosed - row.dunningRecovered;
      assert.ok(plain(page).includes(`${row.dunningRecovered} recovered, ${lost} lost`));
      // Every number of the tables, and every bar.
      const links = [
        ...page.matchAll(/href="([^"]*\/recovery\/(?:closed|open)\?[^"]*)"\s*>(\d+)</g),
      ];
      assert.notEqual(links.length, 0);
      for (const [, href = '', count] of links) {
        assert.equal(await rowsIn(href.replaceAll('&amp;', '&')), Number(count), href);
      }
      const [figure = ''] = /<h3 id="recovered">.*?<\/figure>/s.exec(page) ?? [];
      const bars = [
        ...figure.matchAll(
          /<th scope="row">\s*<a href="([^"]*)".*?<td>(\d+)<\/td>\s*<td>(\d+)<\/td>/gs,
        ),
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
      assert.equal(await rowsIn(`${path}/open`), now30.dunningActive);
    }
  });
});
