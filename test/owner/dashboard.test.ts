import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { plan, subscription } from '../rest/records.ts';
import {
  type TestShop,
  type World,
  createShop,
  createTestKey,
  get,
  importAll,
  openAnyStore,
  startWorld,
} from '../support/world.ts';
import { upsertSyncState } from '../../src/store/feeds/platforms.ts';
import { awkwardCurrencies, createAwkwardShop } from './awkward-shop.ts';
import { figuresOf, overviewOwner } from './overview-pages.ts';
import { plain } from './page-text.ts';

describe('the dashboard', () => {
  let world: World;
  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  const owner = (shop: TestShop) => overviewOwner(world, shop);

  for (const currency of awkwardCurrencies) {
    test(`shows the API’s figures in ${currency}, formatted for the reader’s locale`, async () => {
      const { shop, expected } = await createAwkwardShop(world.store, currency);
      const { key } = await createTestKey(world.store, shop.id);
      const { body } = await get(`${world.base}/metrics/summary`, key);
      const { generatedAt, ...figures } = body.summary;
      assert.deepEqual(figures, { ...expected.api, currency });
      const { open } = await owner(shop);
      for (const language of ['en-US', 'de-DE'] as const) {
        const { text } = await open('', language);
        assert.deepEqual(figuresOf(text), expected.texts[language]);
        assert.ok(text.includes(`<time datetime="${generatedAt.replace(/\.\d+/, '')}"`));
      }
    });
  }

  test('shows data freshness by source', async () => {
    const shop = await createShop(world.store);
    await importAll(world.store, shop, [
      plan(),
      subscription(1001, { createdAt: '2026-09-01T00:00:00Z', updatedAt: '2026-11-19T08:00:00Z' }),
    ]);
    const { open } = await owner(shop);
    const text = (await open()).text.replaceAll('\u202F', ' ');
    const shown = (iso: string, formatted: string) =>
      `<time datetime="${iso}">${formatted} UTC</time>`;
    const received = shown('2026-11-20T12:00:00Z', 'Nov 20, 2026, 12:00 PM');
    assert.ok(text.includes(`Data last received ${received}.`));
    const newest = shown('2026-11-19T08:00:00Z', 'Nov 19, 2026, 8:00 AM');
    const cells = [...text.matchAll(/<td data-label="(?:L|N)[^"]*">(.*?)(?=<t[dh]|\n)/g)].map(
      ([, cell]) => cell,
    );
    assert.match(text, /<th scope="row">Record files<td/);
    assert.deepEqual(cells, [received, newest, received]);
  });

  test('says why data from a platform does not arrive, also before the first data', async () => {
    const shop = await createShop(world.store);
    const { open } = await owner(shop);
    const store = async (state: object) => {
      const settled = {
        dueAt: new Date(),
        failures: 0,
        problem: null,
        refusedAt: null,
        refusedVersion: null,
      };
      await upsertSyncState(world.store.write, shop.id, 'shopify', { ...settled, ...state });
    };
    const alert = async () => {
      const { text } = await open();
      const [, told] =
        /<span class="dot lost"\s*>(.*?)<\/li>/s.exec(text.replace(/\s+/g, ' ')) ?? [];
      return told
        ?.replace(/<time.*?<\/time>/, 'TIME')
        .replace(' </span>', '</span>')
        .trim();
    };
    const link = `<a href="/app/shops/${shop.id}/sources#shopify">See what to do <span aria-hidden="true">→</span></a>`;
    const problem = 'sample-shop.myshopify.com does not accept the access token; run something.';
    const refusedAt = new Date('2026-11-19T08:00:00Z');
    for (const records of [[], [plan(), subscription(1001)]]) {
      await importAll(world.store, shop, records);
      await store({});
      assert.equal(await alert(), undefined);
      await store({ problem, failures: 3 });
      assert.equal(
        await alert(),
        `Fetching data from Shopify fails at the moment. We keep trying.</span> ${link}`,
      );
      await store({ problem });
      assert.equal(
        await alert(),
        `The app is no longer installed at Shopify, so nothing new arrives.</span> ${link}`,
      );
      await store({ problem, refusedAt });
      assert.equal(
        await alert(),
        `Shopify no longer lets us read this shop. Nothing new has arrived since TIME.</span> ${link}`,
      );
      const { text } = await open();
      assert.ok(text.includes('<time datetime="2026-11-19T08:00:00Z"'));
      assert.ok(!text.includes('access token'));
    }
  });

  test('responds 404 for a shop of another owner, for any period', async () => {
    const { shop } = await createAwkwardShop(world.store, 'JPY');
    const { visitor } = await owner(await createShop(world.store));
    for (const query of ['', '?days=365']) {
      const { status, text } = await visitor.get(`/app/shops/${shop.id}${query}`);
      assert.equal(status, 404);
      assert.doesNotMatch(text, /¥/);
    }
  });

  test('shows days or weeks of the chosen period', async () => {
    const { shop } = await createAwkwardShop(world.store, 'JPY');
    const { open } = await owner(shop);
    const shown = async (query: string) => {
      const { text } = await open(query);
      const [, days] = /aria-current="true"\s*>(\d+) days</.exec(text) ?? [];
      return [days, [...text.matchAll(/<th scope="row">[A-Z][a-z]{2} \d/g)].length];
    };
    assert.deepEqual(await shown('?per=day&table=open'), ['30', 31]);
    assert.deepEqual(await shown('?days=90&table=open'), ['90', 13]);
    assert.deepEqual(await shown('?days=365&table=open'), ['365', 53]);
    assert.deepEqual(await shown('?from=2026-11-01&to=2026-11-10&per=day&table=open'), [
      undefined,
      10,
    ]);
  });

  test('has a table of days or weeks for the chart, with the values before', async () => {
    const { shop } = await createAwkwardShop(world.store, 'KWD');
    const { open } = await owner(shop);
    const rows = async (query: string, titled: string, time: string) => {
      const { text } = await open(query);
      const table =
        text.slice(text.indexOf(`<small>${titled}</small>`)).split('</table>', 1)[0] ?? '';
      const cells = [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
        row
          .split(/<t[hd][^>]*>/)
          .slice(1)
          .map((cell) =>
            cell
              .replace(/<[^>]*>/g, '')
              .replace(/[\u00A0\u2009]/g, ' ')
              .trim(),
          ),
      );
      return cells.find(([first]) => first === time);
    };
    const tables: readonly (readonly [string, string, string, ...string[]])[] = [
      ['?per=day&table=open', 'New and cancelled', 'Nov 1, 2026', '1', '0', '0', '0'],
      // Of so few, weeks.
      ['?table=open', 'New and cancelled', 'Oct 31 – Nov 6, 2026', '1', '0', '0', '0'],
      ['?days=90&per=month&table=open', 'New and cancelled', 'Nov 1 – 20, 2026', '1', '0'],
    ];
    for (const [query, titled, ...row] of tables) {
      assert.deepEqual(await rows(query, titled, row[0]), row, titled);
    }
  });

  test('shows changes and their judgement only where the shop has data from that time', async () => {
    const shop = await createShop(world.store);
    const cancelled = (id: number, createdAt: string, at: string) =>
      subscription(id, {
        customerId: id,
        createdAt,
        status: 'cancelled',
        statusEvents: [{ at, to: 'cancelled' }],
      });
    await importAll(world.store, shop, [
      plan(),
      subscription(1, { customerId: 1, createdAt: '2026-10-01T00:00:00Z' }),
      subscription(2, { customerId: 2, createdAt: '2026-10-15T00:00:00Z' }),
      subscription(3, { customerId: 3, createdAt: '2026-11-02T00:00:00Z' }),
    ]);
    const { open } = await owner(shop);
    const changes = async () => {
      const { text } = await open();
      return [
        ...text.matchAll(
          /data-figure="(\w+)".*?(?:<p class="was">|<td class="changed">)(.*?)<\/(?:p|td)>/gs,
        ),
      ].map(([, , markup = '']) => plain(markup.replace(/<span aria-hidden="true".*$/s, '')));
    };
    const early = await changes();
    assert.deepEqual(early, [
      '↑ 50% better, $61.20 before',
      'Too few to judge , 2 before',
      'Earlier data incomplete',
      'Earlier data incomplete',
      'Earlier data incomplete',
      'Unchanged',
      'Earlier data incomplete',
      'No session has ended',
      'Unchanged',
      'Earlier data incomplete',
      'Earlier data incomplete',
      'Unchanged',
      'No failure was resolved',
      'Only known from today',
      'Only known from today',
    ]);

    await importAll(world.store, shop, [
      cancelled(4, '2026-08-01T00:00:00Z', '2026-10-05T00:00:00Z'),
      cancelled(5, '2026-08-01T00:00:00Z', '2026-11-05T00:00:00Z'),
      cancelled(6, '2026-08-01T00:00:00Z', '2026-11-06T00:00:00Z'),
    ]);
    assert.deepEqual(await changes(), [
      '↓ 25% worse, $122.40 before',
      'Too few to judge , 4 before',
      'Too few to judge , 1 of 5 before',
      'Too few to judge , 2 before',
      'Too few to judge , 1 before',
      'Unchanged',
      'Unchanged',
      'No session has ended',
      'Unchanged',
      'Unchanged',
      'Unchanged',
      'Unchanged',
      'No failure was resolved',
      'Only known from today',
      'Only known from today',
    ]);
  });

  test('loads less than 150 kB of assets, all from the service and cached permanently', async () => {
    const { shop } = await createAwkwardShop(world.store, 'JPY');
    const { open, visitor } = await owner(shop);
    const { text } = await open('?days=365');
    const paths = [
      ...text.matchAll(/<(?:link rel="(?:stylesheet|icon)" href|script src)="([^"]*)"/g),
    ];
    assert.equal(paths.length, 7);
    let bytes = 0;
    for (const [, path = ''] of paths) {
      const { status, headers, text: body } = await visitor.get(path);
      assert.deepEqual(
        [status, headers.get('cache-control')],
        [200, 'public, max-age=31536000, immutable'],
      );
      bytes += Buffer.byteLength(body);
    }
    assert.ok(bytes < 150_000, String(bytes));
    assert.doesNotMatch(text, /<style|style=|<script(?! src)|\son\w+=/);
  });
});
