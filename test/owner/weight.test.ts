import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, importAll, now, startWorld } from '../support/world.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

/** As many bytes as any page may have before it is compressed. docs/decisions/0023-pages.md */
const maxBytes = 40_000;
/** Pages of a year, and cohorts of two and three. */
const maxBytesOfYears = 60_000;

onOneDatabase('the weight of a page', (open) => {
  let world: World;
  let visitor: Visitor;
  before(async () => {
    world = await startWorld(open());
    const options = { subscriptions: 3000, seed: 20_26, currency: 'USD', minorDigits: 2 };
    const records = [...generateShop({ ...options, endAt: Date.parse(now) })];
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    ({ visitor } = await signedInOwner(world));
  });
  after(() => world.close());

  const weigh = async (path: string) => {
    const page = `/app/shops/${world.shop.id}${path}`;
    const { status, text } = await visitor.get(page, { 'accept-language': 'en-US' });
    assert.equal(status, 200, path);
    // Numbers of shops are as short as operators choose them, but for those of tests.
    return [path, Buffer.byteLength(text.replaceAll(`shops/${world.shop.id}`, 'shops/1'))] as const;
  };
  const heavier = (pages: (readonly [string, number])[], limit: number) =>
    pages.filter(([, bytes]) => bytes > limit);

  const figures = ['', '/churn', '/revenue', '/recovery', '/cancel-flow'];
  const lists = [
    '/subscriptions',
    '/subscriptions?figure=active',
    '/customers',
    '/churn/left',
    '/cohorts/2026-03/customers',
    '/revenue/movements',
    '/revenue/renewals',
    '/payments',
    '/recovery/open',
    '/recovery/closed',
    '/cancel-flow/sessions',
  ];
  const others = ['/cohorts', '/sources', '/sources/file', '/keys', '/keys/new', '/notifications'];
  const developers = ['', '/console', '/usage', '/requests'].map((path) => `/developers${path}`);

  test('is at most 40 kB as it opens, with 50 rows, and of a quarter', async () => {
    const quarter = figures.map((path) => `${path}?days=90`);
    const opened = [...figures, ...quarter, ...lists, ...others, ...developers];
    const pages = await Promise.all(opened.map(weigh));
    assert.deepEqual(heavier(pages, maxBytes), []);
    const [first] = pages;
    assert.ok(first && first[1] > maxBytes / 2, 'it has everything');
  });

  test('is at most 60 kB of years', async () => {
    const years = [
      ...figures.map((path) => `${path}?days=365&compare=year`),
      ...lists.map((path) => `${path}${path.includes('?') ? '&' : '?'}days=365`),
      '?from=2024-11-21&to=2026-11-20',
      '/cohorts?months=36',
      '/cohorts?months=36&of=revenue&as=value',
    ];
    assert.deepEqual(heavier(await Promise.all(years.map(weigh)), maxBytesOfYears), []);
  });
});
