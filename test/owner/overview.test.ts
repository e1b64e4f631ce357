import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { plan, subscription } from '../rest/records.ts';
import {
  type TestShop,
  type World,
  createShop,
  createTestKey,
  importAll,
  openAnyStore,
  startWorld,
} from '../support/world.ts';
import { figuresOf, overviewOwner } from './overview-pages.ts';
import { plain } from './page-text.ts';

describe('the overview of a shop', () => {
  let world: World;
  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  const owner = (shop: TestShop) => overviewOwner(world, shop);

  test('shows the ways in and sample figures in a shop without records', async () => {
    const shop = await createShop(world.store, { tier: 'growth', currency: 'EUR' });
    const { open } = await owner(shop);
    const { status, text } = await open();
    assert.equal(status, 200);
    assert.match(text, /See your own figures here/);
    for (const way of ['file/new', 'push/new']) {
      assert.ok(text.includes(`href="/app/shops/${shop.id}/sources/${way}"`), way);
    }
    assert.match(text, /For your developer<\/summary>\s*<pre><code>retention import --shop/);
    const sample = text.slice(text.indexOf('Sample figures of a made-up shop'));
    assert.match(sample, /<div inert>/);
    assert.match(sample, /Better: MRR up €3,300 \(8\.6%\)\./);
    assert.equal(figuresOf(sample).length, 15);
    assert.deepEqual(figuresOf(text).slice(0, 4), ['€41,500.00', '1,248', '6.3%', '176']);
    assert.doesNotMatch(text, /<figure/);

    const locked = await owner(await createShop(world.store, { tier: 'free' }));
    assert.doesNotMatch((await locked.open()).text, /push\/new/);
  });

  test('answers in money, with the plan that explains most of it, and leads to its rows', async () => {
    const shop = await createShop(world.store);
    const { open } = await owner(shop);
    const on = (planId: number, ids: number, from: number, createdAt: string) =>
      Array.from({ length: ids }, (_, index) =>
        subscription(from + index, { customerId: from + index, planId, createdAt }),
      );
    await importAll(world.store, shop, [
      plan({ name: 'Coffee & cake' }),
      plan({ id: 12, name: 'Tea', intervalCount: 2 }),
      ...on(11, 10, 100, '2026-08-01T00:00:00Z'),
      ...on(11, 1, 200, '2026-10-01T00:00:00Z'),
      ...on(11, 12, 300, '2026-11-01T00:00:00Z'),
      ...on(12, 3, 400, '2026-11-02T00:00:00Z'),
    ]);
    const answer = async (query = '') => {
      const [, text = ''] = /<p class="answer">(.*?)<\/p>/s.exec((await open(query)).text) ?? [];
      return {
        text: text
          .replace(/<[^>]*>/g, '')
          .replace(/\s+/g, ' ')
          .trim(),
        links: [...text.matchAll(/href="([^"]*)"/g)].map(([, href = '']) =>
          href.replaceAll('&amp;', '&').replace(`/app/shops/${shop.id}`, ''),
        ),
      };
    };
    // 12 of 30.60 a month and 3 of 15.30, after one.
    assert.deepEqual(await answer(), {
      text: 'Better: MRR up $413 (123%). Most of it: $383 more from new subscriptions (+1,250%), mostly on Coffee &amp; cake. No rate changed beyond chance.',
      links: ['/revenue/movements?movement=new'],
    });
    assert.deepEqual(await answer('?plan=12'), {
      text: 'Better: MRR up $45.90, from nothing. Most of it: $45.90 from new subscriptions, nothing before; that may be chance. Too few cases to judge more.',
      links: ['/subscriptions?plan=12&figure=new'],
    });
    const october = await answer('?from=2026-10-01&to=2026-10-31&compare=year');
    assert.deepEqual(october, {
      text: 'Better: MRR up $30.60 (10%). $30.60 from new subscriptions. There is no earlier data to compare with.',
      links: ['/revenue?from=2026-10-01&to=2026-10-31&compare=year'],
    });
  });

  test('puts each chart’s total above it, against the period before', async () => {
    const shop = await createShop(world.store);
    const { open } = await owner(shop);
    await importAll(world.store, shop, [
      plan(),
      subscription(1, { customerId: 1, createdAt: '2026-08-01T00:00:00Z' }),
      subscription(2, { customerId: 2, createdAt: '2026-10-01T00:00:00Z' }),
      subscription(3, { customerId: 3, createdAt: '2026-10-25T00:00:00Z' }),
      subscription(4, { customerId: 4, createdAt: '2026-11-02T00:00:00Z' }),
    ]);
    const headlines = async (query: string) =>
      [
        ...(await open(query)).text.matchAll(
          /<h2 id="(?:chart-\w+|reasons)">((?:(?!<h2).)*?)<p class="quiet">\s*(?:At the|Per day|Per 7|Sess)/gs,
        ),
      ].map(([, markup = '']) => plain(markup.replace(/<div class="switches">.*?<\/div>/gs, '')));
    assert.deepEqual(await headlines(''), [
      'New and cancelled 2 new, 0 cancelled Period before: 1 new, 0 cancelled',
      'Reasons and outcomes of the cancel flow 0 sessions ended, 0 saved',
    ]);
    const [changes] = await headlines('?days=90');
    assert.equal(changes, 'New and cancelled 3 new, 0 cancelled');
    const [year] = await headlines('?from=2026-11-01&to=2026-11-20&compare=year');
    assert.equal(year, 'New and cancelled 1 new, 0 cancelled');
  });

  test('shows the figures of any period, with what held at its end', async () => {
    const shop = await createShop(world.store);
    const { open } = await owner(shop);
    await importAll(world.store, shop, [
      plan(),
      subscription(1, { customerId: 1, createdAt: '2026-08-01T00:00:00Z' }),
      subscription(2, {
        customerId: 2,
        createdAt: '2026-08-02T00:00:00Z',
        status: 'cancelled',
        statusEvents: [{ at: '2026-10-10T00:00:00Z', to: 'cancelled' }],
      }),
      subscription(3, { customerId: 3, createdAt: '2026-10-05T00:00:00Z' }),
    ]);
    const shown = async (query: string) => figuresOf((await open(query)).text);
    assert.deepEqual(
      await shown('?from=2026-10-01&to=2026-10-31'),
      [
        ['$61.20', '2', '1 of 3'],
        ['1', '1', '0', '0', '–', '$30.60'],
        ['$0.00', '0', '0', '–', '–', '–'],
      ].flat(),
    );
    assert.deepEqual((await shown('?from=2026-09-01&to=2026-09-30')).slice(0, 4), [
      '$61.20',
      '2',
      '0 of 2',
      '0',
    ]);
    const { text } = await open('?from=2026-10-01&to=2026-10-31');
    assert.equal(text.split('Only known from today').length - 1, 2);
    assert.deepEqual(await shown('?days=30'), await shown(''));
  });

  test('says what is wrong with an address, and shows the last 30 days', async () => {
    const shop = await createShop(world.store);
    const { open } = await owner(shop);
    await importAll(world.store, shop, [plan(), subscription(1)]);
    const plainFigures = figuresOf((await open()).text);
    for (const [query, problem] of [
      ['?days=31', 'is not one of the periods'],
      ['?days=<script>', 'is not one of the periods'],
      ['?from=2026-11-01', 'The last day is missing'],
      ['?from=x&to=y', '“y” is not a date, so there is no last day'],
      ['?from=2026-11-02&to=2026-11-01', 'Exchange the two dates'],
    ] as const) {
      const { status, text } = await open(query);
      assert.equal(status, 400);
      assert.match(text, new RegExp(`role="alert">[^<]*${problem}`), query);
      assert.match(text, /aria-current="true"\s*>30 days</, query);
      assert.deepEqual(figuresOf(text), plainFigures);
      assert.doesNotMatch(text, /<script>/);
    }
  });

  test('leads from each figure and bar to its rows, in the same period', async () => {
    const shop = await createShop(world.store);
    const { open } = await owner(shop);
    await importAll(world.store, shop, [plan(), subscription(1)]);
    const texts = ['', '&show=chart-growth', '&show=chart-payments'].map(
      async (more) => (await open(`?days=90&table=open${more}`)).text,
    );
    const links = new Set(
      [...(await Promise.all(texts)).join('').matchAll(/<a[^>]*href="([^"]*)"[^>]*>/g)].map(
        ([, href = '']) => href.replaceAll('&amp;', '&').replace(`/app/shops/${shop.id}`, ''),
      ),
    );
    for (const href of [
      '/payments?days=90',
      '/payments?kind=failed&days=90',
      '/revenue/renewals?days=90',
      '/subscriptions?figure=active&days=90',
      '/subscriptions?figure=paused&days=90',
      '/subscriptions?figure=new&days=90',
      '/churn?days=90',
      '/recovery?days=90',
      '/cancel-flow?days=90',
      '/recovery/open?days=90',
      '/cancel-flow/sessions?days=90',
      '/subscriptions?figure=cancelled&days=90',
      '/subscriptions?figure=cancelled&first=2026-11-14&last=2026-11-20&days=90',
    ]) {
      assert.ok(links.has(href), href);
    }
  });

  test('lists what needs attention, with what can be done', async () => {
    const shop = await createShop(world.store);
    const { open } = await owner(shop);
    const failed = { type: 'payment', cycle: '1', status: 'failed', amount: '10' };
    const soon = new Date('2026-11-25T00:00:00Z');
    await importAll(world.store, shop, [
      plan(),
      subscription(1, { createdAt: '2026-09-01T00:00:00Z' }),
      { ...failed, id: 1, subscriptionId: 1, processedAt: '2026-11-19T00:00:00Z' },
    ]);
    for (const [name, expiresAt] of [
      ['Till', soon],
      ['Later', new Date('2027-11-25T00:00:00Z')],
      ['Gone', new Date('2026-11-19T00:00:00Z')],
    ] as const) {
      const { id } = await createTestKey(world.store, shop.id);
      await world.store.write`
        update api_keys set name = ${name}, expires_at = ${expiresAt.toISOString()}
        where shop_id = ${shop.id} and key_id = ${id}`;
    }
    for (const [sourceId, name, receivedAt] of [
      ['src_billing', 'Billing', '2026-11-18T00:00:00Z'],
      ['src_old', 'Old', '2026-11-01T00:00:00Z'],
    ] as const) {
      await world.store.write`
        insert into ingest.sources (shop_id, source_id, name, scheme, created_by, created_at, secret)
        values (${shop.id}, ${sourceId}, ${name}, 'standard', 'owner', ${receivedAt}, '')`;
      await world.store.write`
        insert into ingest.batches (shop_id, source_id, batch_id, digest, received_at, lines, outcomes,
          refused, refused_count, finished_at)
        values (${shop.id}, ${sourceId}, ${randomUUID()}, '', ${receivedAt}, '', '{}',
          '[{"line":1,"reason":"no"}]', 2, ${receivedAt})`;
    }
    const concerns = async (query: string) => {
      const list = /<ul class="concerns".*?<\/ul>/s.exec((await open(query)).text)?.[0] ?? '';
      return [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, markup = '']) => plain(markup));
    };
    const key = 'Key “Till” expires Nov 25, 2026 Replace it →';
    const refused = '2 records of “Billing” refused in the last 30 days See why →';
    assert.deepEqual(await concerns(''), ['1 payment outstanding See who →', refused, key]);
    assert.deepEqual(await concerns('?from=2026-10-01&to=2026-10-31'), [refused, key]);
  });
});
