import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import { auditOf } from '../support/audit.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, createTestKey, startWorld } from '../support/world.ts';
import { mcpRequest } from './mcp-call.ts';
import { plain } from './page-text.ts';
import { type Page, signedInOwner, keyIdIn } from './visitor.ts';

const keyOf = ({ text }: Page) => /rtn_[\w-]{43}/.exec(text)?.[0] ?? '';

onOneDatabase('a key that is bound to networks', (open) => {
  let world: World<Clock>;
  before(async () => {
    // Needs a running clock, because a change waits for leases to end.
    world = await startWorld(open(), { clock: systemClock, listen: { trustedProxies: 1 } });
  });
  after(() => world.close());

  async function openShop() {
    const shop = await createShop(world.store, { tier: 'growth' });
    const place = { ...world, shop };
    const { visitor } = await signedInOwner(place);
    return { shop, visitor, path: `/app/shops/${shop.id}/keys` };
  }

  /** The answers to a request over REST and MCP from an address behind the proxy. */
  async function ask(key: string, from: string) {
    const headers = { 'x-forwarded-for': from };
    const answers = [
      await fetch(`${world.base}/plans`, {
        headers: { authorization: `Bearer ${key}`, ...headers },
      }),
      await mcpRequest(world.service.baseUrl, key, headers),
    ];
    return Promise.all(
      answers.map(async (answer) => {
        const all = [...answer.headers].filter(([name]) => !/^(?:date|x-request-id)$/.test(name));
        return { status: answer.status, headers: all, text: await answer.text() };
      }),
    );
  }
  const statuses = async (key: string, from: string) =>
    (await ask(key, from)).map(({ status }) => status);

  test('is accepted from them over REST and MCP, and elsewhere answered like an unknown one', async () => {
    const { shop, visitor, path } = await openShop();
    const id = keyIdIn(await visitor.get(`${path}/new`));
    const fields = { id, name: 'Till', scope: 'read:plans' };
    const made = await visitor.post(path, {
      ...fields,
      networks: '203.0.113.0/24 2001:db8:1::/48, 198.51.100.7',
    });
    assert.equal(made.status, 201);
    const key = keyOf(made);
    for (const from of ['203.0.113.200', '2001:db8:1::5', '198.51.100.7']) {
      assert.deepEqual(await statuses(key, from), [200, 200], from);
    }
    const unknown = await ask(`rtn_${'A'.repeat(43)}`, '192.0.2.1');
    for (const from of ['192.0.2.1', '2001:db8:2::5', '198.51.100.8', 'unknown']) {
      assert.deepEqual(await ask(key, from), unknown, from);
    }
    assert.deepEqual(
      unknown.map(({ status }) => status),
      [401, 401],
    );
    const page = plain((await visitor.get(path)).text);
    assert.ok(page.includes('Only from 203.0.113.0/24, 2001:db8:1::/48, 198.51.100.7'));

    // The owner sees that requests were refused.
    const log = await visitor.get(`/app/shops/${shop.id}/developers/requests?status=401`);
    const refused = [...log.text.matchAll(/<tr>(?:(?!<\/tr>).)*401(?:(?!<\/tr>).)*Till/gs)];
    assert.equal(refused.length, 8);
    assert.match(plain(log.text), /or is not allowed in the network that the request came from/);
    // An owner who tries the key needs no such network.
    const consolePath = `/app/shops/${shop.id}/developers/console`;
    await visitor.get(consolePath);
    const tried = await visitor.post(consolePath, { key: id, operation: 'list_plans' });
    assert.match(plain(tried.text), /200 OK/);
  });

  test('follows its page by the time that this answers, and keeps networks when it is rotated', async () => {
    const { shop, visitor, path } = await openShop();
    const { id, key } = await createTestKey(world.store, shop.id, ['read:plans']);
    const networks = `${path}/${id}/networks`;
    assert.deepEqual(await statuses(key, '192.0.2.1'), [200, 200]);
    assert.equal((await visitor.get(networks)).status, 200);

    const wrong = await visitor.post(networks, { networks: '203.0.113.0/24, office' });
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /“office” is not an IP address or network/);
    assert.match(wrong.text, /value="203.0.113.0\/24, office"/);
    assert.deepEqual(await statuses(key, '192.0.2.1'), [200, 200]);

    const saved = await visitor.post(networks, { networks: '203.0.113.0/24' });
    assert.deepEqual([saved.status, saved.location], [303, `${path}?done=networks`]);
    assert.deepEqual(await statuses(key, '192.0.2.1'), [401, 401]);
    assert.deepEqual(await statuses(key, '203.0.113.1'), [200, 200]);
    assert.match((await visitor.get(networks)).text, /value="203.0.113.0\/24"/);

    const rotation = `${path}/${id}/rotate`;
    const newId = keyIdIn(await visitor.get(rotation));
    const successor = keyOf(await visitor.post(rotation, { id: newId, overlap: '24' }));
    assert.deepEqual(await statuses(successor, '192.0.2.1'), [401, 401]);
    assert.deepEqual(await statuses(successor, '203.0.113.1'), [200, 200]);

    // Of the new key alone.
    await visitor.post(`${path}/${newId}/networks`, { networks: ' ' });
    assert.deepEqual(await statuses(successor, '192.0.2.1'), [200, 200]);
    assert.deepEqual(await statuses(key, '192.0.2.1'), [401, 401]);
    const entries = await auditOf(world.store.write, shop.id);
    assert.deepEqual(
      entries.filter(({ what }) => what === 'key_networks_set').map(({ target }) => target),
      [`${id} test, now 203.0.113.0/24`, `${newId} test, now everywhere`],
    );
    const page = plain((await visitor.get(path)).text);
    assert.ok(page.includes(`changed the networks of the key test (${id}), now 203.0.113.0/24`));
  });

  test('of another shop, revoked or invented is not changed', async () => {
    const { shop, visitor, path } = await openShop();
    const other = await createShop(world.store);
    const theirs = await createTestKey(world.store, other.id);
    const { id } = await createTestKey(world.store, shop.id);
    await visitor.get(`${path}/${id}/revoke`);
    await visitor.post(`${path}/${id}/revoke`);
    for (const [each, status] of [
      [theirs.id, 404],
      ['key_0123456789abcdef', 404],
      [id, 303],
    ] as const) {
      const { status: answered } = await visitor.post(`${path}/${each}/networks`, {
        networks: '203.0.113.0/24',
      });
      assert.equal(answered, status, each);
    }
    const networks = await Promise.all(
      [shop, other].map(async (each) => listKeys(world.store.write, each.id)),
    );
    assert.deepEqual(
      networks.flat().map((each) => each.networks),
      [[], []],
    );
  });

  test('is not made with a network that is none', async () => {
    const { shop, visitor, path } = await openShop();
    const id = keyIdIn(await visitor.get(`${path}/new`));
    const fields = { id, name: 'Till', scope: 'read:plans', networks: '203.0.113.0/33' };
    const page = await visitor.post(path, fields);
    assert.equal(page.status, 422);
    assert.match(page.text, /“203.0.113.0\/33” is not an IP address or network/);
    assert.match(page.text, /value="203.0.113.0\/33"[^>]*aria-invalid="true"/s);
    const commas = await visitor.post(path, { ...fields, networks: ',,,' });
    assert.equal(commas.status, 422);
    assert.match(commas.text, /Give a network such as 203\.0\.113\.0\/24/);
    assert.equal((await listKeys(world.store.write, shop.id)).length, 0);
    assert.equal((await visitor.post(path, { ...fields, networks: '' })).status, 201);
    const [made] = await listKeys(world.store.write, shop.id);
    assert.deepEqual(made?.networks, []);
    await visitor.get(`${path}/${made?.id}/networks`);
    const changed = await visitor.post(`${path}/${made?.id}/networks`, { networks: ' ,' });
    assert.equal(changed.status, 422);
  });
});
