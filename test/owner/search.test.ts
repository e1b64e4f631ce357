import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deriveCustomerId, deriveId } from '../../src/ingest/source-ids.ts';
import { ownerPages } from '../../src/owner/routes.ts';
import { isOfShop } from '../../src/owner/site.ts';
import { ensureCustomerKey } from '../../src/store/records/customer-keys.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, startWorld } from '../support/world.ts';
import { plain } from './page-text.ts';
import { type Visitor, signedInOwner } from './visitor.ts';

const customer = deriveId('customer', 'cus_Ab1');
const other = deriveId('subscription', 'sub_Xy9');

onOneDatabase('the owner’s search', (open) => {
  let world: World;
  let visitor: Visitor;
  let home: string;
  before(async () => {
    world = await startWorld(open());
    const records = [
      plan({ name: 'Box <1>' }),
      subscription(1001, { customerId: customer, sourceIds: { customerId: 'cus_Ab1' } }),
      subscription(other, { customerId: 501, sourceIds: { id: 'sub_Xy9' } }),
      session(7001, { subscriptionId: 1001 }),
      session(7002),
    ];
    assert.deepEqual((await importAll(world.store, world.shop, records, true)).refused, []);
    ({ visitor } = await signedInOwner(world));
    home = `/app/shops/${world.shop.id}`;
  });
  after(() => world.close());

  /** The results: what they are, and where they lead. */
  async function search(asked: string, by: Visitor = visitor, at = home) {
    const { status, text } = await by.get(`${at}/search?${new URLSearchParams({ q: asked })}`);
    assert.equal(status, 200, asked);
    const results = /<div class="results"[^>]*>(.*?)<\/div>/s.exec(text)?.[1] ?? '';
    const links = [...results.matchAll(/<a href="([^"]*)"\s*>(.*?)<\/a/gs)].map(
      ([, path = '', label = '']) => [plain(label), path.replace(at, '')],
    );
    return { links, told: plain(results), text };
  }

  test('finds records of each kind by their number or by the id at their source', async () => {
    const theCustomer = [
      `Customer cus_Ab1 1 subscription, 1 entitled now · number here ${customer}`,
      `/customers/${customer}`,
    ];
    for (const asked of ['cus_Ab1', ' cus_Ab1 ', String(customer)]) {
      assert.deepEqual((await search(asked)).links, [theCustomer], asked);
    }
    const theOther = [
      `Subscription sub_Xy9 Active, Box <1>, since Nov 1, 2026 · number here ${other}`,
      `/subscriptions/${other}`,
    ];
    assert.deepEqual((await search('sub_Xy9')).links, [theOther]);
    for (const [asked, label, path] of [
      ['501', 'Customer 501 1 subscription, 1 entitled now', '/customers/501'],
      ['1001', 'Subscription 1001 Active, Box <1>, since Nov 1, 2026', '/subscriptions/1001'],
      ['11', 'Plan 11 Box <1>', '/subscriptions?plan=11'],
      ['7001', 'Cancel-flow session 7001 of subscription 1001', '/subscriptions/1001'],
      ['7002', 'Cancel-flow session 7002', '/cancel-flow'],
    ] as const) {
      assert.deepEqual((await search(asked)).links, [[label, path]], asked);
    }
  });

  test('finds pages and actions by name, and lists all of them at first', async () => {
    const all = (await search('')).links;
    for (const [, path = ''] of all) {
      const { status } = await visitor.get(/^\/(app|docs)/.test(path) ? path : home + path);
      assert.equal(status, 200, path);
    }
    // Every page that needs no more than the shop's number; CSV files are found by the script.
    const parts = { accounts: {}, store: {}, uploads: {}, platforms: { platforms: {} } };
    const pages = ownerPages(parts as never)
      .filter((page) => isOfShop(page) && page.show && !page.path.includes(':'))
      .map(({ path }) => path)
      // What the script of segments reads is no page, and there may be no uploaded file.
      .filter(
        (path) =>
          !path.endsWith('.csv') && !['/search', '/segments/count', '/sources/file'].includes(path),
      );
    assert.ok(pages.length > 20, String(pages.length));
    const paths = new Set(all.map(([, path]) => path));
    assert.deepEqual(
      pages.filter((path) => !paths.has(path)),
      [],
    );
    assert.deepEqual((await search('create KEY')).links, [['Create key', '/keys/new']]);
    assert.equal((await search('cancel')).links[0]?.[1], '/cancel-flow');
    assert.deepEqual((await search('email')).links, [
      ['Email Digests and alerts', '/notifications'],
    ]);
    const docs = (await search('docs')).links;
    assert.deepEqual(docs[0], ['API reference Docs', '/docs/reference']);
    assert.deepEqual((await search('docs paging')).links, [['Paging Docs', '/docs/paging']]);
  });

  test('signs out', async () => {
    const { visitor: leaving } = await signedInOwner(world);
    const { told, text } = await search('sign out', leaving);
    // A form within that of the search would be dropped, and its token sent with what is searched for.
    assert.match(text, /<button class="plain" form="sign-out">Sign out/);
    assert.equal(text.match(/name="token"/g)?.length, 1);
    assert.equal(told, '1 result Sign out');
    assert.equal((await leaving.post('/app/sign-out', {})).status, 303);
    assert.equal((await leaving.get(`${home}/search`)).status, 303);
  });

  test('says what can be searched if nothing is found, and escapes it', async () => {
    for (const asked of ['ana@example.com', 'cus_none', '999999', '%00', '<script>', '0', '-1']) {
      const { links, told, text } = await search(asked);
      assert.deepEqual(links, [], asked);
      assert.ok(
        told.startsWith(`Nothing found for “${asked}”. You can search for pages and actions`),
        told,
      );
      assert.doesNotMatch(text, /<script>/);
    }
    assert.deepEqual((await search('\0')).links, []);
  });

  test('finds customers by their addresses, where these are their ids at the source', async () => {
    const id = deriveCustomerId(
      await ensureCustomerKey(world.store.write, world.shop.id),
      'ben@example.com',
    );
    await importAll(world.store, world.shop, [subscription(1002, { customerId: id })]);
    const asked = ' Ben@example.com';
    const { links } = await search(asked);
    assert.deepEqual(links, [
      [`Customer ${id} 1 subscription, 1 entitled now`, `/customers/${id}`],
    ]);
    const list = (text: string) =>
      visitor.get(`${home}/subscriptions?${new URLSearchParams({ customer: text })}`);
    const found = await list(asked);
    assert.equal(found.headers.get('location'), `${home}/subscriptions?customer=${id}`);
    const missing = await list('eve@example.com');
    assert.equal(missing.status, 404);
    assert.match(missing.text, /an email address finds only customers whose id it is/);
  });

  test('finds nothing of another shop', async () => {
    const shop = await createShop(world.store);
    const stranger = (await signedInOwner(world, { shopId: shop.id })).visitor;
    for (const asked of ['cus_Ab1', '1001', '11', '7001', String(customer)]) {
      const { links } = await search(asked, stranger, `/app/shops/${shop.id}`);
      assert.deepEqual(links, [], asked);
      assert.equal((await stranger.get(`${home}/search?q=${asked}`)).status, 404);
    }
  });
});
