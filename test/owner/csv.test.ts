import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, test } from 'node:test';
import { line, plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, startWorld } from '../support/world.ts';
import { withoutTokens } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const statuses = ['active', 'paused', 'cancelled'];

/** More rows than are read at once, created at the same times, with a plan named like a formula. */
const records = [
  plan({ name: '=SUM(A1:A9)' }),
  plan({ id: 12, name: 'Coffee, "large"', intervalUnit: 'week', intervalCount: 2 }),
  ...Array.from({ length: 250 }, (_, index) =>
    subscription(1001 + index, {
      customerId: index < 120 ? 501 : 600 + index,
      planId: 11 + (index % 2),
      status: statuses[index % 3],
      createdAt: `2026-10-0${1 + Math.floor(index / 50)}T00:00:00Z`,
      lines: [{ ...line, currentPrice: '12.50', quantity: 1 }],
      ...(index % 2 === 0 && { nextBillingDate: '2026-12-01T08:30:00Z' }),
    }),
  ),
  ...Array.from({ length: 130 }, (_, index) =>
    session(7001 + index, {
      detectedReason: 'too_expensive',
      outcome: index % 2 === 0 ? 'saved' : null,
      createdAt: '2026-11-01T00:00:00Z',
      ...(index === 0 && { subscriptionId: 1001, offerType: 'pause' }),
    }),
  ),
];

