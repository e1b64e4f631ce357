import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { apiKeys } from '../../src/access/keys/keys.ts';
import { createSecret, revokeSecret } from '../../src/access/secrets.ts';
import { updateShopTier } from '../../src/store/shops.ts';
import type { Scope, Tier } from '../../src/vocabulary.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import {
  type World,
  createShop,
  createTestKey,
  get,
  importAll,
  silentLog,
  startWorld,
} from '../support/world.ts';
import { codeBlocks } from './code-blocks.ts';
import { signedInOwner } from './visitor.ts';
import { withoutTokens } from './page-text.ts';

onOneDatabase('the console for developers', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  async function openShop(tier: Tier = 'growth', scopes?: readonly Scope[]) {
    const { store } = world;
    const shop = await createShop(store, { tier });
    const records = [plan(), subscription(1002), session(71, { outcome: 'saved' })];
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    const { id, key } = await createTestKey(store, shop.id, scopes);
    const { visitor } = await signedInOwner(world, { shopId: shop.id });
    const path = `/app/shops/${shop.id}/developers/console`;
    /** Runs an operation and returns what the page shows of the answer. */
    const run = async (operation: string, input: Record<string, string> = {}, keyId = id) => {
      await visitor.get(path);
      const fields = Object.entries(input).map(([name, text]) => [`input.${name}`, text] as const);
      const page = await visitor.post(path, [['operation', operation], ['key', keyId], ...fields]);
      assert.equal(page.status, 200, page.text);
      const blocks = codeBlocks(page.text);
      const lines = (blocks.get('answer-headers') ?? '').split('\n');
      return {
        status: Number(/<p class="status">\s*<span class="dot \w+">(\d+)/.exec(page.text)?.[1]),
        headers: new Map(lines.map((line) => line.split(': ') as [string, string])),
        body: JSON.parse(blocks.get('answer-body') ?? ''),
        page,
      };
    };
    return { shop, id, key, visitor, path, run };
  }

  const questions: readonly [operation: string, input: Record<string, string>, path: string][] = [
    ['get_entitlements', { customerId: '501' }, 'entitlements?customerId=501'],
    ['list_subscriptions', { limit: '1', status: 'active' }, 'subscriptions?limit=1&status=active'],
    ['get_subscription', { subscriptionId: '1002' }, 'subscriptions/1002'],
    ['get_metrics_summary', {}, 'metrics/summary'],
    ['list_plans', {}, 'plans'],
    ['list_cancellations', { outcome: 'saved' }, 'cancellations?outcome=saved'],
    ['get_entitlements', {}, 'entitlements'],
    [
      'get_entitlements',
      { customerId: 'ana@example.com' },
      'entitlements?customerId=ana%40example.com',
    ],
    ['list_subscriptions', { limit: '101' }, 'subscriptions?limit=101'],
    ['list_subscriptions', { cursor: 'made up' }, 'subscriptions?cursor=made+up'],
    ['get_subscription', { subscriptionId: '7' }, 'subscriptions/7'],
    ['get_subscription', { subscriptionId: 'x' }, 'subscriptions/x'],
  ];

  test('answers what a request with the key is answered, headers included', async () => {
    const { key, run } = await openShop();
    for (const [operation, input, path] of questions) {
      const shown = await run(operation, input);
      const asked = await get(`${world.base}/${path}`, key);
      assert.equal(shown.status, asked.status, path);
      assert.deepEqual(shown.body, asked.body, path);
      for (const [name, value] of shown.headers) {
        // The second request finds one slot less.
        if (name === 'ratelimit' || name === 'x-request-id') continue;
        assert.equal(asked.headers.get(name), value, name);
      }
      const other = codeBlocks(shown.page.text).get('snippet-sh') ?? '';
      assert.ok(other.includes(`'${world.base}/${path}'`), other);
    }
  });

  test('counts against the key’s limit, as requests do', async () => {
    const { key, run } = await openShop('growth');
    assert.equal((await run('list_plans')).headers.get('ratelimit'), '"default";r=59;t=60');
    const plans = `${world.base}/plans`;
    assert.equal((await get(plans, key)).headers.get('ratelimit'), '"default";r=58;t=60');
    for (let each = 0; each < 58; each += 1) await get(plans, key);
    const refused = await run('list_plans');
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '60');
    assert.deepEqual(refused.body, {
      success: false,
      message: 'Rate limit exceeded. Retry after 60 seconds.',
    });
  });

  test('refuses what the key may not do: its scopes, its end, the shop’s tier', async () => {
    const { shop, id, run } = await openShop('growth', ['read:plans']);
    const { store, clock } = world;
    const unscoped = await run('get_metrics_summary');
    assert.equal(unscoped.status, 403);
    assert.equal(
      unscoped.body.message,
      'This API key does not have the required scope: read:metrics.',
    );
    assert.equal((await run('list_plans')).status, 200);

    const keyParts = { sql: store.write, clock, log: silentLog };
    const expired = { shopId: shop.id, id: apiKeys.newId(), actor: { who: 'command line' } };
    const created = await createSecret(apiKeys, keyParts, expired, {
      name: 'Old',
      scopes: ['read:plans'],
      expiresAt: new Date(clock.now()),
    });
    assert.equal(created.kind, 'created');
    const ended = await run('list_plans', {}, expired.id);
    assert.deepEqual([ended.status, ended.body.message], [401, 'Unauthorized']);
    assert.equal(ended.headers.get('www-authenticate'), 'Bearer');

    await updateShopTier(store.write, shop.id, 'starter');
    const locked = await run('list_plans');
    assert.equal(locked.status, 403);
    assert.match(locked.body.message, /requires the Growth plan/);
    await updateShopTier(store.write, shop.id, 'growth');
    await revokeSecret(apiKeys, keyParts, { ...expired, id });
    assert.equal((await run('list_plans')).status, 401);
  });

  test('offers the parameters of each operation, with ids that exist', async () => {
    const { visitor, path } = await openShop();
    const fieldsOf = async (operation: string) => {
      const { text } = await visitor.get(`${path}?operation=${operation}`);
      return [...text.matchAll(/name="input\.(\w+)"[^>]*?(?:value="([^"]*)"|>)/g)].map(
        ([, name, value]) => [name, value],
      );
    };
    assert.deepEqual(await fieldsOf('get_entitlements'), [['customerId', '501']]);
    assert.deepEqual(await fieldsOf('get_subscription'), [['subscriptionId', '1002']]);
    assert.deepEqual(await fieldsOf('get_metrics_summary'), []);
    assert.deepEqual(await fieldsOf('list_subscriptions'), [
      ['limit', '5'],
      ['cursor', ''],
      ['status', undefined],
    ]);
  });

  test('fills in a customer who has an active subscription, while there is one', async () => {
    const { shop, visitor, path } = await openShop();
    const customer = async () =>
      /name="input\.customerId"[^>]*?value="(\d+)"/.exec((await visitor.get(path)).text)?.[1];
    const at = '2026-11-20T00:00:00Z';
    const ended = { createdAt: at, status: 'cancelled', statusEvents: [{ at, to: 'cancelled' }] };
    await importAll(world.store, shop, [subscription(1009, { customerId: 509, ...ended })]);
    assert.equal(await customer(), '501');
  });

  test('colours the answer, and keeps the chosen language', async () => {
    const { run, visitor, path } = await openShop();
    const { page } = await run('list_plans');
    assert.match(page.text, /<span class="keyword">&quot;plans&quot;<\/span>/);
    assert.match(page.text, /<span class="number">\d+<\/span>/);
    const chosen = (text: string) =>
      /name="language[-\w]*"\s+value="(\w+)"\s+autocomplete="off"\s+checked/.exec(text)?.[1];
    assert.equal(chosen(page.text), 'sh');
    assert.equal(chosen((await visitor.get(`${path}?language=ruby`)).text), 'ruby');
    assert.equal(visitor.cookies.get('retention-language'), 'ruby');
    assert.equal(chosen((await run('list_plans')).page.text), 'ruby');
    assert.equal(chosen((await visitor.get('/docs/quick-start')).text), 'ruby');
  });

  test('responds 404 for other shops, their keys and unknown operations', async () => {
    const mine = await openShop();
    const theirs = await openShop();
    await mine.visitor.get(mine.path);
    const ask = (keyId: string, operation: string) =>
      mine.visitor.post(mine.path, { key: keyId, operation });
    const home = `/app/shops/${theirs.shop.id}/developers`;
    const inTheirs = [
      await mine.visitor.get('/app/nowhere'),
      ...(await Promise.all(
        ['', '/console', '/usage', '/requests'].map((each) => mine.visitor.get(home + each)),
      )),
      await mine.visitor.post(theirs.path, { key: theirs.id, operation: 'list_plans' }),
    ];
    const inMine = [
      await mine.visitor.get(`/app/shops/${mine.shop.id}/nowhere`),
      await ask(theirs.id, 'list_plans'),
      await ask(mine.id, 'drop_table'),
      await ask('', ''),
    ];
    for (const pages of [inTheirs, inMine]) {
      for (const { status, text } of pages) {
        assert.equal(status, 404);
        assert.equal(withoutTokens(text), withoutTokens(pages[0]?.text));
      }
    }
    // An address says what is wrong, and the same of another shop's key as of none.
    const unknown = await Promise.all(
      [theirs.id, 'key_0'].map((id) => mine.visitor.get(`${mine.path}?key=${id}`)),
    );
    const [ofTheirs, ofNone] = unknown.map(({ text }) => withoutTokens(text));
    assert.deepEqual(new Set(unknown.map(({ status }) => status)), new Set([400]));
    assert.equal(ofTheirs?.replaceAll(theirs.id, 'key_0'), ofNone);
    const { text } = await mine.visitor.get(`${mine.path}?operation=drop_table`);
    assert.match(text, /“drop_table” is not an operation\. Choose get_entitlements, /);
    const requests = await theirs.visitor.get(`${home}/requests`);
    assert.match(requests.text, /No requests yet/);
  });

  test('runs nothing that answers figures for a role that sees none', async () => {
    const { shop, id, path } = await openShop();
    const { visitor } = await signedInOwner(world, { shopId: shop.id, role: 'developer' });
    const { text } = await visitor.get(path);
    const offered = [...text.matchAll(/console\?operation=(\w+)/g)].map(([, tool]) => tool);
    const others = ['get_entitlements', 'list_subscriptions', 'get_subscription', 'list_plans'];
    assert.deepEqual(offered, others);
    assert.equal((await visitor.post(path, { key: id, operation: 'list_plans' })).status, 200);
    for (const operation of ['get_metrics_summary', 'list_cancellations']) {
      assert.equal((await visitor.get(`${path}?operation=${operation}`)).status, 400);
      const refused = await visitor.post(path, { key: id, operation });
      assert.equal(refused.status, 404);
      assert.doesNotMatch(refused.text, /activeSubscribers|sessionId/);
    }
  });

  test('needs the form’s token', async () => {
    const { visitor, path, id } = await openShop();
    visitor.token = '';
    const page = await visitor.post(path, { key: id, operation: 'list_plans' });
    assert.equal(page.status, 403);
    assert.doesNotMatch(page.text, /Monthly box/);
  });
});
