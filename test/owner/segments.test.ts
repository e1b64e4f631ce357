import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { line, plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, startWorld } from '../support/world.ts';
import { plain, rowsOf } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const statuses = ['active', 'paused', 'cancelled'];

/** 120 subscriptions: of two plans, two products, three statuses, and prices from 0.50 to 119.50. */
const records = [
  plan({ groupName: 'Boxes' }),
  plan({ id: 12, name: 'Tea & <b>more</b>', groupName: 'Teas', intervalUnit: 'week' }),
  ...Array.from({ length: 120 }, (_, index) =>
    subscription(1001 + index, {
      customerId: 501 + index,
      planId: 11 + (index % 2),
      status: statuses[index % 3],
      createdAt: `2026-0${1 + Math.floor(index / 20)}-10T00:00:00Z`,
      lines: [
        {
          ...line,
          productId: index % 4 < 2 ? 81 : 82,
          productTitle: index % 4 < 2 ? 'Blend' : 'Cup',
          currentPrice: `${index}.50`,
          quantity: 1,
        },
      ],
    }),
  ),
];

onOneDatabase('segments on the owner’s pages', (open) => {
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

  const see = async (path: string, status = 200) => {
    const page = await visitor.get(path, { 'accept-language': 'en-GB' });
    assert.equal(page.status, status, path);
    return page.text.replaceAll(/\s+/g, ' ');
  };
  const idsOf = (body: string) => rowsOf(body).map(([id]) => Number(id));
  const expected = (isIn: (index: number) => boolean) =>
    Array.from({ length: 120 }, (_, index) => index)
      .filter(isIn)
      .map((index) => 1001 + index)
      .toReversed();

  test('the list has the subscriptions that meet all conditions, newest first', async () => {
    for (const [query, isIn] of [
      ['plan=12', (index) => index % 2 === 1],
      ['group=Boxes', (index) => index % 2 === 0],
      ['product=82', (index) => index % 4 >= 2],
      ['interval=week-1&price=100-', (index) => index % 2 === 1 && index >= 100],
      [
        'status=paused&price=10&price=20.5',
        (index) => index % 3 === 1 && index >= 10 && index <= 20,
      ],
      ['product=81&status=active&plan=11', (index) => index % 12 === 0],
      ['plan=13', () => false],
    ] as readonly [string, (index: number) => boolean][]) {
      const found: number[] = [];
      for (let path: string | undefined = `${home}/subscriptions?${query}`; path;) {
        const body: string = await see(path);
        found.push(...idsOf(body));
        const [, next] = /class="next" href="([^"]+)"/.exec(body) ?? [];
        path = next?.replaceAll('&amp;', '&');
      }
      assert.deepEqual(found, expected(isIn), query);
    }
  });

  test('the file has the same rows', async () => {
    const { text: body } = await visitor.get(`${home}/subscriptions.csv?plan=12&status=active`);
    const ids = body
      .trim()
      .split('\r\n')
      .slice(1)
      .map((row) => Number(row.split(',')[0]));
    assert.deepEqual(
      ids,
      expected((index) => index % 2 === 1 && index % 3 === 0),
    );
  });

  test('the page says what is chosen, and removes each condition', async () => {
    const body = await see(`${home}/subscriptions?plan=12&status=active&price=10-20&segment=open`);
    assert.match(plain(body), /Tea & <b>more<\/b> × active × €10\.00 to €20\.00 ×/);
    assert.ok(
      body.includes(
        `href="${home}/subscriptions?plan=12&amp;price=10-20" aria-label="Remove active"`,
      ),
    );
    assert.match(
      body,
      /<option value="12" selected>\s*Tea &amp; &lt;b&gt;more&lt;\/b&gt;\s*<\/option>/,
    );
    // The other ways to filter keep the segment.
    assert.ok(body.includes(`${home}/subscriptions?plan=12&amp;status=paused&amp;price=10-20`));
  });

  test('what is no condition is refused, with what would be one', async () => {
    for (const [query, problem] of [
      ['plan=x', '“x” is not a plan number. Choose one of the plans.'],
      ['product=0', '“0” is not a product number.'],
      [
        'interval=month',
        '“month” is not a billing interval. Write, for example, month-1 or week-2.',
      ],
      ['age=5', '“5” is not an age in months. Choose 0-1, 1-3, 3-6, 6-12 or 12-.'],
      ['price=20-10', '“20-10” is not a price from and to.'],
      ['group=%00', 'is not a group of plans.'],
      [
        'plan=11&status=open',
        '“open” is not a status. Choose active, paused, cancelled, expired or failed.',
      ],
    ] as const) {
      assert.ok(plain(await see(`${home}/subscriptions?${query}`, 400)).includes(problem), query);
    }
  });

  const next = () => `${home}/subscriptions?plan=12&status=active`;
  const save = (name: string, query = 'status=active&plan=12', path = home) =>
    visitor.post(`${path}/segments`, { name, query, next: next() });
  const savedIn = async () =>
    [...(await see(next())).matchAll(/aria-label="Delete ([^"]+)"/g)].map(([, name]) => name);

  test('segments are saved under a name, and deleted', async () => {
    assert.ok((await see(next())).includes('Save segment'));
    const saved = await save(' Teas ');
    assert.deepEqual([saved.status, saved.location], [303, `${next()}&done=segment-saved`]);
    const told = await see(`${next()}&done=segment-saved`);
    assert.match(told, /role="status">Saved as “Teas”\./);
    // It is said once: nothing on the page leads to it again.
    assert.doesNotMatch(told.replace(/<nav.*?<\/nav>/gs, ''), /done=|name="done"/);
    const body = await see(next());
    assert.match(plain(body), /Teas Delete/);
    assert.ok(body.includes(`href="${next().replace('&', '&amp;')}" aria-current="true"`));
    assert.ok(!body.includes('Save segment'));
    for (const same of ['Teas', 'teas', 'TEAS']) {
      const again = await save(same);
      assert.equal(again.status, 422, same);
      assert.match(plain(again.text), /another segment of this name/);
    }
    assert.equal((await save('')).status, 422);
    assert.equal((await save('x'.repeat(81))).status, 422);
    // Not a segment at all.
    assert.equal((await save('Nothing', 'plan=x')).status, 303);
    assert.deepEqual(await savedIn(), ['Teas']);
    const deleted = await visitor.post(`${home}/segments/delete`, { name: 'Teas', next: next() });
    assert.match(await see(deleted.location ?? ''), /role="status">Segment deleted\./);
    assert.deepEqual(await savedIn(), []);
  });

  test('plans and products of one name are told apart by their numbers', async () => {
    const shop = await createShop(world.store);
    const lines = ['Tee', 'Tee', 'Mug'].map((productTitle, index) => ({
      ...line,
      lineId: index + 1,
      productId: 81 + index,
      productTitle,
    }));
    await importAll(world.store, shop, [
      plan({ id: 21, name: 'Box' }),
      plan({ id: 22, name: 'Box' }),
      subscription(1, { planId: 21, lines }),
    ]);
    const { visitor: owner } = await signedInOwner({ ...world, shop });
    const { text } = await owner.get(`/app/shops/${shop.id}/subscriptions?product=82&segment=open`);
    const optionsOf = (name: string) => {
      const [, menu = ''] =
        new RegExp(`<select id="segment-${name}".*?>(.*?)</select>`, 's').exec(text) ?? [];
      return [...menu.matchAll(/<option[^>]*>(.*?)<\/option>/gs)].map(([, label = '']) =>
        label.trim(),
      );
    };
    assert.deepEqual(optionsOf('plan'), ['Any', 'Box (21)', 'Box (22)']);
    assert.deepEqual(optionsOf('product'), ['Any', 'Tee (81)', 'Tee (82)', 'Mug']);
    assert.ok(text.includes('aria-label="Remove Tee (82)"'));
  });

  test('a shop has at most 50', async () => {
    for (let number = 1; number <= 50; number += 1) {
      assert.equal((await save(`Segment ${number}`)).status, 303);
    }
    const { status, text: body } = await save('One more');
    assert.equal(status, 422);
    assert.match(plain(body), /50 saved segments, as many as it can have/);
  });

  test('those of another shop cannot be seen, saved or deleted', async () => {
    const other = await createShop(world.store);
    const { visitor: stranger } = await signedInOwner({ ...world, shop: other });
    await stranger.get(`/app/shops/${other.id}/subscriptions`);
    const theirs = `/app/shops/${other.id}/segments`;
    assert.equal((await save('Ours', undefined, `/app/shops/${other.id}`)).status, 404);
    assert.equal(
      (await visitor.post(`${theirs}/delete`, { name: 'Ours', next: next() })).status,
      404,
    );
    assert.equal(
      (await stranger.post(theirs, { name: 'Theirs', query: 'plan=11', next: '/app' })).status,
      303,
    );
    // The name is theirs only: deleting it here deletes nothing there.
    await visitor.post(`${home}/segments/delete`, { name: 'Theirs', next: next() });
    const { text: theirPage } = await stranger.get(`/app/shops/${other.id}/subscriptions?plan=11`);
    assert.deepEqual(
      [...theirPage.matchAll(/aria-label="Delete ([^"]+)"/g)].map(([, name]) => name),
      ['Theirs'],
    );
    assert.ok(!(await savedIn()).includes('Theirs'));
  });

  test('figures, churn and cohorts are those of a shop that has only the segment', async () => {
    const alone = await createShop(world.store, { currency: 'EUR' });
    const teas = records.filter(
      (each) => !('planId' in each) || (each as { planId: number }).planId === 12,
    );
    assert.deepEqual((await importAll(world.store, alone, teas)).refused, []);
    const owner = await signedInOwner(world, { shopId: alone.id });
    const seen = async (shopVisitor: Visitor, path: string, query: string) => {
      const answer = await shopVisitor.get(`${path}?days=365&table=open${query}`);
      const { status } = answer;
      // What explains a change is not known for segments.
      const text = answer.text.replace(/<h2 id="why">.*?<\/section>/s, '');
      assert.equal(status, 200, path);
      return [
        ...[...text.matchAll(/data-figure="\w+">([^<]*)</g)].map(([, value]) => value),
        ...[...text.matchAll(/<td[^>]*>([^<]*)/g)].map(([, value]) => value?.trim()),
      ];
    };
    for (const page of ['', '/churn', '/churn/left', '/cohorts']) {
      const own = await seen(owner.visitor, `/app/shops/${alone.id}${page}`, '');
      assert.ok(own.length > 0, page);
      assert.deepEqual(await seen(visitor, home + page, '&plan=12'), own, page);
    }
  });

  test('the list of a figure says what it is of, page by page and as a file', async () => {
    const query = 'figure=new&from=2026-02-01&to=2026-04-30&plan=12';
    const began = expected((index) => index % 2 === 1 && index >= 20 && index < 80);
    const body = await see(`${home}/subscriptions?${query}`);
    assert.match(
      plain(body),
      /30 subscriptions that began 1 Feb\W+30 Apr 2026, each the first of its customer\./,
    );
    assert.deepEqual(idsOf(body), began.slice(0, 50));
    const file = await visitor.get(`${home}/subscriptions.csv?${query}`);
    assert.equal(file.text.trim().split('\n').length, 1 + began.length);
    const both = await see(`${home}/subscriptions?${query}&status=paused`);
    assert.deepEqual(
      idsOf(both),
      began.filter((id) => (id - 1001) % 3 === 1),
    );
    const then = await see(`${home}/subscriptions?figure=active&from=2026-02-01&to=2026-02-28`);
    assert.match(plain(then), /40 subscriptions of 40 customers , active just before 1 Mar 2026/);
    for (const wrong of ['figure=new&from=2026-02-01', 'figure=all', 'figure=new&plan=x']) {
      await see(`${home}/subscriptions?${wrong}`, 400);
    }
  });

  test('the panel counts the subscriptions, at most ten thousand', async () => {
    const count = async (query: string) => {
      const { status, text, headers } = await visitor.get(`${home}/segments/count?${query}`);
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^text\/plain/);
      return text;
    };
    assert.equal(await count('plan=12'), '60 subscriptions');
    assert.equal(await count('price=100&price='), '20 subscriptions');
    assert.equal(await count('plan=12&status=active&price=3.5-3.5'), '1 subscription');
    assert.equal(await count('plan=99'), '0 subscriptions');
    assert.equal(await count(''), '');
    // Without the script, the page says it.
    for (const page of ['/churn', '/subscriptions']) {
      assert.match(
        await see(`${home}${page}?plan=12&segment=open`),
        /<output>60 subscriptions<\/output>/,
      );
    }
    const stranger = await signedInOwner({ ...world, shop: await createShop(world.store) });
    const theirs = await stranger.visitor.get(`${home}/segments/count?plan=12`);
    assert.equal(theirs.status, 404);
  });

  test('a page without segments says that it shows all subscriptions', async () => {
    assert.match(await see(`${home}/revenue?plan=12`), /segments do not apply to it/);
    assert.doesNotMatch(await see(`${home}/revenue`), /segments do not apply/);
  });
});
