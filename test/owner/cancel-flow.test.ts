import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, get, importAll, startWorld } from '../support/world.ts';
import { session } from '../rest/records.ts';
import { flowRecords } from './insight-records.ts';
import { plain, rowsOf } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

onOneDatabase('the cancel-flow page', (open) => {
  let world: World;
  let visitor: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open(), { currency: 'EUR' });
    assert.deepEqual((await importAll(world.store, world.shop, flowRecords)).refused, []);
    ({ visitor } = await signedInOwner(world));
    home = `/app/shops/${world.shop.id}/cancel-flow`;
  });
  after(() => world.close());

  const see = async (path: string) => {
    const { status, text } = await visitor.get(home + path);
    assert.equal(status, 200, text);
    return text;
  };
  const load = async (path: string) => (await see(path)).slice(0, -2).split('\r\n');

  test('lists sessions by what they are worth, while they are not too many to read', async () => {
    const path = (shop: { readonly id: number }, query: string) =>
      `/app/shops/${shop.id}/cancel-flow/sessions?${query}`;
    const { text: list } = await visitor.get(path(world.shop, 'order=highest'));
    assert.match(list, /aria-sort="descending"[^>]*>\s*<a[^>]*order=lowest[^>]*>Worth</);
    const shop = await createShop(world.store);
    const many = Array.from({ length: 1_001 }, (_, index) =>
      session(index + 1, { detectedReason: index < 3 ? 'not_using' : 'other' }),
    );
    assert.deepEqual((await importAll(world.store, shop, many)).refused, []);
    const { visitor: other } = await signedInOwner({ ...world, shop });
    const { text: all } = await other.get(path(shop, ''));
    assert.match(all, /order=oldest/);
    assert.doesNotMatch(all, /order=(?:highest|lowest)/);
    const { status, text } = await other.get(path(shop, 'order=highest'));
    assert.equal(status, 400);
    assert.match(plain(text), /At most 1000 rows are sorted by what they are worth\. Choose a/);
    const few = await other.get(path(shop, 'order=highest&reason=not_using'));
    assert.deepEqual(
      rowsOf(few.text).map((row) => row.at(-2)),
      ['3', '2', '1'],
    );
  });

  test('says which offer saves most, and shows the API’s figures', async () => {
    const { summary } = (await get(`${world.base}/metrics/summary`, world.key)).body;
    assert.deepEqual([summary.saveRate, summary.cancelSessions30d], [0.5417, 25]);
    const page = await see('');
    const text = plain(page);
    assert.match(text, /“Pause” saves most: 9 of 12 sessions, against 13 of 24 overall\./);
    assert.match(text, /13 of 24 saved, too few before , 1 of 2 before/);
    // Two subscriptions that were saved are not active any more; one was saved twice.
    assert.match(
      text,
      /25 sessions began Oct 21 – Nov 20, 2026 \(UTC\), 1 in progress; 2 began in the period compared with\. .* bring in €10\.00 a month today, from 1 subscription\./,
    );
    // The rate leads to the sessions that it is a share of.
    assert.match(page, new RegExp(`<a href="${home}/sessions\\?outcome=ended"\\s*>13 of 24</a`));
    assert.match(plain(await see('/sessions?outcome=ended')), /24 sessions began/);
    const keptPath = `/app/shops/${world.shop.id}/subscriptions?figure=kept`;
    assert.ok(page.includes(`<a href="${keptPath}">€`));
    const { text: kept } = await visitor.get(keptPath);
    assert.match(
      plain(kept),
      /1 subscription , active now, whose last saved session began Oct 21 – Nov 20, 2026 ?\./,
    );
    assert.deepEqual(
      rowsOf(kept).map(([id, , , , , , saved]) => [id, saved]),
      [['1', 'Nov 13, 2026']],
    );
    assert.match(kept, /<caption class="visually-hidden">\s*Subscriptions, the last saved first/);
    const { text: file } = await visitor.get(keptPath.replace('?', '.csv?'));
    assert.match(
      file,
      /,Saved \(UTC\),Created \(UTC\)\r\n1,.*,2026-11-13T00:00:00\.000Z,2026-08-01T00:00:00\.000Z\r\n$/,
    );
    // Its session of October was not its last.
    const october = await visitor.get(`${keptPath}&from=2026-10-01&to=2026-10-31`);
    assert.match(plain(october.text), /0 subscriptions , active now, whose last saved session/);
    assert.match(
      plain(await see('?days=90')),
      /in progress; data begins Aug 1, 2026, too late to compare\./,
    );
    const september = plain(await see('?from=2026-09-01&to=2026-09-30'));
    assert.match(september, /No session that began in this period has ended\./);
    const earlier = plain(await see('?from=2026-10-01&to=2026-10-31'));
    assert.match(
      earlier,
      /1 of 2 saved, nothing to compare with \. Fewer than 10 sessions ended after each offer/,
    );
  });

  test('names all offers of the same rate, and says if no offer saves more', async () => {
    const answerOf = async (...groups: [offer: string | null, saved: number, ended: number][]) => {
      const shop = await createShop(world.store);
      const records = groups.flatMap(([offerType, saved, ended], group) =>
        Array.from({ length: ended }, (_, index) =>
          session(1 + group * 100 + index, {
            detectedReason: 'other',
            offerType,
            outcome: index < saved ? 'saved' : 'cancelled',
            createdAt: '2026-11-10T00:00:00Z',
          }),
        ),
      );
      assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
      const { visitor: owner } = await signedInOwner({ ...world, shop });
      const { text } = await owner.get(`/app/shops/${shop.id}/cancel-flow`);
      const answer = plain(/<p class="answer">(.*?)<\/p>/s.exec(text)?.[1] ?? '');
      return answer.replace(/^\d+ of \d+ saved\. /, '');
    };
    assert.equal(
      await answerOf(['offer_discount', 7, 21], ['pause', 5, 15], ['swap', 1, 10]),
      '“Discount” and “Pause” save most: 7 of 21 and 5 of 15 sessions, against 13 of 46 overall. That may be chance.',
    );
    assert.equal(
      await answerOf(['offer_discount', 7, 21], ['pause', 4, 15], [null, 9, 12]),
      'Most were saved without an offer: 9 of 12 sessions. Of the offers, “Discount” saves most: 7 of 21 sessions, against 20 of 48 overall. That may be chance.',
    );
    // More than the next best, and without another, than all other sessions.
    for (const others of [
      [['swap', 10, 40]],
      [
        ['swap', 1, 9],
        [null, 9, 31],
      ],
    ] as [string | null, number, number][][]) {
      assert.match(
        await answerOf(['pause', 20, 40], ...others),
        /“Pause” saves most: 20 of 40 sessions, against 37\.5% overall\.$/,
      );
    }
    assert.match(
      await answerOf(['offer_discount', 30, 40], ['pause', 5, 40], [null, 14, 16]),
      /Most were saved without an offer: 14 of 16 .* That may be chance\.$/,
    );
    // As much is not more, and too few say nothing.
    for (const without of [
      [null, 4, 12],
      [null, 9, 9],
    ] as const) {
      assert.match(
        await answerOf(['pause', 7, 21], [...without]),
        /“Pause” saves most: 7 of 21 .* That may be chance\.$/,
      );
    }
  });

  test('shows the save rate by reason and offer, “–” where nothing ended', async () => {
    const page = await see('');
    const matrix = page
      .slice(page.indexOf('<table class="parts matrix"'))
      .replace(/<span class="visually-hidden">.*?<\/span>/gs, '')
      .replace(/<tr[^>]*>/g, '<tr>');
    assert.deepEqual(rowsOf(matrix.slice(0, matrix.indexOf('</table>'))), [
      ['Too expensive', '4 of 10', '–', '–', '–', '0 of 2', '4 of 12'],
      ['Not using it', '–', '9 of 12', '–', '–', '–', '9 of 12'],
      ['All reasons', '4 of 10', '9 of 12', '–', '–', '0 of 2', '13 of 24'],
    ]);
    assert.ok(
      page.includes(`href="${home}/sessions?reason=not_using&amp;offer=pause&amp;outcome=ended"`),
    );
    const lines = await load('.csv?table=matrix');
    assert.equal(lines[0], 'Reason,Offer,Sessions ended,Saved,Save rate');
    assert.equal(lines.length, 1 + 2 * 5);
    assert.deepEqual(lines.slice(5, 8), [
      'Too expensive,None,2,0,0',
      'Not using it,Discount,0,0,',
      'Not using it,Pause,12,9,0.75',
    ]);
    const days = await load('.csv?table=chart-outcomes&per=day');
    assert.equal(days[0], 'First day (UTC),Last day (UTC),Saved,Cancelled,Abandoned');
    const total = (column: number) =>
      days.slice(1).reduce((sum, each) => sum + Number(each.split(',')[column]), 0);
    assert.deepEqual([total(2), total(3), total(4)], [13, 5, 6]);
    const rates = await load('.csv?table=chart-save-rate&per=day');
    assert.equal(rates.length, 1 + 31);
    assert.ok(rates.includes('2026-11-01,2026-11-01,'));
    for (const table of ['', 'none', 'constructor']) {
      assert.equal((await visitor.get(`${home}.csv?table=${table}`)).status, 404);
    }
  });

  test('lists the sessions of any filter in the address', async () => {
    const ids = async (query: string) =>
      rowsOf(await see(`/sessions?${query}`)).map((cells) => cells[5]);
    assert.equal((await ids('')).length, 25);
    assert.deepEqual(await ids('outcome=in_progress'), ['7025']);
    assert.equal((await ids('outcome=ended')).length, 24);
    assert.deepEqual(await ids('offer=none'), ['7024', '7023']);
    assert.equal((await ids('reason=too_expensive&offer=offer_discount')).length, 10);
    assert.equal((await ids('reason=not_using&outcome=saved')).length, 9);
    assert.deepEqual(await ids('from=2026-10-01&to=2026-10-01'), ['7901']);
    const ofBar = 'outcome=saved&first=2026-11-10&last=2026-11-10';
    assert.ok(
      (await see('?per=day&table=open')).includes(`/sessions?${ofBar.replaceAll('&', '&amp;')}"`),
    );
    assert.deepEqual(await ids(ofBar), ['7001']);
    assert.equal((await ids('days=90')).length, 27);
    const file = await load('/sessions.csv?offer=none&outcome=cancelled');
    assert.equal(file.length, 1 + 2);
    const page = await see('/sessions?reason=other&days=90');
    assert.match(page, /<option value="other" selected>/);
    assert.match(page, /<input type="hidden" name="days" value="90" \/>/);
    assert.ok(page.includes('sessions?days=90&amp;outcome=saved&amp;reason=other"'));
    for (const [query, message] of [
      ['reason=none', /“none” is not a reason\. Choose too_expensive, /],
      ['offer=gift', /“gift” is not an offer\. Choose offer_discount, /],
    ] as const) {
      const { status, text } = await visitor.get(`${home}/sessions?${query}`);
      assert.equal(status, 400);
      assert.match(plain(text), message);
    }
  });

  test('says what will be here in a shop without records', async () => {
    const shop = await createShop(world.store);
    const { visitor: stranger } = await signedInOwner({ ...world, shop });
    const path = `/app/shops/${shop.id}/cancel-flow`;
    assert.match((await stranger.get(path)).text, /No sessions yet/);
    assert.match((await stranger.get(`${path}/sessions`)).text, /No sessions in the last 30 days/);
    assert.equal((await stranger.get(`${path}.csv`)).status, 404);
  });
});
