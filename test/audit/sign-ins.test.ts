import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Store, openStore } from '../../src/store/open.ts';
import { installation } from '../../src/store/owners/audit.ts';
import { findOwnerByEmail, insertMembership } from '../../src/store/owners/owners.ts';
import { migratedFolder } from '../cli/process.ts';
import { newAddress, newEmail, signIn, signedInOwner } from '../owner/visitor.ts';
import { auditOf } from '../support/audit.ts';
import { type World, createShop, now, startWorld } from '../support/world.ts';

describe('sign-ins in the audit log', { timeout: 600_000 }, () => {
  let store: Store;
  let world: World;
  before(async () => {
    store = await openStore({ databaseUrl: undefined, dataDir: migratedFolder(), role: 'serve' });
    world = await startWorld(store);
  });
  after(() => store.close());

  test('are in the chains of all shops of the owner; of unknown addresses, 10 a minute are in the installation’s', async () => {
    const { email } = await signedInOwner(world);
    const other = await createShop(store);
    const stranger = await createShop(store);
    const { ownerId = '' } = (await findOwnerByEmail(store.write, email)) ?? {};
    const member = { ownerId, shopId: other.id, role: 'owner' } as const;
    await store.write.begin((tx) => insertMembership(tx, member, new Date(now)));
    const { baseUrl } = world.service;
    await signIn(baseUrl, email, 'wrong', newAddress());
    await signIn(baseUrl, email);
    const unknown = Array.from({ length: 13 }, () => newEmail());
    for (const each of unknown) await signIn(baseUrl, each, 'wrong', newAddress());
    // Which waits for what follows answers.
    await world.service.close();

    const actsOf = async (shopId: number) =>
      (await auditOf(store.write, shopId)).map(({ what }) => what);
    assert.deepEqual(await actsOf(world.shop.id), [
      'owner_invited',
      'owner_added',
      'sign_in_failed',
      'signed_in',
    ]);
    assert.deepEqual(await actsOf(other.id), ['sign_in_failed', 'signed_in']);
    assert.deepEqual(await actsOf(stranger.id), []);
    const failed = await auditOf(store.write, installation);
    assert.deepEqual(
      failed.map(({ what }) => what),
      Array.from({ length: 10 }, () => 'unknown_sign_in_failed'),
    );
    const stored = JSON.stringify(failed);
    for (const each of unknown) assert.ok(!stored.includes(each));
  });
});
