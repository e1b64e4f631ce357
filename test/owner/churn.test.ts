import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { churnGroupsFromRecords } from '../../src/metrics/segments/churn.ts';
import { ageBands } from '../../src/metrics/churn.ts';
import { insertEvent } from '../../src/store/owners/events.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import {
  type TestShop,
  type World,
  createShop,
  get,
  importAll,
  now,
  startWorld,
} from '../support/world.ts';
import { csvRows } from './csv-rows.ts';
import { addMany } from './many-subscriptions.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const day = 86_400_000;
const ended = (id: number, createdAt: string, to: string, at: string, over: object = {}) =>
  subscription(id, {
    customerId: id,
    status: to,
    createdAt: `${createdAt}T00:00:00Z`,
    statusEvents: [{ at, to }],
    ...over,
  });

/** Who left, in a shop where it is known by heart; now is 20 November, 12:00. */
const records = [
  plan(),
  plan({ id: 12, name: 'Tea' }),
  subscription(1, { customerId: 1, createdAt: '2025-01-01T00:00:00Z' }),
  ended(2, '2026-11-01', 'cancelled', '2026-11-19T08:00:00Z'),
  ended(3, '2026-01-01', 'failed', '2026-11-19T09:00:00Z', { planId: 12 }),
  ended(4, '2025-01-01', 'cancelled', '2026-10-21T11:00:00Z'),
  ended(5, '2025-01-01', 'cancelled', '2026-10-21T13:00:00Z', { planId: 12 }),
  ended(6, '2026-03-01', 'expired', '2026-11-10T00:00:00Z'),
  subscription(7, {
    customerId: 7,
    createdAt: '2026-03-01T00:00:00Z',
    statusEvents: [
      { at: '2026-11-02T00:00:00Z', to: 'cancelled' },
      { at: '2026-11-03T00:00:00Z', to: 'active' },
    ],
  }),
  session(7001, { subscriptionId: 2, outcome: 'cancelled', createdAt: '2026-11-19T07:00:00Z' }),
  session(7002, {
    subscriptionId: 1,
    outcome: 'saved',
    detectedReason: 'not_using',
    createdAt: '2026-11-18T07:00:00Z',
  }),
];

