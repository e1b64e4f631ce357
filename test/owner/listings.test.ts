import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { line, plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import {
  type World,
  createShop,
  createTestKey,
  get,
  importAll,
  startWorld,
} from '../support/world.ts';
import { plain, rowsOf } from './page-text.ts';
import { type Page, type Visitor, signedInOwner } from './visitor.ts';

const statuses = ['active', 'paused', 'cancelled', 'expired', 'failed'];
const outcomes = ['saved', 'cancelled', 'abandoned', null];
const reasons = ['too_expensive', 'not_using', 'other'];

/**
 * 130 subscriptions, many created at the same time, 60 of them of customer 501, in another order than their ids; and 110
 * sessions.
 */
const records = [
  plan(),
  plan({ id: 12, name: 'Season & <b>more</b>', intervalUnit: 'week', intervalCount: 12 }),
  ...Array.from({ length: 130 }, (_, index) =>
    subscription(1001 + index, {
      customerId: index < 60 ? 501 : 600 + index,
      planId: 11 + (index % 2),
      status: index % 2 === 0 ? 'active' : statuses[index % 5],
      createdAt: `2026-10-0${index < 60 ? 1 + (index % 2) : 1 + Math.floor(index / 40)}T00:00:00Z`,
      lines: [{ ...line, currentPrice: `${index}.30`, quantity: 1 }],
      ...(index % 3 === 0 && { nextBillingDate: '2026-12-01T00:00:00Z' }),
      ...(index % 7 === 0 && { intervalUnit: 'month', intervalCount: 2 }),
    }),
  ),
  ...Array.from({ length: 110 }, (_, index) =>
    session(7001 + index, {
      detectedReason: reasons[index % 3],
      outcome: outcomes[index % 4],
      createdAt: `2026-11-0${1 + Math.floor(index / 40)}T00:00:00Z`,
      ...(index % 2 === 0 && { subscriptionId: 1001 + index, offerType: 'pause' }),
    }),
  ),
];

onOneDatabase('the owner’s listings', (open) => {
  let world: World;
  let visitor: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open(), { currency: 'EUR' });
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    ({ visitor } = await signedInOwner(world));
    home = `/app/shops/${world.shop.id}`;
  });
  after(() => world.close());

  const see = async (path: string, status = 200): Promise<Page> => {
    const page = await visitor.get(path, { 'accept-language': 'en-GB' });
    assert.equal(page.status, status, path);
    return page;
  };

  /** The rows of all pages of a listing, by following its `next` links. */
  async function walk(path: string): Promise<string[][]> {
    const rows: string[][] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const { text } = await see(next);
      rows.push(...rowsOf(text));
      const link: string | undefined = /href="([^"]+)"\s+rel="next"/.exec(text)?.[1];
      next = link?.replaceAll('&amp;', '&');
    }
    return rows;
  }

  /** All rows from the REST API. */
  async function list<Row>(name: string, query: string): Promise<Row[]> {
    const rows: Row[] = [];
    for (let cursor = ''; ;) {
      const { body } = await get(`${world.base}/${name}?limit=100${query}${cursor}`, world.key);
      rows.push(...body[name]);
      if (body.nextCursor === null) return rows;
      cursor = `&cursor=${body.nextCursor}`;
    }
  }

  interface Subscription {
    readonly subscriptionId: number;
    readonly customerId: number;
    readonly status: string;
    readonly planName: string;
    readonly currentPrice: number;
    readonly nextBillingDate: string | null;
    readonly createdAt: string;
  }

  const cellsOf = (row: Subscription) => {
    const index = row.subscriptionId - 1001;
    const every = index % 7 === 0 ? '2 months' : index % 2 === 0 ? 'month' : '12 weeks';
    const isBilled = ['active', 'paused'].includes(row.status);
    return [
      String(row.subscriptionId),
      String(row.customerId),
      row.planName,
      row.status[0]?.toUpperCase() + row.status.slice(1),
      `€${row.currentPrice.toFixed(2)} every ${every}`,
      `€${(row.currentPrice / { '2 months': 2, month: 1, '12 weeks': (12 * 84) / 365 }[every]).toFixed(2)}`,
      row.nextBillingDate === null ? 'Unknown' : `${isBilled ? '' : 'was '}1 Dec 2026`,
      `${Number(row.createdAt.slice(8, 10))} Oct 2026`,
    ];
  };

  test('show the same subscriptions as the API, on all pages and for each status', async () => {
    for (const query of ['', ...statuses.map((status) => `&status=${status}`)]) {
      const expected = (await list<Subscription>('subscriptions', query)).map(cellsOf);
      assert.equal(expected.length, { '': 130, '&status=active': 78 }[query] ?? 13);
      assert.deepEqual(await walk(`${home}/subscriptions?${query.slice(1)}`), expected, query);
    }
    assert.deepEqual(rowsOf((await see(`${home}/subscriptions?status=paused`)).text)[0], [
      '1122',
      '721',
      'Season & <b>more</b>',
      'Paused',
      '€121.30 every 12 weeks',
      '€43.92',
      'Unknown',
      '4 Oct 2026',
    ]);
  });

  test('show a customer’s subscriptions as in the API, on all pages', async () => {
    const all = await list<Subscription>('subscriptions', '');
    const expected = all.filter(({ customerId }) => customerId === 501);
    assert.equal(expected.length, 60);
    const path = `${home}/subscriptions?customer=501`;
    assert.deepEqual(await walk(path), expected.map(cellsOf));
    assert.deepEqual(await walk(`${path}&order=oldest`), expected.map(cellsOf).toReversed());
    const failed = expected.filter(({ status }) => status === 'failed').map(cellsOf);
    assert.equal(failed.length, 6);
    assert.deepEqual(await walk(`${path}&status=failed`), failed);
    assert.deepEqual(await walk(`${home}/subscriptions?customer=99999999999999999999`), []);
  });

  test('show the same sessions as the API, on all pages and for each outcome', async () => {
    interface Session {
      readonly sessionId: number;
      readonly detectedReason: string;
      readonly outcome: string | null;
      readonly offerType: string | null;
      readonly createdAt: string;
    }
    const labels: Record<string, string> = {
      too_expensive: 'Too expensive',
      not_using: 'Not using it',
      other: 'Other',
      saved: 'Saved',
      cancelled: 'Cancelled',
      abandoned: 'Abandoned',
      null: 'In progress',
    };
    const worthOf = (index: number) => (index + 0.3) / (index % 7 === 0 ? 2 : 1);
    for (const query of ['', '&outcome=saved', '&outcome=cancelled', '&outcome=abandoned']) {
      const expected = (await list<Session>('cancellations', query)).map((row) => [
        row.offerType === null ? 'None' : String(row.sessionId - 6000),
        labels[row.detectedReason],
        row.offerType === null ? 'None' : 'Pause',
        labels[String(row.outcome)],
        row.offerType === null ? '–' : `€${worthOf(row.sessionId - 7001).toFixed(2)}`,
        String(row.sessionId),
        `${Number(row.createdAt.slice(8, 10))} Nov 2026`,
      ]);
      assert.equal(expected.length, { '': 110, '&outcome=abandoned': 27 }[query] ?? 28);
      assert.deepEqual(
        await walk(`${home}/cancel-flow/sessions?${query.slice(1)}`),
        expected,
        query,
      );
    }
    const { text } = await see(`${home}/cancel-flow`);
    const { summary } = (await get(`${world.base}/metrics/summary`, world.key)).body;
    assert.equal(summary.saveRate, 0.3373);
    assert.match(plain(text), /33\.7% saved\. .* 110 sessions began /);
  });

  test('open a subscription by number, or say that it does not exist', async () => {
    const { location } = await see(`${home}/subscriptions?subscription=+1003+`, 303);
    assert.equal(location, `${home}/subscriptions/1003`);
    for (const number of ['9', '0', '-1', '1e3', '01003', 'x', '9'.repeat(300), '%00', '%F0%9F']) {
      const { text } = await see(`${home}/subscriptions?subscription=${number}`, 404);
      assert.match(plain(text), /This shop has no subscription|” is not a subscription number/);
      assert.equal(rowsOf(text).length, 50);
    }
    assert.equal(rowsOf((await see(`${home}/subscriptions?subscription=`)).text).length, 50);
  });

  test('say what is wrong with an address, with a link to the list', async () => {
    const other = await createShop(world.store);
    assert.deepEqual((await importAll(world.store, other, records)).refused, []);
    const { visitor: stranger } = await signedInOwner({ ...world, shop: other });
    const nextOf = async (path: string, who = visitor, shop = world.shop) => {
      const { text } = await who.get(`/app/shops/${shop.id}/${path}`);
      return /[?&;]cursor=([^"&]+)" rel="next"/.exec(text)?.[1] ?? 'none';
    };
    const own = await nextOf('subscriptions');
    const cursor = /This address continues another list, or one with other filters\./;
    const cases: [string, RegExp][] = [
      [
        'subscriptions?status=none',
        /“none” is not a status\. Choose active, paused, cancelled, expired or failed\./,
      ],
      ['subscriptions?status=%00', /” is not a status\./],
      ['subscriptions?status=<script>alert(1)</script>', /” is not a status\./],
      ['subscriptions?customer=501&status=none', /“none” is not a status\./],
      ['subscriptions?cursor=none', cursor],
      ['subscriptions?cursor=%00', cursor],
      [`subscriptions?cursor=${'A'.repeat(5000)}`, cursor],
      [`subscriptions?cursor=${await nextOf('subscriptions', stranger, other)}`, cursor],
      [`subscriptions?status=failed&cursor=${own}`, cursor],
      [`subscriptions?customer=501&cursor=${own}`, cursor],
      [`subscriptions?order=oldest&cursor=${own}`, cursor],
      [
        'cancel-flow/sessions?outcome=open',
        /“open” is not an outcome\. Choose saved, cancelled, abandoned/,
      ],
      ['cancel-flow/sessions?cursor=x', cursor],
      [`cancel-flow/sessions?cursor=${own}`, cursor],
    ];
    for (const [path, message] of cases) {
      const { text } = await see(`${home}/${path}`, 400);
      assert.match(plain(text), message, path);
      assert.match(text, /See all, from the first page/);
      assert.doesNotMatch(text, /<script>/);
    }
    const next = await see(`${home}/subscriptions?cursor=${own}`);
    assert.equal(rowsOf(next.text)[0]?.[0], '1080');
  });

  test('say that a search for a customer is not for a number, and keep what was searched for', async () => {
    for (const [sought, message] of [
      ['0', /“0” is not a customer number\. Search by number or by the id at the source/],
      ['ana@example.com', /“ana@example\.com” is not a customer number\./],
      ['Ana', /“Ana” is not a customer number\./],
      ['cus_9', /This shop has no customer cus_9\./],
    ] as const) {
      const query = new URLSearchParams({ customer: sought });
      const { text } = await see(`${home}/subscriptions?${query}`, 404);
      assert.match(plain(text), message);
      assert.match(text, new RegExp(`name="customer"[^>]*value="${sought}"`));
      assert.equal(rowsOf(text).length, 50);
    }
  });

  test('escape query parameters', async () => {
    const hostile = encodeURIComponent('"><script>alert(1)</script>');
    for (const [query, status] of [
      [`subscription=${hostile}`, 404],
      [`customer=${hostile}`, 404],
      [`status=active&customer=77${hostile}`, 404],
    ] as const) {
      const { text } = await see(`${home}/subscriptions?${query}`, status);
      assert.doesNotMatch(text, /<script>|"><script/, query);
    }
  });

  test('respond 404 for any page of another shop', async () => {
    const shop = await createShop(world.store);
    const foreign = [
      plan({ name: 'Plan of another' }),
      subscription(9001),
      subscription(1002),
      session(9501, { subscriptionId: 9001 }),
    ];
    assert.deepEqual((await importAll(world.store, shop, foreign)).refused, []);
    const { key } = await createTestKey(world.store, shop.id);
    const { body } = await get(`${world.base}/subscriptions?limit=1`, key);
    const theirs = `/app/shops/${shop.id}`;
    const paths = [
      `${theirs}/subscriptions`,
      `${theirs}/subscriptions?status=active&cursor=${body.nextCursor}`,
      `${theirs}/subscriptions?subscription=9001`,
      `${theirs}/subscriptions?customer=501`,
      `${theirs}/subscriptions/9001`,
      `${theirs}/subscriptions/1002`,
      `${theirs}/cancel-flow`,
      `${theirs}/cancel-flow/sessions?outcome=saved`,
      `${home}/subscriptions/9001`,
      `${home}/subscriptions/0`,
      `${home}/subscriptions/01001`,
      `${home}/subscriptions/1001.0`,
      `${home}/subscriptions/1e3`,
      `${home}/subscriptions/9007199254740993`,
      `${home}/subscriptions/${'9'.repeat(90)}`,
      `${home}/subscriptions/%00`,
      `${home}/subscriptions/1001%00`,
      `${home}/subscriptions/%3Cscript%3E`,
      `/app/shops/${world.shop.id}%00/subscriptions`,
      `/app/shops/0${world.shop.id}/subscriptions`,
      `/app/shops/${'9'.repeat(90)}/cancel-flow`,
    ];
    for (const path of paths) {
      const { text } = await see(path, 404);
      assert.match(plain(text), /This page does not exist/, path);
      assert.doesNotMatch(text, /Plan of another|<script>/);
    }
    assert.match((await see(`${home}/subscriptions/1002`)).text, /Season &amp; &lt;b&gt;more/);
    const ids = (await walk(`${home}/subscriptions`)).map(([id]) => id);
    assert.equal(new Set(ids).size, 130);
    assert.ok(!ids.includes('9001'));
  });
});
