import assert from 'node:assert/strict';
import { type TestContext, after, before, test } from 'node:test';
import { listKeys } from '../../src/store/keys/keys.ts';
import { onOneDatabase } from '../support/databases.ts';
import { holdWaits } from '../support/held-waits.ts';
import { type World, createShop, createTestKey, startWorld } from '../support/world.ts';
import { type Page, signedInOwner, keyIdIn } from './visitor.ts';

/** As long as any lease can last that was read before the commit, and a tenth more. */
const drainMilliseconds = 1100;

onOneDatabase('the owner’s pages say that a key is revoked', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  async function openShop() {
    const shop = await createShop(world.store);
    const { visitor } = await signedInOwner(world, { shopId: shop.id });
    const { id } = await createTestKey(world.store, shop.id);
    const isRevoked = async () => {
      const keys = await listKeys(world.store.write, shop.id);
      return keys.find((each) => each.id === id)?.revokedAt !== null;
    };
    return { visitor, isRevoked, path: `/app/shops/${shop.id}/keys/${id}` };
  }

  /** Checks that the key is revoked before the wait, and that the answer comes after it. */
  async function answerAfterWait(
    t: TestContext,
    isRevoked: () => Promise<boolean>,
    send: () => Promise<Page>,
  ): Promise<Page> {
    const waits = holdWaits(t, drainMilliseconds);
    const answer = send();
    const first = await Promise.race([waits.begun.then(() => 'wait'), answer.then(() => 'answer')]);
    assert.deepEqual([first, await isRevoked()], ['wait', true]);
    waits.release();
    return answer;
  }

  // Requirements: rest.auth.revoked-at-once.
  test('after all leases from before have ended', async (t) => {
    const { visitor, isRevoked, path } = await openShop();
    await visitor.get(`${path}/revoke`);
    const page = await answerAfterWait(t, isRevoked, () => visitor.post(`${path}/revoke`));
    assert.match(page.location ?? '', /\/keys\?done=revoked&key=key_[0-9a-f]{16}$/);
  });

  // Requirements: rest.auth.revoked-at-once.
  test('also when it is replaced without an overlap', async (t) => {
    const { visitor, isRevoked, path } = await openShop();
    const { text } = await visitor.get(`${path}/rotate`);
    const id = keyIdIn({ text });
    const page = await answerAfterWait(t, isRevoked, () =>
      visitor.post(`${path}/rotate`, { id, overlap: '0' }),
    );
    assert.equal(page.status, 201);
    assert.match(
      page.text,
      /The old key, <code>….{4}<\/code>,\s+has been revoked\. Requests with it are refused\./,
    );
  });
});
