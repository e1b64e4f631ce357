import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { apiKeys } from '../../src/access/keys/keys.ts';
import { rotateSecret } from '../../src/access/secrets.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import { findShop, updateKeyPolicy } from '../../src/store/shops.ts';
import { auditOf } from '../support/audit.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, createTestKey, silentLog, startWorld } from '../support/world.ts';
import { plain } from './page-text.ts';
import { type Page, signedInOwner, keyIdIn } from './visitor.ts';

const day = 86_400_000;
/** The options of a select, with the selected one in brackets. */
const optionsOf = ({ text }: Page, name: string) =>
  [
    ...(new RegExp(`<select\\s+id="${name}".*?</select>`, 's').exec(text)?.[0] ?? '').matchAll(
      /<option value="(\d*)"\s*(selected)?/g,
    ),
  ]
    .map(([, value = '', isSelected]) => (isSelected ? `[${value}]` : value))
    .join(' ');

onOneDatabase('the policy of a shop’s keys', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  async function openShop() {
    const shop = await createShop(world.store, { tier: 'growth' });
    const { visitor } = await signedInOwner(world, { shopId: shop.id });
    const path = `/app/shops/${shop.id}/keys`;
    const lives = async () =>
      (await listKeys(world.store.write, shop.id)).map(
        ({ createdAt, expiresAt }) =>
          expiresAt && (expiresAt.getTime() - createdAt.getTime()) / day,
      );
    const create = async (fields: Readonly<Record<string, string>>) => {
      const id = keyIdIn(await visitor.get(`${path}/new`));
      return visitor.post(path, { id, name: 'Till', scope: 'read:plans', ...fields });
    };
    return { shop, visitor, path, lives, create };
  }

  test('is nothing at first: a key may live forever', async () => {
    const { visitor, path, lives, create } = await openShop();
    const keys = await visitor.get(path);
    assert.equal(optionsOf(keys, 'default'), ' 7 30 90 365');
    assert.equal(optionsOf(keys, 'longest'), ' 7 30 90 365');
    assert.equal(optionsOf(await visitor.get(`${path}/new`), 'expiry'), ' 7 30 90 365');
    assert.equal((await create({})).status, 201);
    assert.deepEqual(await lives(), [null]);
  });

  test('gives the form its choices and its default, and refuses others', async () => {
    const { shop, visitor, path, lives, create } = await openShop();
    await visitor.get(path);
    const saved = await visitor.post(`${path}/policy`, { default: '30', longest: '90' });
    assert.deepEqual([saved.status, saved.location], [303, `${path}?done=policy`]);
    const keys = await visitor.get(path);
    assert.equal(optionsOf(keys, 'default'), ' 7 [30] 90 365');
    assert.equal(optionsOf(keys, 'longest'), ' 7 30 [90] 365');
    assert.equal(optionsOf(await visitor.get(`${path}/new`), 'expiry'), '7 [30] 90');

    for (const expiry of ['', '365', '91', 'never']) {
      const page = await create({ expiry });
      assert.equal(page.status, 422, expiry);
      assert.match(page.text, /Choose when the key expires, after 90 days at the latest\./);
    }
    assert.equal((await create({ expiry: '90' })).status, 201);
    assert.deepEqual(await lives(), [90]);
    const entry = (await auditOf(world.store.write, shop.id)).find(
      ({ what }) => what === 'key_policy_set',
    );
    assert.equal(entry?.target, 'for 30 days by default, at most 90 days');
    assert.match(entry.who, /^owner /);
  });

  test('keeps keys that were made before, names them, and holds for what they are rotated to', async () => {
    const { shop, visitor, path, lives } = await openShop();
    const old = await createTestKey(world.store, shop.id, ['read:plans']);
    const short = await createTestKey(world.store, shop.id, ['read:plans']);
    // A cluster computes no date while it writes.
    const [made] = await world.store.write<[{ end: Date }]>`
      select created_at + interval '30 days' as end from api_keys
      where shop_id = ${shop.id} and key_id = ${short.id}`;
    await world.store.write`
      update api_keys set expires_at = ${made.end}
      where shop_id = ${shop.id} and key_id = ${short.id}`;
    assert.doesNotMatch((await visitor.get(path)).text, /Made before/);
    await visitor.post(`${path}/policy`, { default: '', longest: '30' });
    const page = plain((await visitor.get(path)).text);
    assert.ok(
      page.includes(`Made before, and valid for longer: test …${old.key.slice(-4)}.`),
      page,
    );
    assert.deepEqual(new Set(await lives()), new Set([null, 30]));

    const rotation = `${path}/${old.id}/rotate`;
    const form = await visitor.get(rotation);
    assert.equal(optionsOf(form, 'expiry'), '7 [30]');
    const id = keyIdIn(form);
    const refused = await visitor.post(rotation, { id, overlap: '24', expiry: '' });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /after 30 days at the latest/);
    assert.equal((await visitor.post(rotation, { id, overlap: '24', expiry: '30' })).status, 201);
    assert.deepEqual((await lives()).toSorted(), [1, 30, 30]);
  });

  test('that came after the form was read makes no key', async () => {
    const { shop, path, lives } = await openShop();
    const { id } = await createTestKey(world.store, shop.id, ['read:plans']);
    await updateKeyPolicy(world.store.write, shop.id, { keyDefaultDays: null, keyMaxDays: 45 });
    const made = await rotateSecret(
      apiKeys,
      { sql: world.store.write, clock: world.clock, log: silentLog },
      { shopId: shop.id, id, actor: { who: 'command line' } },
      {
        newId: apiKeys.newId(),
        newExpiresAt: new Date(world.clock.now() + 45 * day + 1),
        overlapMilliseconds: 0,
      },
    );
    assert.deepEqual(made, { kind: 'outlives' });
    assert.deepEqual(await lives(), [null]);
    const { visitor } = await signedInOwner(world, { shopId: shop.id });
    assert.match((await visitor.get(`${path}?done=outlives`)).text, /so none was made/);
    // A number of days that is none of the usual ones can be chosen, too.
    assert.equal(optionsOf(await visitor.get(`${path}/new`), 'expiry'), '7 30 [45]');
  });

  test('is not changed by what the form cannot have', async () => {
    const { shop, visitor, path } = await openShop();
    await visitor.get(path);
    await visitor.post(`${path}/policy`, { default: '30', longest: '90' });
    for (const fields of [
      { default: '-1', longest: '90' },
      { default: '7.5', longest: '90' },
      { default: '7', longest: '3651' },
      { default: 'soon', longest: '' },
      { default: '' },
    ]) {
      const { status, location } = await visitor.post(
        `${path}/policy`,
        fields as Record<string, string>,
      );
      assert.deepEqual([status, location], [303, path]);
    }
    const found = await findShop(world.store.write, shop.id);
    assert.deepEqual([found?.keyDefaultDays, found?.keyMaxDays], [30, 90]);
    const longer = await visitor.post(`${path}/policy`, { default: '365', longest: '90' });
    assert.equal(longer.status, 422);
    assert.match(
      longer.text,
      /New keys cannot be valid for 365 days by default, but for 90 days at most\./,
    );
    assert.equal(optionsOf(longer, 'default'), ' 7 30 90 [365]');
    const still = await findShop(world.store.write, shop.id);
    assert.deepEqual([still?.keyDefaultDays, still?.keyMaxDays], [30, 90]);
    // Nothing is no limit again.
    await visitor.post(`${path}/policy`, { default: '', longest: '' });
    const free = await findShop(world.store.write, shop.id);
    assert.deepEqual([free?.keyDefaultDays, free?.keyMaxDays], [null, null]);
  });
});
