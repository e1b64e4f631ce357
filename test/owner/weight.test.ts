import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import type { DemoRecord } from '../../src/demo/records.ts';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { findOwnerByEmail } from '../../src/store/owners/owners.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import {
  type TestShop,
  type World,
  createShop,
  importAll,
  now,
  startWorld,
} from '../support/world.ts';
import { listPaths } from './list-paths.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

/** As many bytes as any page may have before it is compressed. docs/decisions/0022-pages.md */
const maxBytes = 40_000;
/** The overview grows with every figure. */
const spareBytes = 1_500;

interface Opened {
  readonly shop: TestShop;
  readonly visitor: Visitor;
}

/** An id as long as Stripe's. */
const stripeId = (prefix: string, id: number, length: number) =>
  `${prefix}_${String(id).padStart(length, 'QkT8')}`;

/** A record as the mapping of Stripe's objects makes it, with ids of its own. */
function asOfStripe(record: DemoRecord): object {
  const ids = { ...record } as Record<string, unknown>;
  const sourceIds: Record<string, string> = {};
  const derive = (field: string, kind: 'subscription' | 'customer') => {
    if (typeof ids[field] !== 'number') return;
    const [prefix, length] = kind === 'customer' ? (['cus', 14] as const) : (['sub', 24] as const);
    const id = stripeId(prefix, ids[field], length);
    ids[field] = deriveId(kind, id);
    sourceIds[field] = id;
  };
  if (record.type === 'subscription') derive('id', 'subscription');
  derive('subscriptionId', 'subscription');
  derive('customerId', 'customer');
  return { ...ids, sourceIds };
}

