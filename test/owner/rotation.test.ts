import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listKeys } from '../../src/store/keys/keys.ts';
import { auditOf } from '../support/audit.ts';
import { onOneDatabase } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { type World, createShop, createTestKey, get, startWorld } from '../support/world.ts';
import { plain } from './page-text.ts';
import { type Page, signedInOwner, keyIdIn } from './visitor.ts';

const hour = 3_600_000;
const wordsOf = ({ text }: Page) => plain(text).replace(/\s+([,.])/g, '$1');
const keyOf = ({ text }: Page) => /rtn_[\w-]{43}/.exec(text)?.[0] ?? '';

onOneDatabase('an expiring or rotated key', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  const ask = async (key: string) => (await get(`${world.base}/plans`, key)).status;

  async function openShop() {
    const shop = await createShop(world.store);
    const { visitor } = await signedInOwner(world, { shopId: shop.id });
    const old = await createTestKey(world.store, shop.id, ['read:plans', 'read:metrics']);
    const path = `/app/shops/${shop.id}/keys`;
    return { shop, visitor, old, path, rotation: `${path}/${old.id}/rotate` };
  }

  test('expires to the millisecond, even if it was just looked up', async () => {
    const { visitor, path } = await openShop();
    const id = keyIdIn(await visitor.get(`${path}/new`));
    const page = await visitor.post(path, { id, name: 'Till', scope: 'read:plans', expiry: '7' });
    const key = keyOf(page);
    assert.equal(await ask(key), 200);
    world.clock.advance(7 * 24 * hour - 1);
    assert.equal(await ask(key), 200);
    world.clock.advance(1);
    assert.equal(await ask(key), 401);
    world.clock.advance(hour);
    assert.equal(await ask(key), 401);
  });

  for (const [overlap, milliseconds] of [
    ['1', hour],
    ['24', 24 * hour],
    ['168', 168 * hour],
  ] as const) {
    test(`works beside the new one for an overlap of ${overlap} hours`, async () => {
      const { shop, visitor, old, rotation } = await openShop();
      const id = keyIdIn(await visitor.get(rotation));
      const page = await visitor.post(rotation, { id, overlap });
      assert.equal(page.status, 201);
      const key = keyOf(page);
      world.clock.advance(milliseconds - 1);
      assert.deepEqual([await ask(old.key), await ask(key)], [200, 200]);
      world.clock.advance(1);
      assert.deepEqual([await ask(old.key), await ask(key)], [401, 200]);
      const made = (await listKeys(world.store.write, shop.id)).find((each) => each.id === id);
      assert.deepEqual([made?.name, made?.expiresAt], ['test', null]);
      assert.deepEqual(made?.scopes.toSorted(), ['read:metrics', 'read:plans']);
    });
  }

  test('needs no attention once the new one is used', async () => {
    const { visitor, shop, rotation } = await openShop();
    const concerns = async () => {
      const { text } = await visitor.get(`/app/shops/${shop.id}`);
      const list = /<ul class="concerns".*?<\/ul>/s.exec(text)?.[0] ?? '';
      return list
        .replace(/<[^>]*>/g, '')
        .replace(/\s+/g, ' ')
        .trim();
    };
    assert.equal(await concerns(), '');
    const page = await visitor.post(rotation, {
      id: keyIdIn(await visitor.get(rotation)),
      overlap: '24',
    });
    world.clock.advance(16 * hour - 1);
    assert.equal(await concerns(), '');
    world.clock.advance(1);
    assert.match(
      await concerns(),
      /^Key “test” expires .*, and its new key is not used yet See keys →$/,
    );
    const first = keyIdIn(page) || (await listKeys(world.store.write, shop.id)).at(-1)?.id;
    // The new key is itself replaced before it is used.
    await visitor.confirm();
    const again = `/app/shops/${shop.id}/keys/${first}/rotate`;
    const next = await visitor.post(again, {
      id: keyIdIn(await visitor.get(again)),
      overlap: '24',
    });
    world.clock.advance(8 * hour - 1);
    assert.equal((await concerns()).split('is not used yet').length - 1, 1);
    assert.equal(await ask(keyOf(next)), 200);
    await until(async () => (await concerns()) === '');
  });

  test('is refused before the new one is shown, without an overlap', async () => {
    const { shop, visitor, old, rotation } = await openShop();
    const page = await visitor.post(rotation, {
      id: keyIdIn(await visitor.get(rotation)),
      overlap: '0',
    });
    assert.match(wordsOf(page), /The old key, …[\w-]{4}, has been revoked\. Requests with it/);
    // So that it is also refused by an instance whose clock is behind.
    const keys = await listKeys(world.store.write, shop.id);
    assert.ok(keys.find(({ id }) => id === old.id)?.revokedAt);
    // It was not used before, so no lease exists.
    assert.deepEqual([await ask(old.key), await ask(keyOf(page))], [401, 200]);
  });

  test('is replaced once, in any number of tabs and reloads', async () => {
    const { shop, visitor, old, path, rotation } = await openShop();
    const ids = [keyIdIn(await visitor.get(rotation)), keyIdIn(await visitor.get(rotation))];
    assert.notEqual(ids[0], ids[1]);
    const pages = await Promise.all(
      [...ids, ...ids].map((id) => visitor.copy().post(rotation, { id, overlap: '24' })),
    );
    assert.deepEqual(pages.map(({ status }) => status).toSorted(), [201, 303, 303, 303]);
    assert.equal((await listKeys(world.store.write, shop.id)).length, 2);
    assert.equal((await visitor.get(rotation)).location, path);
    const { text } = await visitor.get(path);
    assert.match(text, /Replaced by <code>…[\w-]{4}<\/code>\.\s+Works until <time/);
    const log = await auditOf(world.store.write, shop.id, 'key_');
    assert.deepEqual(log.map(({ what, target }) => [what, target?.startsWith(old.id)]).toSorted(), [
      ['key_created', false],
      ['key_rotated', true],
    ]);
  });

  test('says which key works until when, also once the new one is revoked', async () => {
    const { visitor, old, path, rotation } = await openShop();
    const see = async (address: string) => wordsOf(await visitor.get(address));
    const id = keyIdIn(await visitor.get(rotation));
    const page = await visitor.post(rotation, { id, overlap: '24' });
    const [oldEnd, newEnd] = [old.key, keyOf(page)].map((each) => `…${each.slice(-4)}`);
    const [, end = ''] = /works until (.*? UTC), beside this one\./.exec(wordsOf(page)) ?? [];
    assert.equal(Date.parse(end), Math.floor((world.clock.now() + 24 * hour) / 60_000) * 60_000);
    const live = await see(path);
    assert.ok(live.includes(`Replaces ${oldEnd}.`), live);
    assert.ok(live.includes(`Replaced by ${newEnd}. Works until ${end}`), live);
    const goesOn = `Its new key, ${newEnd}, goes on working.`;
    assert.ok((await see(`${path}/${old.id}/revoke`)).includes(goesOn));
    const stays = `The key that it replaced, ${oldEnd}, works until ${end}.`;
    assert.ok((await see(`${path}/${id}/revoke`)).includes(stays));
    const { location } = await visitor.post(`${path}/${id}/revoke`);
    assert.deepEqual([await ask(old.key), await ask(keyOf(page))], [200, 401]);
    const revoked = await see(location ?? '');
    assert.ok(revoked.includes(`Key revoked. It was never used. ${stays}`), revoked);
    const alone = `Replaced by ${newEnd}, which is revoked. Works until ${end}`;
    assert.ok(revoked.includes(alone), revoked);
    await visitor.post(`${path}/${old.id}/revoke`);
    // The lease of its last use.
    world.clock.advance(1_100);
    assert.equal(await ask(old.key), 401);
    assert.doesNotMatch(await see(location ?? ''), /orks until/);
  });

  test('expires no later when it is replaced, and cannot be replaced after it was revoked', async () => {
    const { shop, visitor, path } = await openShop();
    const id = keyIdIn(await visitor.get(`${path}/new`));
    const made = await visitor.post(path, { id, name: 'Till', scope: 'read:plans', expiry: '7' });
    world.clock.advance(7 * 24 * hour - hour);
    const { visitor: later } = await signedInOwner(world, { shopId: shop.id });
    const rotation = `${path}/${id}/rotate`;
    const newId = keyIdIn(await later.get(rotation));
    assert.equal((await later.post(rotation, { id: newId, overlap: '168' })).status, 201);
    world.clock.advance(hour);
    assert.equal(await ask(keyOf(made)), 401);
    await later.confirm();

    const other = await createTestKey(world.store, shop.id);
    const form = keyIdIn(await later.get(`${path}/${other.id}/rotate`));
    await later.post(`${path}/${other.id}/revoke`);
    const refused = await later.post(`${path}/${other.id}/rotate`, { id: form, overlap: '24' });
    assert.equal(refused.location, `${path}?done=ended`);
    assert.equal((await listKeys(world.store.write, shop.id)).length, 4);
  });

  test('cannot be replaced once it has expired', async () => {
    const { shop, visitor, path } = await openShop();
    const id = keyIdIn(await visitor.get(`${path}/new`));
    await visitor.post(path, { id, name: 'Till', scope: 'read:plans', expiry: '7' });
    world.clock.advance(7 * 24 * hour - 1);
    const { visitor: later } = await signedInOwner(world, { shopId: shop.id });
    const newId = keyIdIn(await later.get(`${path}/${id}/rotate`));
    world.clock.advance(1);
    const refused = await later.post(`${path}/${id}/rotate`, { id: newId, overlap: '24' });
    assert.equal(refused.location, `${path}?done=ended`);
    assert.equal((await listKeys(world.store.write, shop.id)).length, 2);
  });

  test('keeps the chosen lifetime in a form that is shown again', async () => {
    const { visitor, path } = await openShop();
    const id = keyIdIn(await visitor.get(`${path}/new`));
    await visitor.post(path, { id, name: 'Till', scope: 'read:plans', expiry: '7' });
    const rotation = `${path}/${id}/rotate`;
    const form = await visitor.get(rotation);
    assert.match(form.text, /value="7" selected/);
    const again = await visitor.post(rotation, { id: keyIdIn(form), overlap: '', expiry: '' });
    assert.equal(again.status, 422);
    assert.doesNotMatch(again.text, /value="7" selected/);
    const other = await visitor.post(rotation, { id: keyIdIn(form), overlap: '', expiry: '30' });
    assert.match(other.text, /value="30" selected/);
  });

  test('is not rotated with an unknown overlap, by another shop or on Starter', async () => {
    const { shop, visitor, old, rotation } = await openShop();
    const id = keyIdIn(await visitor.get(rotation));
    for (const overlap of ['', '2', '-1', '1e1']) {
      assert.equal(keyOf(await visitor.post(rotation, { id, overlap })), '');
    }
    const stranger = await openShop();
    await stranger.visitor.get('/app/account');
    const foreign = `${stranger.path}/${old.id}/rotate`;
    for (const path of [rotation, foreign]) {
      assert.equal((await stranger.visitor.get(path)).status, 404);
      const sent = await stranger.visitor.post(path, { id, overlap: '24' });
      assert.equal(sent.status, 404);
    }
    await world.store.write`update shops set tier = 'starter' where shop_id = ${shop.id}`;
    assert.equal((await visitor.post(rotation, { id, overlap: '24' })).status, 403);
    const keys = await listKeys(world.store.write, shop.id);
    assert.deepEqual(
      keys.map((key) => [key.id, key.expiresAt, key.replacedBy]),
      [[old.id, null, null]],
    );
  });

  test('never gives a key without an end for a lifetime that cannot be chosen', async () => {
    const { visitor, path, rotation } = await openShop();
    const id = keyIdIn(await visitor.get(`${path}/new`));
    const refused = [
      await visitor.post(path, { id, name: 'Till', scope: 'read:plans', expiry: '8' }),
      await visitor.post(rotation, { id, overlap: '1', expiry: 'soon' }),
    ];
    for (const { status, text } of refused) {
      assert.equal(status, 422);
      assert.match(text, /Choose when the key expires\./);
      assert.doesNotMatch(text, /rtn_/);
    }
  });

  test('keeps the lifetime that was chosen, in a refused form and in a rotation', async () => {
    const { visitor, old, path, rotation } = await openShop();
    const chosen = ({ text }: Page) => /<option value="(\d*)"\s+selected/.exec(text)?.[1];
    const id = keyIdIn(await visitor.get(`${path}/new`));
    const refused = await visitor.post(path, { id, name: '', scope: 'read:plans', expiry: '90' });
    assert.deepEqual([refused.status, chosen(refused)], [422, '90']);
    const made = await visitor.post(path, { id, name: 'Till', scope: 'read:plans', expiry: '90' });
    assert.equal(made.status, 201);
    world.clock.advance(hour);
    await visitor.confirm();
    assert.equal(chosen(await visitor.get(`${path}/${id}/rotate`)), '90');
    const unclear = await visitor.post(`${path}/${id}/rotate`, { id: 'key_0', expiry: '7' });
    assert.deepEqual([unclear.status, chosen(unclear)], [422, '7']);
    assert.match(unclear.text, /Choose when the old key expires\./);
    assert.equal(chosen(await visitor.get(rotation)), undefined);

    // A key of the command line may have any lifetime.
    const lifetime = world.clock.now() + 100 * 24 * hour;
    await world.store.write`
      update api_keys set expires_at = ${new Date(lifetime)} where key_id = ${old.id}`;
    assert.equal(chosen(await visitor.get(rotation)), '90');
  });
});