onOneDatabase('the pages of churn', (open) => {
  let world: World;
  let visitor: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open());
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    ({ visitor } = await signedInOwner(world));
    home = `/app/shops/${world.shop.id}/churn`;
  });
  after(() => world.close());

  const rowsAt = async (path: string, who = visitor) => {
    const { status, text } = await who.get(path);
    assert.equal(status, 200, path);
    return csvRows(text);
  };
  const words = (markup: string) =>
    markup
      .replaceAll(/<\/?t[dhr]\b[^>]*>/g, ' ')
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ');
  const listedIds = (text: string) =>
    [...text.matchAll(/<th scope="row"><a href="[^"]*\/(\d+)"/g)].map(([, id]) => Number(id));

  test('say when the data begins, if that is too late for the period compared with', async () => {
    const see = async (from: string) =>
      words((await visitor.get(`${home}?from=${from}&to=2026-06-30&compare=year`)).text);
    assert.match(
      await see('2025-06-01'),
      /Churn 0 of 6, earlier data incomplete\. .* The data begins Jan 1, 2025, too late to compare\./,
    );
    assert.match(await see('2026-01-01'), /In the period compared with, 0 left\./);
    const { text } = await visitor.get(`${home}?from=2025-01-01&to=2025-12-31&compare=year`);
    assert.match(words(text), /No earlier data/);
  });

  test('mark imports and alerts on the time axis, with words', async () => {
    const shop = await createShop(world.store);
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const note = (at: string, kind: 'import' | 'alert', detail: string) =>
      insertEvent(world.store.write, shop.id, { at: new Date(at), kind, detail });
    await note('2026-11-10T00:00:00Z', 'alert', 'Churn is 5%.');
    await note('2026-11-10T23:59:59.999Z', 'import', '1200');
    await note('2026-11-10T12:00:00Z', 'import', '34');
    await note('2026-10-01T00:00:00Z', 'alert', 'Out of the period.');
    const path = `/app/shops/${shop.id}/churn`;
    const { text } = await owner.get(`${path}?per=day&table=open`);
    assert.equal(text.split(' r="4"').length, 2);
    const said = 'Imported: 1,234 records · Alert: Churn is 5%.';
    assert.match(words(text), new RegExp(`Nov 10, 2026 \\d+ \\d+ .*${said}`));
    const rows = await rowsAt(`${path}.csv?table=chart-churn&per=day`, owner);
    assert.deepEqual(
      rows.flatMap((row) => (row['Noted'] ? [[row['First day (UTC)'], row['Noted']]] : [])),
      [['2026-11-10', said]],
    );
    // Imports of most days say nothing about one of them.
    for (const date of ['12', '13', '14', '15', '16', '17', '18', '19']) {
      await note(`2026-11-${date}T00:00:00Z`, 'import', '1');
    }
    const { text: daily } = await owner.get(`${path}?per=day&table=open`);
    assert.equal(daily.split(' r="4"').length, 2);
    assert.doesNotMatch(daily, /Imported/);
  });

  test('are one click from the overview, for who left last week and what they were worth', async () => {
    const { text } = await visitor.get(home.replace('/churn', ''));
    const [, href = '', shown = ''] =
      /<p>\s*<a href="([^"]+)">(.*? left in .*?)<\/p>/s.exec(text) ?? [];
    assert.match(
      words(shown),
      /^2 subscriptions left in the last 7 days, worth \$61\.20 a month\./,
    );
    assert.equal(href, `${home}/left?days=7`);
    const list = await visitor.get(href);
    assert.deepEqual(listedIds(list.text), [3, 2]);
    assert.match(words(list.text), /Total \$61\.20 /);
    // Neither of a past period nor of a segment.
    for (const query of ['?from=2026-06-01&to=2026-06-30', '?plan=11']) {
      const { text: other } = await visitor.get(home.replace('/churn', query));
      assert.doesNotMatch(words(other), /left in the last 7 days/);
    }
  });

  test('give the API’s rate, how many left for which cause, and the way to them', async () => {
    const { status, text } = await visitor.get(`${home}?per=day&table=open`);
    assert.equal(status, 200);
    const { body } = await get(`${world.base}/metrics/summary`, world.key);
    // Of 1, 2, 3, 5, 6 and 7, three were lost; 4 left an hour before the period.
    assert.equal(body.summary.churnRate30d, 0.5);
    assert.match(text, /<bdi>3 of 6<\/bdi>/);
    assert.match(
      words(text),
      /3 subscriptions left: 2 by cancelling, 1 through failed payments\. In the period compared with, 1 left\./,
    );
    assert.match(words(text), /Too expensive 1 1 of 1/);
    assert.doesNotMatch(words(text), /Not using it/);
    const { text: byAge } = await visitor.get(`${home}?by=age`);
    const links = [...(text + byAge).matchAll(/href="(\/app\/shops\/\d+\/churn\/left[^"]*)"/g)].map(
      ([, path = '']) => path.replaceAll('&amp;', '&'),
    );
    const ids = async (part: string) => {
      const path = links.find((each) => each.includes(part));
      assert.ok(path, part);
      return listedIds((await visitor.get(path)).text);
    };
    assert.deepEqual(await ids('/left'), [3, 2, 5]);
    assert.deepEqual(await ids('cause=failed'), [3]);
    assert.deepEqual(await ids('first=2026-11-19'), [3, 2]);
    assert.deepEqual(await ids('left-plan=12'), [3, 5]);
    assert.deepEqual(await ids('left-age=0-29'), [2]);
    const [, file = ''] = /href="([^"]*table=why[^"]*)"/.exec(byAge) ?? [];
    assert.deepEqual(Object.keys((await rowsAt(file.replaceAll('&amp;', '&')))[0] ?? {}), [
      'Age',
      'Part',
      'Before, cases',
      'Before, of',
      'Now, cases',
      'Now, of',
      'Rate',
      'Mix',
    ]);
    // The bar of the day in which the period begins.
    assert.deepEqual(await ids('first=2026-10-21'), [5]);
  });

  test('count what takes long only when asked, where there are very many subscriptions', async () => {
    const { store } = world;
    const shop = await createShop(store);
    await importAll(store, shop, records);
    const opened = await signedInOwner({ ...world, shop });
    const partOf = async (path: string, id: string) => {
      const { text } = await opened.visitor.get(path);
      return text.slice(text.indexOf(`id="${id}"`));
    };
    const why = async (query = '') =>
      words(await partOf(`/app/shops/${shop.id}/churn${query}`, 'why'));
    const revenue = `/app/shops/${shop.id}/revenue`;
    const kept = /Net revenue retention.*Gross revenue retention.*Quick ratio/;
    assert.match(await why(), /Plan Part Before Now Rate Mix/);
    const counted = words(await partOf(revenue, 'retention'));
    assert.match(counted, kept);
    await addMany(store, shop.id, 1);
    assert.match(await why(), /Choose what to tell it by: for so many subscriptions/);
    assert.match(await why('?by=plan'), /Plan Part Before Now Rate Mix/);
    const short = await partOf(`${revenue}?days=30`, 'retention');
    assert.doesNotMatch(words(short), /Net revenue/);
    const [, query = ''] = /href="[^"]*\?([^"#]*)#retention"/.exec(short) ?? [];
    assert.equal(query, 'days=30&amp;table=retention');
    const asked = `?${query.replace('&amp;', '&')}`;
    assert.equal(words(await partOf(revenue + asked, 'retention')), counted);
    assert.match(
      (await opened.visitor.get(`${revenue}.csv${asked}`)).text,
      /^Net revenue retention,/m,
    );
    // The chart's own table, from there.
    assert.match((await opened.visitor.get(revenue + asked)).text, /days=30&amp;table=open/);
  });

  test('keep the segment on the way to what left', async () => {
    const { text } = await visitor.get(`${home}?plan=12&per=day&table=open`);
    const links = [...text.matchAll(/href="[^"]*\/churn\/left\?([^"]*)"/g)].map(([, query = '']) =>
      new URLSearchParams(query.replaceAll('&amp;', '&')).get('plan'),
    );
    // Those of 30 bars, and of the text.
    assert.ok(links.length > 30, String(links.length));
    assert.deepEqual(new Set(links), new Set(['12']));
  });

  test('say who left, why, and what the cancel flow heard', async () => {
    const { text } = await visitor.get(`${home}/left?from=2026-11-19&to=2026-11-19`);
    assert.match(words(text), /2 subscriptions left Nov 19, 2026 ?, worth \$61\.20 a month/);
    assert.match(words(text), /3 3 Tea Failed payments \$30\.60 322 days Nov 19, 2026/);
    assert.match(words(text), /2 2 Monthly box Too expensive \$30\.60 18 days Nov 19, 2026/);
    const empty = await visitor.get(`${home}/left?from=2026-11-20&to=2026-11-20`);
    assert.match(empty.text, /No subscriptions match these filters/);
  });

  test('name what is wrong with an address', async () => {
    for (const [query, message] of [
      ['cause=bored', '“bored” is not a cause. Choose cancelled or failed.'],
      ['left-plan=x', '“x” is not a plan number. Choose one of the plans.'],
      ['left-age=old', '“old” is not an age in days. Choose 0-29, 30-89, 90-179, 180-364 or 365.'],
      ['first=noon', '“noon” is not a day. Write one as in 2026-11-20.'],
      ['cursor=x', 'This address continues another list'],
    ] as const) {
      const { status, text } = await visitor.get(`${home}/left?${query}`);
      assert.equal(status, 400, query);
      assert.ok(words(text).includes(message), `${query}: ${words(text)}`);
    }
    const file = await visitor.get(`${home}/left.csv?left-plan=x`);
    assert.equal(file.location, `${home}/left?left-plan=x`);
    const { status, text } = await visitor.get(`${home}?from=2026-11-31&to=x`);
    assert.equal(status, 400);
    assert.match(text, /“x” is not a date, so there is no last day/);
    assert.equal((await visitor.get(`${home}.csv?table=none`)).status, 404);
    // Sessions of the cancel flow are not lost to failed payments.
    const reasons = await visitor.get(`${home}.csv?table=reasons`);
    assert.match(reasons.text, /^\uFEFF?Reason,Sessions\r\nToo expensive,1\r\n/);
  });

  test('explain an empty shop', async () => {
    const shop = await createShop(world.store);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const path = `/app/shops/${shop.id}/churn`;
    assert.match((await owner.get(path)).text, /No data yet[^]*made-up shop<\/p>\s*<div inert>/);
    assert.match((await owner.get(`${path}/left`)).text, /No subscription left/);
    assert.equal((await owner.get(`${path}.csv?table=reasons`)).status, 404);
  });

  async function createDemo(): Promise<TestShop> {
    const shop = await createShop(world.store, { currency: 'JPY' });
    const options = { subscriptions: 600, seed: 3, currency: 'JPY', minorDigits: 0 };
    await importAll(world.store, shop, [...generateShop({ ...options, endAt: Date.parse(now) })]);
    return shop;
  }

  test('equal the records: every bar and row leads to as many as it counts', async () => {
    const shop = await createDemo();
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const path = `/app/shops/${shop.id}/churn`;
    for (const days of [30, 90, 365]) {
      const window = {
        from: Date.parse(now) - days * day,
        until: Date.parse(now),
        now: Date.parse(now),
      };
      const groups = await churnGroupsFromRecords(world.store.write, shop.id, window);
      const sum = (of: typeof groups) => of.reduce((total, { count }) => total + count, 0);
      const left = await rowsAt(`${path}/left.csv?days=${days}`, owner);
      assert.equal(left.length, sum(groups));
      assert.deepEqual(
        left.map((row) => row['Left (UTC)']),
        left
          .map((row) => row['Left (UTC)'])
          .toSorted()
          .toReversed(),
      );
      const plans = await rowsAt(`${path}.csv?table=why&days=${days}`, owner);
      assert.ok(plans.length > 5);
      for (const { Plan = '', 'Now, cases': count } of plans) {
        const own = left.filter((row) => row['Plan'] === Plan);
        assert.equal(Number(count), own.length, Plan);
      }
      for (const band of ageBands) {
        const own = await rowsAt(`${path}/left.csv?days=${days}&left-age=${band.name}`, owner);
        assert.equal(own.length, sum(groups.filter(({ age }) => age === band)), band.name);
      }
      const bars = await rowsAt(`${path}.csv?table=chart-churn&days=${days}`, owner);
      for (const bar of bars) {
        const [first, last] = [bar['First day (UTC)'] ?? '', bar['Last day (UTC)'] ?? ''];
        const own = left.filter((row) => {
          const on = (row['Left (UTC)'] ?? '').slice(0, 10);
          return on >= first && on <= last;
        });
        assert.equal(Number(bar['Cancelled']) + Number(bar['Failed payments']), own.length, first);
      }
    }
  });
});
