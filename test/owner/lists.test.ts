import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { encodePlace } from '../../src/owner/framework/cursor.ts';
import { lists } from '../../src/owner/routes.ts';
import { appendEntry } from '../../src/store/owners/audit.ts';
import { addLoggedRequests } from '../../src/store/keys/requests.ts';
import { orList } from '../../src/metrics/segments/segment.ts';
import { onOneDatabase } from '../support/databases.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { type World, createShop, importAll, now, startWorld } from '../support/world.ts';
import { csvRows } from './csv-rows.ts';
import { plain, rowsOf } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

onOneDatabase('every list', (open) => {
  let world: World;
  let visitor: Visitor;
  let stranger: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open(), { currency: 'EUR' });
    const { store, shop } = world;
    const options = { subscriptions: 200, seed: 3, currency: 'EUR', minorDigits: 2 };
    const records = [...generateShop({ ...options, endAt: Date.parse(now) })];
    const paid = Map.groupBy(
      records.flatMap((each) => (each.type === 'payment' ? each.subscriptionId : [])),
      (id) => id,
    );
    const [longest] = [...paid].toSorted(([, one], [, other]) => other.length - one.length);
    customer = records.flatMap((each) =>
      each.type === 'subscription' && each.id === longest?.[0] ? each.customerId : [],
    )[0] as number;
    const failed = records
      .flatMap((each) => (each.type === 'subscription' && each.status === 'active' ? each.id : []))
      .slice(0, 60)
      .map((subscriptionId, index) => ({
        type: 'payment',
        id: 9_000_001 + index,
        subscriptionId,
        cycle: 'last',
        status: 'failed',
        amount: `${index % 40}.50`,
        processedAt: new Date(Date.parse(now) - (index >> 1) * 60_000).toISOString(),
      }));
    assert.deepEqual((await importAll(store, shop, [...records, ...failed])).refused, []);
    const requests = Array.from({ length: 120 }, (_, index) => ({
      at: new Date(Date.parse(now) - index * 500),
      requestId: randomUUID(),
      keyId: 'key',
      transport: 'rest' as const,
      operation: 'list_plans',
      status: index % 3 === 0 ? 404 : 200,
      microseconds: 1000 + ((index * 37) % 100),
      dropped: 0,
    }));
    await addLoggedRequests(store.write, [{ shopId: shop.id, requests }]);
    for (let index = 1; index <= 120; index += 1) {
      await appendEntry(store.write, shop.id, {
        at: new Date(Date.parse(now) - (index >> 1) * 60_000 - 1),
        by: { who: 'command line', session: `command ${index}` },
        what: index % 3 === 0 ? 'key_created' : 'tier_set',
        target: `tier ${index}`,
      });
    }
    ({ visitor } = await signedInOwner(world));
    ({ visitor: stranger } = await signedInOwner({ ...world, shop: await createShop(store) }));
    home = `/app/shops/${shop.id}`;
  });
  after(() => world.close());

  const see = async (path: string) => {
    const { status, text } = await visitor.get(path);
    assert.equal(status, 200, path);
    return text;
  };

  /** The heads of a page's table, each with the direction in which it is sorted by it. */
  const headsOf = (page: string) =>
    [
      ...(/class="rows".*?<thead>(.*)<\/thead>/s
        .exec(page)?.[1]
        ?.matchAll(/<th([^>]*)>(.*?)<\/th>/gs) ?? []),
    ].map(([, attributes = '', head = '']) => ({
      label: plain(head),
      name: plain(head).toLowerCase().replaceAll(' ', '-'),
      sorted: /aria-sort="(\w+)"/.exec(attributes)?.[1],
      path: /href="([^"]+)"/.exec(head)?.[1]?.replaceAll('&amp;', '&'),
    }));

  const fileOf = (page: string) =>
    (/href="([^"]+)">Download CSV/.exec(page)?.[1] ?? '').replaceAll('&amp;', '&');

  const nextOf = (page: string) =>
    /class="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');

  const previousOf = (page: string) =>
    /href="([^"]+)" rel="prev"/.exec(page)?.[1]?.replaceAll('&amp;', '&');

  /** The rows of all pages, by following their links. */
  async function walk(first: string): Promise<string[]> {
    const rows: string[] = [];
    for (let path: string | undefined = first; path !== undefined;) {
      const page: string = await see(path);
      rows.push(...rowsOf(page.slice(page.indexOf('class="rows"'))).map((row) => row.join('\t')));
      path = nextOf(page);
    }
    return rows;
  }

  /** As a page says it: more than 1,000 rows are not counted where they have to be read. */
  const countOf = (rows: readonly string[], page: string) =>
    plain(page).includes('of more than 1,000') ? 1000 : rows.length;

  const month = now.slice(0, 4) + '-03';
  let customer: number;

  for (const list of lists) {
    const pathOf = () =>
      home + list.info.path.replace(':month', month).replace(':customerId', String(customer));
    const orders = Object.keys(list.orders);

    test(`${list.info.path} has the same rows on its pages, in its file and in each order`, async () => {
      const path = `${pathOf()}?days=365&rows=100`;
      const rows = await walk(path);
      assert.ok(rows.length > 5, String(rows.length));
      assert.equal(new Set(rows).size, rows.length, 'each row once');
      for (const order of orders) {
        const page = await see(`${path}&order=${order}`);
        const sorted = await walk(`${path}&order=${order}`);
        assert.deepEqual(sorted.toSorted(), rows.toSorted(), order);
        assert.equal(csvRows(await see(fileOf(page))).length, rows.length);
        const by = headsOf(page).find((head) => head.sorted !== undefined);
        assert.ok(by, `${order} has no head`);
        const chosen = fileOf(page).replace(/$|(?<=\.csv)\?/, `?columns=${by.name}&`);
        const file = csvRows(await see(chosen));
        const heads = Object.keys(file[0] ?? {});
        const first =
          heads.find(
            (each) => !/^(?:(?:Sub|Cus|Ses|Req)\w+(?: at source)?|What|Target)$/.test(each),
          ) ?? '';
        const values = file.map((row) => row[first] ?? '');
        const compare = (a: string, b: string) =>
          first.includes('(UTC)') ? a.localeCompare(b) : Number(a) - Number(b);
        const expected = values.toSorted(compare);
        assert.deepEqual(values, by.sorted === 'ascending' ? expected : expected.toReversed());
        // Its link turns the order round.
        const turned = await see(by.path ?? '');
        assert.notEqual(headsOf(turned).find(({ label }) => label === by.label)?.sorted, by.sorted);
        assert.deepEqual(await walk(by.path ?? ''), sorted.toReversed(), order);
      }
    });

    test(`${list.info.path} says which rows a page has, and has 50 or 100`, async () => {
      const path = `${pathOf()}?days=365`;
      const shownOn = (page: string) =>
        /([\d,]+) to ([\d,]+) of (?:more than )?([\d,]+)/
          .exec(plain(page))
          ?.slice(1)
          .map((text) => Number(text.replaceAll(',', '')));
      const rows = await walk(path);
      for (const size of [50, 100]) {
        const sized = `${path}&rows=${size}`;
        assert.deepEqual(await walk(sized), rows);
        let from = 0;
        let end = sized;
        for (let next: string | undefined = sized; next !== undefined;) {
          const page: string = await see(next);
          const last = Math.min(from + size, rows.length);
          assert.deepEqual(shownOn(page), [from + 1, last, countOf(rows, page)], next);
          assert.equal(page.includes('aria-label="Rows per page"'), rows.length > 50);
          const isOfRecords = !['/developers/requests', '/audit'].includes(list.info.path);
          assert.equal(page.includes('data-copies="ids"'), isOfRecords);
          // A script finds the ids in the rows, where they are as the source writes them.
          assert.doesNotMatch(page, /<pre id="ids"/);
          from += size;
          end = next;
          next = nextOf(page);
        }
        // And back to the first.
        for (let back: string | undefined = end; back !== undefined;) {
          const page: string = await see(back);
          from -= size;
          const last = Math.min(from + size, rows.length);
          assert.deepEqual(shownOn(page), [from + 1, last, countOf(rows, page)], back);
          const [first] = rowsOf(page.slice(page.indexOf('class="rows"')));
          assert.equal(first?.join('\t'), rows[from], back);
          back = previousOf(page);
        }
        assert.equal(from, 0);
      }
      assert.match(
        plain((await visitor.get(`${path}&rows=7`)).text),
        /“7” is not a number of rows\. Choose 50 or 100\./,
      );
    });

    test(`${list.info.path} shows the columns that are chosen, also in its file and on further pages`, async () => {
      const path = `${pathOf()}?days=365`;
      const [whole, second] = [await see(path), headsOf(await see(path)).at(-1)];
      assert.ok(second);
      const page = await see(`${path}&columns=${second.name}`);
      const [head = ''] = headsOf(whole).map(({ label }) => label);
      assert.deepEqual(
        headsOf(page).map(({ label }) => label),
        [head, second.label],
      );
      for (const row of await walk(`${path}&columns=${second.name}`)) {
        assert.equal(row.split('\t').length, 2);
      }
      const heads = (text: string) => Object.keys(csvRows(text)[0] ?? {});
      const all = heads(await see(fileOf(whole)));
      const some = heads(await see(fileOf(page)));
      assert.ok(some.length < all.length, some.join());
      assert.deepEqual(
        all.filter((each) => some.includes(each)),
        some,
      );
      // The boxes of the form say the same.
      const [, form = ''] = /<a class="shown-columns"\s+href="([^"#]+)#/.exec(page) ?? [];
      const opened = await see(form.replaceAll('&amp;', '&'));
      const boxes = [...opened.matchAll(/name="columns"\s+value="([\w-]+)"([^>]*)>/g)];
      assert.deepEqual(
        boxes.filter(([, , more = '']) => more.includes('checked')).map(([, name]) => name),
        [second.name],
      );
    });

    test(`${list.info.path} keeps the columns that are chosen in all its links`, async () => {
      const path = `${pathOf()}?days=365`;
      const [, second, third] = headsOf(await see(path));
      assert.ok(second && third);
      const page = await see(`${path}&columns=${second.name}&columns=${third.name}`);
      const own = [...page.matchAll(/href="([^"]+)"/g)]
        .map(([, href = '']) => href.replaceAll('&amp;', '&'))
        .filter((href) => href.startsWith(`${pathOf()}?`) && href.includes('columns='));
      assert.ok(own.length > 0);
      for (const href of own) {
        const names = new URL(href, world.base).searchParams.getAll('columns').join(',');
        assert.equal(names, `${second.name},${third.name}`, href);
        assert.equal((await visitor.get(href)).status, 200, href);
      }
    });

    test(`${list.info.path} says what is wrong with its address`, async () => {
      for (const [query, message] of [
        ['order=none', `“none” is not an order. Choose ${orList(orders)}.`],
        ['columns=none', /“none” is not a column\. Choose [\w-]+(?:, [\w-]+)* or [\w-]+\./],
        ['cursor=none', /This address continues another list/],
        [`cursor=${'A'.repeat(5000)}`, /This address continues another list/],
      ] as const) {
        const { status, text } = await visitor.get(`${pathOf()}?${query}`);
        assert.equal(status, 400, query);
        if (typeof message === 'string') assert.ok(plain(text).includes(message), plain(text));
        else assert.match(plain(text), message);
        const file = await visitor.get(`${pathOf()}.csv?${query}`);
        if (query.startsWith('cursor')) {
          assert.equal(file.status, 200, 'a file has all pages');
          continue;
        }
        assert.deepEqual([file.status, file.location], [303, `${pathOf()}?${query}`]);
      }
    });

    test(`${list.info.path} is not for the owner of another shop`, async () => {
      for (const path of [pathOf(), `${pathOf()}.csv`]) {
        const { status, text } = await stranger.get(path);
        assert.equal(status, 404, path);
        assert.match(plain(text), /This page does not exist/);
      }
    });
  }

  test('a cohort that there is not has no file, whatever else is wrong with the address', async () => {
    for (const each of [
      '2026-13',
      '0000-01',
      '%E2%82%AC',
      '%0d%0a',
      '%2e%2e%2f%2e%2e',
      '..%2f..',
    ]) {
      const { status } = await visitor.get(`${home}/cohorts/${each}/customers.csv?plan=x`);
      assert.equal(status, 404, each);
    }
  });

  test('an age that no subscription can have continues no list', async () => {
    const path = `${home}/churn/left?order=longest&days=365`;
    const page = await see(path);
    const next = new URL(
      /class="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '',
      world.base,
    );
    const given = next.searchParams.get('cursor') ?? '';
    const place = { createdAt: 1, id: 1, ageDays: 2 ** 31 };
    const identity = `${world.shop.id} ${home}/churn/left {"days":"365"} longest`;
    const [text = ''] = given.split('.');
    assert.equal(
      encodePlace(identity, JSON.parse(Buffer.from(text, 'base64url').toString())),
      given,
    );
    next.searchParams.set('cursor', encodePlace(identity, place));
    assert.equal((await visitor.get(`${next.pathname}${next.search}`)).status, 400);
  });

  test('another figure of subscriptions keeps the chosen columns that it has', async () => {
    const page = await see(`${home}/subscriptions?figure=cancelled&columns=plan&columns=cancelled`);
    const links = [...page.matchAll(/href="([^"]+figure=(?:active|new|paused)[^"]*)"/g)];
    assert.ok(links.length >= 3, String(links.length));
    for (const [, href = ''] of links) {
      assert.match(href, /columns=plan$/);
      await see(href.replaceAll('&amp;', '&'));
    }
  });

  test('sums what all pages come to', async () => {
    const page = await see(`${home}/payments?kind=succeeded&days=365`);
    const [, foot = ''] = /<tfoot>(.*)<\/tfoot>/s.exec(page) ?? [];
    const file = csvRows(await see(fileOf(page)));
    const cents = file.reduce((sum, row) => sum + Math.round(Number(row['Amount']) * 100), 0);
    const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });
    assert.equal(plain(foot), `Total ${money.format(cents / 100)}`);
    assert.ok(file.length > 100, String(file.length));
    assert.doesNotMatch(await see(`${home}/payments?kind=failed&days=365`), /<tfoot>/);
  });

  test('show a subscription in a trial as worth nothing yet, and add up to MRR', async () => {
    const shop = await createShop(world.store, { currency: 'EUR' });
    const records = [
      plan(),
      subscription(1, { lines: [{ ...line, quantity: 1, currentPrice: '10.00' }] }),
      subscription(2, {
        lines: [{ ...line, quantity: 1, currentPrice: '3.25' }],
        createdAt: '2026-11-18T00:00:00Z',
        trialEndsAt: '2026-11-25T00:00:00Z',
      }),
    ];
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    for (const query of ['', '?order=highest', '?customer=501', '?figure=active', '?plan=11']) {
      const path = `/app/shops/${shop.id}/subscriptions`;
      const rows = rowsOf((await owner.get(`${path}${query}`)).text);
      const worth = rows.map(
        (cells) => cells.find((cell) => / after trial /.test(cell)) ?? cells[5],
      );
      assert.deepEqual(worth.toSorted(), ['€10.00', '€3.25 after trial €0.00'], query);
      const file = csvRows((await owner.get(`${path}.csv${query}`)).text);
      assert.deepEqual(
        file.map((each) => [each['Worth a month after trial'], each['Worth a month']]).toSorted(),
        [
          ['10', '10'],
          ['3.25', '0'],
        ],
        query,
      );
    }
  });
});
