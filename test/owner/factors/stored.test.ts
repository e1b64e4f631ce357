import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import {
  countRecoveryCodes,
  deleteChallengesBefore,
  deleteChallengesOf,
  deleteFactors,
  findPasskey,
  findWaitingOwner,
  insertChallenge,
  insertFactor,
  listApps,
  listFactors,
  listMembersWithoutFactor,
  raiseCounter,
  replaceFactorKey,
  replaceRecoveryCodes,
  takeChallenge,
  upsertFactorPolicy,
  useRecoveryCode,
} from '../../../src/store/owners/factors.ts';
import {
  ensureOwner,
  findOwner,
  insertMembership,
  listMemberships,
  lockAccount,
} from '../../../src/store/owners/owners.ts';

import { onEveryDatabase } from '../../support/databases.ts';
import { type World, createShop, startWorld } from '../../support/world.ts';

const hash = () => randomBytes(32).toString('base64');

onEveryDatabase('what is stored of second factors', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  test('can be written, read, used once and removed', async () => {
    const { write } = world.store;
    const { id: shopId } = await createShop(world.store);
    // Services beside it, which have the system's time, delete challenges that have expired.
    const at = new Date(systemClock.now());
    const later = new Date(at.getTime() + 60_000);
    const email = `${randomUUID()}@example.com`;
    const ownerId = await ensureOwner(write, email, at);
    assert.deepEqual(await findOwner(write, ownerId), {
      ownerId,
      email,
      name: null,
      passwordHash: null,
    });
    const passkey = {
      factorId: randomUUID(),
      ownerId,
      // 64 bytes, which base64 in PostgreSQL breaks into lines.
      credentialId: Buffer.alloc(64, 0xfb).toString('base64url'),
      name: 'Laptop',
      key: 'key',
      createdAt: at,
    };
    const app = { ...passkey, factorId: randomUUID(), credentialId: null };
    await write.begin(async (tx) => {
      await insertMembership(tx, { ownerId, shopId, role: 'owner' }, at);
      await lockAccount(tx, ownerId);
      for (const factor of [passkey, app]) assert.ok(await insertFactor(tx, factor));
      const twice = { ...passkey, factorId: randomUUID() };
      assert.ok(!(await insertFactor(tx, twice)));
    });
    const stored = { ...passkey, counter: 0, usedAt: null };
    assert.deepEqual(await findPasskey(write, passkey.credentialId), stored);
    const [first, second] = await listFactors(write, ownerId);
    assert.deepEqual(
      new Set([first?.credentialId, second?.credentialId]),
      new Set([null, passkey.credentialId]),
    );
    await replaceFactorKey(write, { ...stored, ...app }, 'sealed');
    assert.ok(
      (await listApps(write)).some(({ key, ownerId: of }) => of === ownerId && key === 'sealed'),
    );
    const counts = [0, 0, 7, 7, 6, 0, 8];
    const raised: boolean[] = [];
    for (const count of counts) raised.push(await raiseCounter(write, passkey, count, later));
    assert.deepEqual(raised, [true, true, true, false, false, false, true]);

    const codes = [hash(), hash()];
    await write.begin(async (tx) => {
      await replaceRecoveryCodes(tx, ownerId, codes, at);
      for (const isNew of [true, false]) {
        assert.equal(await useRecoveryCode(tx, ownerId, codes[0] as string, later), isNew);
      }
    });
    assert.deepEqual(await countRecoveryCodes(write, ownerId), { left: 1, all: 2, madeAt: at });

    const tokens = [hash(), hash(), hash(), hash()] as const;
    const linkHash = hash();
    for (const tokenHash of tokens) {
      await insertChallenge(write, { tokenHash, ownerId, linkHash, expiresAt: later }, at);
    }
    assert.equal((await findWaitingOwner(write, tokens[0], at))?.ownerId, ownerId);
    assert.equal(await findWaitingOwner(write, tokens[0], later), undefined);
    assert.deepEqual(
      [
        await takeChallenge(write, tokens[0], later),
        await takeChallenge(write, tokens[0], at),
        await takeChallenge(write, tokens[0], at),
      ],
      [undefined, { provider: null, linkHash }, undefined],
    );
    await deleteChallengesBefore(write, later);
    assert.ok(!(await takeChallenge(write, tokens[1], at)));

    const without = () => listMembersWithoutFactor(write, shopId);
    assert.deepEqual(await without(), []);
    const demand = (requires: boolean) =>
      write.begin((tx) => upsertFactorPolicy(tx, shopId, requires));
    assert.deepEqual(
      [await demand(true), await demand(true), await demand(false)],
      [true, false, true],
    );
    await demand(true);
    assert.deepEqual(
      [...(await listMemberships(write, ownerId))],
      [{ shopId, role: 'owner', requiresSecondFactor: true }],
    );
    await write.begin(async (tx) => {
      await deleteChallengesOf(tx, ownerId);
      assert.equal((await deleteFactors(tx, ownerId, passkey.factorId)).length, 1);
      assert.equal((await deleteFactors(tx, ownerId, 'none')).length, 0);
      assert.equal((await deleteFactors(tx, ownerId)).length, 1);
    });
    assert.equal((await without()).length, 1);
  });
});
