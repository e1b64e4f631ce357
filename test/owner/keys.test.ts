import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import type { Service } from '../../src/service.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import type { Store } from '../../src/store/open.ts';
import { updateShopTier } from '../../src/store/shops.ts';
import { auditOf, whoIs } from '../support/audit.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, createTestKey, get, startTestService } from '../support/world.ts';
import { mcpPost } from './mcp-call.ts';
import { type Page, Visitor, removeOwner, signedInOwner, keyIdIn } from './visitor.ts';
import type { Tier } from '../../src/vocabulary.ts';
import { withoutTokens } from './page-text.ts';

onOneDatabase('the developer pages', (open) => {
  let store: Store;
  let service: Service;
  before(async () => {
    store = open();
    // Needs a running clock, because a revocation waits for leases to end.
    service = await startTestService(store, { clock: systemClock });
  });
  after(async () => {
    await service.close();
    await store.close();
  });

  async function openShop(tier: Tier = 'growth') {
    const shop = await createShop(store, { tier });
    const place = { store, clock: systemClock, service, shop };
    const { email, visitor } = await signedInOwner(place);
    const path = `/app/shops/${shop.id}/keys`;
    return { shop, email, visitor, path, place };
  }

  const keyOf = ({ text }: Page) => /rtn_[\w-]{43}/.exec(text)?.[0] ?? '';
  const fields = (id: string, name = 'Till', scopes = ['read:plans']): [string, string][] => [
    ['id', id],
    ['name', name],
    ...scopes.map((scope): [string, string] => ['scope', scope]),
  ];

  async function create(visitor: Visitor, path: string, ...more: [string?, string[]?]) {
    const id = keyIdIn(await visitor.get(`${path}/new`));
    const page = await visitor.post(path, fields(id, ...more));
    return { id, page, key: keyOf(page) };
  }

  const ask = async (key: string, path = 'plans') =>
    (await get(`${service.baseUrl}/api/external/v1/${path}`, key)).status;

  test('create a key that works over REST and MCP within its scopes, and list it', async () => {
    const { visitor, path } = await openShop();
    assert.match((await visitor.get(path)).text, /No keys yet/);
    const { id, page, key } = await create(visitor, path, 'Till <1>', [
      'read:plans',
      'read:metrics',
    ]);
    assert.equal(page.status, 201);
    assert.equal(page.headers.get('cache-control'), 'private, no-store');
    const code = page.text.replaceAll(/<[^>]*>/g, '');
    assert.ok(
      code.includes(
        `curl &#39;${service.baseUrl}/api/external/v1/plans&#39; \\\n  -H &quot;Authorization: Bearer ${key}&quot;`,
      ),
    );
    assert.ok(code.includes(`&quot;url&quot;: &quot;${service.baseUrl}/api/mcp&quot;`));
    assert.match(page.text, /<button[^>]* data-copies="key"[^>]* hidden>/);
    const script = await visitor.get(
      /<script src="([^"]+)" defer><\/script>/.exec(page.text)?.[1] ?? '',
    );
    assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(await ask(key), 200);
    assert.equal(await ask(key, 'metrics/summary'), 200);
    assert.equal(await ask(key, 'subscriptions'), 403);
    assert.equal(await mcpPost(service.baseUrl, key), 200);

    const list = await visitor.get(path, { 'accept-language': 'de-AT, en;q=0.5' });
    assert.ok(!list.text.includes(key));
    assert.ok(list.text.includes('Till &lt;1&gt;') && list.text.includes(`…${key.slice(-4)}`));
    assert.match(list.text, /Read selling plans <code>read:plans<\/code>/);
    assert.match(list.text, />\d\d\.\d\d\.\d{4}, \d\d:\d\d UTC</);
    assert.ok(list.text.includes(`created the key Till &lt;1&gt; (${id})`));
  });

  test('create one key however often the form is sent, and show it once', async () => {
    const { shop, visitor, path } = await openShop();
    const id = keyIdIn(await visitor.get(`${path}/new`));
    const tabs = await Promise.all(
      [visitor, visitor.copy(), visitor.copy()].map((tab) => tab.post(path, fields(id))),
    );
    assert.deepEqual(tabs.map(({ status }) => status).toSorted(), [201, 303, 303]);
    assert.equal(tabs.filter((page) => keyOf(page) !== '').length, 1);
    const again = await visitor.post(path, fields(id, 'Another', ['read:metrics']));
    assert.equal(again.location, `${path}?done=already`);
    assert.match((await visitor.get(again.location ?? '')).text, /shown only once/);
    const keys = await listKeys(store.write, shop.id);
    assert.deepEqual(
      keys.map((each) => [each.id, each.name]),
      [[id, 'Till']],
    );
    assert.equal((await auditOf(store.write, shop.id, 'key_')).length, 1);
  });

  test('explain what is missing, keep the form’s values, and accept only known scopes', async () => {
    const { shop, visitor, path } = await openShop();
    const wrong: [string, string[], RegExp][] = [
      ['  ', ['read:plans'], /Give the key a name/],
      ['x'.repeat(81), ['read:plans'], /at most 80 characters/],
      ['Till', [], /Choose at least one permission/],
      ['Till', ['write:all'], /Choose at least one permission/],
    ];
    for (const [name, scopes, message] of wrong) {
      const { page, id } = await create(visitor, path, name, scopes);
      assert.equal(page.status, 422);
      assert.match(page.text, message);
      assert.equal(keyIdIn(page), id);
    }
    assert.equal((await listKeys(store.write, shop.id)).length, 0);
    const free = await visitor.post(path, fields('key_mine', 'Till'));
    assert.equal(keyOf(free), '');
    assert.equal((await listKeys(store.write, shop.id)).length, 0);
  });

  test('revoke a key after confirmation, on all instances before they say so', async () => {
    const { shop, email, visitor, path } = await openShop();
    const other = await startTestService(store, { clock: systemClock });
    try {
      const { id, key } = await create(visitor, path);
      assert.equal(await ask(key), 200);
      const elsewhere = async () =>
        (await get(`${other.baseUrl}/api/external/v1/plans`, key)).status;
      assert.equal(await elsewhere(), 200);

      const confirmation = await visitor.get(`${path}/${id}/revoke`);
      assert.match(
        confirmation.text,
        /Requests with this key fail from now on\. This cannot be undone\./,
      );
      assert.equal(await ask(key), 200);
      // Refreshes the leases just before the key is revoked.
      const [done] = await Promise.all([
        visitor.post(`${path}/${id}/revoke`),
        ask(key),
        elsewhere(),
      ]);
      assert.equal(done.location, `${path}?done=revoked&key=${id}`);
      assert.deepEqual([await ask(key), await elsewhere()], [401, 401]);

      const page = await visitor.get(done.location ?? '');
      assert.match(page.text, /Key revoked\./);
      assert.match(page.text, /<h2>Inactive<\/h2>/);
      assert.equal((await visitor.post(`${path}/${id}/revoke`)).status, 303);
      assert.equal((await visitor.get(`${path}/${id}/revoke`)).location, path);
      const log = await auditOf(store.write, shop.id, 'key_');
      const who = await whoIs(store, email);
      assert.deepEqual(
        log.map((entry) => [entry.what, entry.who, entry.target]),
        [
          ['key_created', who, `${id} Till`],
          ['key_revoked', who, `${id} Till`],
        ],
      );
    } finally {
      await other.close();
    }
  });

  for (const tier of ['free', 'starter'] as const) {
    test(`create no key on ${tier} and explain why, but still revoke existing ones`, async () => {
      const { shop, visitor, path } = await openShop(tier);
      for (const page of [await visitor.get(path), await visitor.get(`${path}/new`)]) {
        assert.match(page.text, /API keys are available from the Growth tier/);
        assert.match(page.text, /move the shop to Growth or higher/);
        assert.doesNotMatch(page.text, /name="id"/);
      }
      const forced = await visitor.post(path, fields('key_0123456789abcdef'));
      assert.equal(forced.status, 403);
      assert.equal((await listKeys(store.write, shop.id)).length, 0);

      const { id } = await createTestKey(store, shop.id);
      await visitor.get(`${path}/${id}/revoke`);
      assert.equal((await visitor.post(`${path}/${id}/revoke`)).status, 303);
      assert.ok((await listKeys(store.write, shop.id))[0]?.revokedAt);
      await updateShopTier(store.write, shop.id, 'growth');
      assert.equal((await create(visitor, path)).page.status, 201);
    });
  }

  test('respond 404 for another shop and its keys', async () => {
    const mine = await openShop();
    const theirs = await openShop();
    const { id, key } = await create(theirs.visitor, theirs.path);
    await mine.visitor.get(`${mine.path}/new`);
    const inTheirs = [
      await mine.visitor.get('/app/nowhere'),
      await mine.visitor.get(theirs.path),
      await mine.visitor.get(`${theirs.path}/new`),
      await mine.visitor.get(`${theirs.path}/${id}/revoke`),
      await mine.visitor.post(theirs.path, fields('key_0123456789abcdef')),
      await mine.visitor.post(`${theirs.path}/${id}/revoke`),
    ];
    const inMine = [
      await mine.visitor.get(`${mine.path}/nowhere`),
      await mine.visitor.get(`${mine.path}/${id}/revoke`),
      await mine.visitor.post(`${mine.path}/${id}/revoke`),
    ];
    for (const pages of [inTheirs, inMine]) {
      for (const { status, text } of pages) {
        assert.equal(status, 404);
        assert.equal(withoutTokens(text), withoutTokens(pages[0]?.text));
      }
    }
    assert.equal(await ask(key), 200);
    assert.equal((await listKeys(store.write, theirs.shop.id)).length, 1);
    // Ids are unique only within a shop, so one that another shop uses reveals nothing.
    const same = await mine.visitor.post(mine.path, fields(id));
    assert.equal(same.status, 201);
  });

  test('keep the activity of a deleted owner, without the email address', async () => {
    const { shop, email, visitor, path, place } = await openShop();
    await create(visitor, path);
    assert.ok((await visitor.get(path)).text.includes(`${email} created the key`));
    const [key] = await listKeys(store.write, shop.id);
    assert.doesNotMatch(JSON.stringify(key), /@/);
    const { visitor: second } = await signedInOwner(place);
    await removeOwner(store, email, shop.id);
    const { text } = await second.get(path);
    assert.ok(!text.includes(email));
    assert.match(text, /a former member created the key/);
  });
});