onOneDatabase('the weight of a page', (open) => {
  let world: World;
  let own: Opened;
  let imported: DemoRecord[];
  let ofStripe: Opened;
  before(async () => {
    world = await startWorld(open());
    const options = { subscriptions: 3000, seed: 20_26, currency: 'USD', minorDigits: 2 };
    imported = [...generateShop({ ...options, endAt: Date.parse(now) })];
    assert.deepEqual((await importAll(world.store, world.shop, imported)).refused, []);
    own = { shop: world.shop, ...(await signedInOwner(world)) };
    const shop = await createShop(world.store);
    const fromStripe = imported.map(asOfStripe);
    assert.deepEqual((await importAll(world.store, shop, fromStripe, true)).refused, []);
    const account = 'acct_1QkT8QkT8QkT8QkT';
    await world.store.write`
      insert into platforms.connections (shop_id, platform, account, credentials, connected_at, is_shared)
      values (${shop.id}, 'stripe', ${account}, '', ${now}, true)`;
    await world.store.write`
      insert into platforms.streams (shop_id, platform, stream, account, types, read_at)
      values (${shop.id}, 'stripe', 'subscriptions', ${account}, '{subscription}', ${now})`;
    ofStripe = { shop, ...(await signedInOwner({ ...world, shop })) };
  });
  after(() => world.close());

  const weighIn =
    ({ shop, visitor }: Opened) =>
    async (path: string) => {
      const page = `/app/shops/${shop.id}${path}`;
      const { status, text } = await visitor.get(page, { 'accept-language': 'en-US' });
      assert.equal(status, 200, path);
      // Numbers of shops are as short as operators choose them, but for those of tests.
      return [path, Buffer.byteLength(text.replaceAll(`shops/${shop.id}`, 'shops/1'))] as const;
    };
  const weigh = (path: string) => weighIn(own)(path);
  const heavier = (pages: (readonly [string, number])[]) =>
    pages.filter(([, bytes]) => bytes > maxBytes);

  const figures = ['', '/churn', '/revenue', '/recovery', '/cancel-flow'];
  const listsOfYear = listPaths.map((path) => `${path}${path.includes('?') ? '&' : '?'}days=365`);
  const others = ['/cohorts', '/sources', '/sources/file', '/keys', '/keys/new', '/notifications'];
  const developers = ['', '/console', '/usage', '/requests'].map((path) => `/developers${path}`);

  test('is at most 40 kB as it opens, with 50 rows, and of a quarter', async () => {
    const quarter = figures.map((path) => `${path}?days=90`);
    const opened = [...figures, ...quarter, ...listPaths, ...others, ...developers];
    const pages = await Promise.all(opened.map(weigh));
    assert.deepEqual(heavier(pages), []);
    const [first] = pages;
    assert.ok(first && first[1] > maxBytes / 2, 'it has everything');
    assert.ok(first[1] <= maxBytes - spareBytes, String(first[1]));
  });

  test('is at most 40 kB with the ids and links of Stripe', async () => {
    const pages = await Promise.all([...listPaths, ...listsOfYear].map(weighIn(ofStripe)));
    assert.deepEqual(heavier(pages), []);
  });

  test('is at most 40 kB with 50 payments outstanding, however many of the customers were contacted', async () => {
    const isAhead = (at: unknown) => typeof at === 'string' && at > now;
    const failed = imported
      .filter((record) => record.type === 'subscription' && isAhead(record.nextBillingDate))
      .slice(0, 70)
      .map(({ id }, index) => ({
        type: 'payment' as const,
        id: 900_000 + index,
        subscriptionId: id,
        cycle: '900',
        status: 'failed' as const,
        failureCode: ['insufficient_funds', 'do_not_honor', 'expired_card'][index % 3],
        amount: '123.45',
        processedAt: `2026-11-20T0${index % 10}:11:12.345Z`,
        updatedAt: now,
      }));
    const { refused } = await importAll(
      world.store,
      ofStripe.shop,
      failed.map((record) => asOfStripe(record)),
    );
    assert.deepEqual(refused, []);
    const paths = ['', '?order=oldest', '?order=amount&code=do_not_honor'].map(
      (query) => `/recovery/open${query}`,
    );
    const weighAll = () => Promise.all(paths.map(weighIn(ofStripe)));
    const untouched = await weighAll();
    const { email } = await signedInOwner({ ...world, shop: ofStripe.shop });
    const owner = await findOwnerByEmail(world.store.write, email);
    await world.store.write`
      update owners.accounts set name = 'Anna Kowalska' where owner_id = ${owner?.ownerId ?? ''}`;
    const contact = (of: number) => world.store.write`
      insert into contacted_cases (shop_id, subscription_id, opened_at, contacted_at, contacted_by)
      select shop_id, subscription_id, opened_at, opened_at, ${owner?.ownerId ?? ''}
      from dunning_cases where shop_id = ${ofStripe.shop.id} and subscription_id % ${of} = 0
      on conflict do nothing`;
    await contact(3);
    const third = await weighAll();
    await contact(1);
    const all = await weighAll();
    assert.deepEqual(heavier([...untouched, ...third, ...all]), []);
  });

  test('is at most 40 kB of years', async () => {
    const years = [
      ...figures.map((path) => `${path}?days=365&compare=year`),
      ...listsOfYear,
      '?from=2024-11-21&to=2026-11-20',
      '/cohorts?months=36',
      '/cohorts?months=36&of=revenue&as=value',
    ];
    assert.deepEqual(heavier(await Promise.all(years.map(weigh))), []);
  });

  test('is at most 40 kB with 36 cohorts, each in all its months', async () => {
    const shop = await createShop(world.store);
    const records = Array.from({ length: 36 * 60 }, (_, index) => {
      const [month, place] = [Math.floor(index / 60), index % 60];
      const at = (since: number) => new Date(Date.UTC(2023, 11 + month + since, 2)).toISOString();
      const isGone = place < 36 - month;
      return subscription(index + 1, {
        customerId: index + 1,
        createdAt: at(0),
        lines: [{ ...line, currentPrice: '223.45' }],
        ...(isGone && {
          status: 'cancelled',
          statusEvents: [{ at: at(place), to: 'cancelled' }],
        }),
      });
    });
    assert.deepEqual((await importAll(world.store, shop, [plan(), ...records])).refused, []);
    const full = { shop, ...(await signedInOwner({ ...world, shop })) };
    const paths = ['', '&of=revenue', '&as=value', '&of=revenue&as=value'].map(
      (query) => `/cohorts?months=36${query}`,
    );
    assert.deepEqual(heavier(await Promise.all(paths.map(weighIn(full)))), []);
  });
});
