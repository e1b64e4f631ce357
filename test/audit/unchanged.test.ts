import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { upsertFactorPolicy } from '../../src/store/owners/factors.ts';
import { updateKeepMonths, updateShopTier } from '../../src/store/shops.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { auditOf } from '../support/audit.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, createTestKey, startWorld } from '../support/world.ts';

onOneDatabase('the audit log has no entry', (open) => {
  let world: World<Clock>;
  before(async () => {
    // A change of a key's networks waits for leases to end.
    world = await startWorld(open(), { clock: systemClock });
  });
  after(() => world.close());

  async function openShop() {
    const shop = await createShop(world.store, { tier: 'growth' });
    const { visitor } = await signedInOwner({ ...world, shop });
    const acts = async () =>
      (await auditOf(world.store.write, shop.id))
        .map(({ what }) => what)
        .filter((what) => what !== 'owner_invited' && what !== 'owner_added');
    return { shop, visitor, acts, home: `/app/shops/${shop.id}` };
  }

  test('of a file whose headers alone were asked for', async () => {
    const { visitor, acts, home } = await openShop();
    for (const path of ['/subscriptions.csv', '/audit.csv']) {
      const { status, text, headers } = await visitor.head(home + path);
      assert.deepEqual([status, text], [200, '']);
      assert.match(headers.get('content-type') ?? '', /^text\/csv/);
    }
    assert.deepEqual(await acts(), []);
    await visitor.get(`${home}/subscriptions.csv`);
    assert.deepEqual(await acts(), ['rows_exported']);
  });

  test('of a form that is saved as it was', async () => {
    const { shop, visitor, acts, home } = await openShop();
    const { id } = await createTestKey(world.store, shop.id);
    await visitor.get(`${home}/keys`);
    const forms = [
      ['/app/account/name', { name: '' }, { name: 'Ana' }, 'name_changed'],
      [
        `${home}/keys/policy`,
        { default: '', longest: '' },
        { default: '30', longest: '' },
        'key_policy_set',
      ],
      [
        `${home}/keys/${id}/networks`,
        { networks: '' },
        { networks: '203.0.113.0/24, ::1' },
        'key_networks_set',
      ],
      [`${home}/second-factor`, {}, undefined, undefined],
    ] as const;
    for (const [path, same, other, act] of forms) {
      const earlier = await acts();
      const save = async (fields: Readonly<Record<string, string>>) =>
        assert.equal((await visitor.post(path, fields)).status, 303, path);
      await save(same);
      assert.deepEqual(await acts(), earlier, path);
      if (!other) continue;
      await save(other);
      await save(other);
      assert.deepEqual(await acts(), [...earlier, act], path);
    }
  });

  test('of a tier, a second factor or a retention that stays', async () => {
    const { shop } = await openShop();
    const { write } = world.store;
    assert.equal(await updateShopTier(write, shop.id, 'growth'), false);
    assert.equal(await updateShopTier(write, shop.id, 'pro'), true);
    for (const [keep, isChanged] of [
      [{}, false],
      [{ payment: 12 }, true],
      [{ payment: 12 }, false],
      [{}, true],
    ] as const) {
      assert.equal(await updateKeepMonths(write, shop.id, keep), isChanged);
    }
    for (const [requires, isChanged] of [
      [false, false],
      [true, true],
      [true, false],
      [false, true],
    ] as const) {
      const stored = await write.begin((tx) => upsertFactorPolicy(tx, shop.id, requires));
      assert.equal(stored, isChanged);
    }
  });
});