onOneDatabase('files of the owner’s lists', (open) => {
  let world: World;
  let visitor: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open(), { currency: 'EUR' });
    await world.store.write`
      update shops set name = 'Käffee & Kuchen' where shop_id = ${world.shop.id}`;
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    ({ visitor } = await signedInOwner(world));
    home = `/app/shops/${world.shop.id}`;
  });
  after(() => world.close());

  const load = async (path: string) => {
    const { status, headers, text } = await visitor.get(`${home}/${path}`);
    assert.equal(status, 200, path);
    assert.ok(text.endsWith('\r\n'), path);
    return { headers, lines: text.slice(0, -2).split('\r\n') };
  };

  test('lead to their page if it has to say what is wrong with the address', async () => {
    const [dates, segment] = ['from=2026-02-30&to=2026-03-01', 'plan=abc'];
    for (const [file, page, queries] of [
      ['charts.csv', '', [dates, segment]],
      ['churn.csv', '/churn', [dates, segment]],
      ['churn/left.csv', '/churn/left', [dates, segment]],
      ['cohorts.csv', '/cohorts', [segment]],
      ['revenue.csv', '/revenue', [dates]],
      ['recovery/charts.csv', '/recovery', [dates, segment]],
      ['recovery/open.csv', '/recovery/open', [dates, segment]],
      ['recovery/closed.csv', '/recovery/closed', [dates, segment]],
      ['cancel-flow.csv', '/cancel-flow', [dates, segment]],
      ['cancel-flow/sessions.csv', '/cancel-flow/sessions', [dates, segment]],
      ['subscriptions.csv', '/subscriptions', [`figure=new&${dates}`, segment]],
    ] as const) {
      for (const query of queries) {
        const { status, location } = await visitor.get(`${home}/${file}?${query}`);
        assert.deepEqual([status, location], [303, `${home}${page}?${query}`]);
      }
    }
  });

  test('have all subscriptions of the page’s filters, newest first', async () => {
    const { headers, lines } = await load('subscriptions.csv');
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'private, no-store');
    assert.equal(
      headers.get('content-disposition'),
      'attachment; filename="kaffee-kuchen-subscriptions-2026-11-20.csv"',
    );
    assert.deepEqual(lines.slice(0, 3), [
      'Subscription,Subscription at source,Customer,Customer at source,Plan number,Plan,Status,Price per cycle,Currency,Billed every (count),Billed every (unit),Worth a month after trial,Worth a month,Next billing (UTC),Created (UTC)',
      '1250,1250,849,849,12,"Coffee, ""large""",Active,12.5,EUR,2,week,27.16,27.16,,2026-10-05T00:00:00.000Z',
      `1249,1249,848,848,11,'=SUM(A1:A9),Cancelled,12.5,EUR,1,month,12.5,12.5,2026-12-01T08:30:00.000Z,2026-10-05T00:00:00.000Z`,
    ]);
    const ids = lines.slice(1).map((each) => Number(each.split(',', 1)[0]));
    assert.deepEqual(
      ids,
      Array.from({ length: 250 }, (_, index) => 1250 - index),
    );
    const paused = (await load('subscriptions.csv?status=paused')).lines;
    assert.equal(paused.length, 1 + 83);
    assert.ok(paused.slice(1).every((each) => each.includes(',Paused,')));
    const theirs = (await load('subscriptions.csv?customer=501&status=active')).lines;
    assert.equal(theirs.length, 1 + 40);
    assert.equal((await load('subscriptions.csv?customer=9')).lines.length, 1);
    const page = await visitor.get(`${home}/subscriptions?customer=501&status=active`);
    assert.ok(
      page.text.includes(
        `href="${home}/subscriptions.csv?customer=501&amp;status=active">Download CSV`,
      ),
    );
  });

  test('have all sessions of the page’s filter', async () => {
    const { lines } = await load('cancel-flow/sessions.csv');
    assert.equal(lines.length, 1 + 130);
    assert.equal(
      lines[0],
      'Subscription,Subscription at source,Reason,Offer,Outcome,Worth a month,Currency,Session,Started (UTC)',
    );
    assert.equal(lines[1], ',,Too expensive,None,In progress,,,7130,2026-11-01T00:00:00.000Z');
    assert.equal(
      lines[130],
      '1001,1001,Too expensive,Pause,Saved,12.5,EUR,7001,2026-11-01T00:00:00.000Z',
    );
    assert.equal((await load('cancel-flow/sessions.csv?outcome=saved')).lines.length, 1 + 65);
  });

  test('have the values of a chart’s table', async () => {
    const page = await visitor.get(`${home}?days=90&table=open&show=chart-growth`);
    const links = [...page.text.matchAll(/href="([^"]*charts\.csv[^"]*)">Download CSV/g)].map(
      ([, path = '']) => path.replaceAll('&amp;', '&').slice(home.length + 1),
    );
    assert.deepEqual(
      links.map((path) => /chart=([\w-]+)/.exec(path)?.[1]),
      ['chart-growth', 'figures', 'reasons'],
    );
    for (const path of links) assert.ok((await load(path)).lines.length > 1, path);
    const figures = (await load(links[1] ?? '')).lines;
    assert.equal(figures[0], 'Figure,Value,Before,Currency');
    assert.equal(figures.length, 1 + 15);
    assert.ok(figures.includes('Monthly recurring revenue,1665.63,,EUR'), figures.join('\n'));
    const growth = (await load(links[0] ?? '')).lines;
    assert.equal(growth[0], 'First day (UTC),Last day (UTC),New,Cancelled');
    assert.equal(growth.length, 1 + 13);
    assert.match(growth[13] ?? '', /^2026-11-14,2026-11-20,\d+,\d+$/);
    const reasons = (await load('charts.csv?chart=reasons')).lines;
    assert.deepEqual(reasons, ['Reason,Saved,Cancelled,Abandoned', 'Too expensive,65,0,0']);
    for (const query of ['', '?chart=none', '?chart=constructor']) {
      assert.equal((await visitor.get(`${home}/charts.csv${query}`)).status, 404);
    }
  });

  test('lead to the page for a filter that does not exist, and are not for others', async () => {
    for (const [name, query] of [
      ['subscriptions', 'status=none'],
      ['subscriptions', 'customer=x'],
      ['cancel-flow/sessions', 'outcome=none'],
    ]) {
      const { status, location } = await visitor.get(`${home}/${name}.csv?${query}`);
      assert.deepEqual([status, location], [303, `${home}/${name}?${query}`]);
    }
    const other = await createShop(world.store);
    const { visitor: stranger } = await signedInOwner(world, { shopId: other.id });
    for (const name of [
      'subscriptions',
      'cancel-flow/sessions',
      'cancel-flow',
      'revenue',
      'charts',
    ]) {
      const { status, text } = await stranger.get(`${home}/${name}.csv?chart=chart-mrr`);
      assert.equal(status, 404);
      // A token may contain any three letters.
      assert.doesNotMatch(withoutTokens(text), /too expensive|\bSUM\b/i);
    }
  });

  test('are read no further once the client has left, and answer HEAD', async () => {
    const cookie = [...visitor.cookies].map((pair) => pair.join('=')).join('; ');
    const url = `${world.service.baseUrl}${home}/subscriptions.csv`;
    const left = request(url, { headers: { cookie } }).end();
    const [answer] = (await once(left, 'response')) as [IncomingMessage];
    answer.destroy();
    await once(answer, 'close');
    const head = request(url, { method: 'HEAD', headers: { cookie } }).end();
    const [headers] = (await once(head, 'response')) as [IncomingMessage];
    headers.resume();
    await once(headers, 'end');
    assert.equal(headers.statusCode, 200);
    assert.equal((await load('subscriptions.csv')).lines.length, 1 + 250);
  });
});
