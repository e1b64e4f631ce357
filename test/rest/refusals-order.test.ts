import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { updateRevokedKey } from '../../src/store/keys/keys.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, createTestKey, get, now, startWorld, type World } from '../support/world.ts';
import { type Scope, scopes } from '../../src/vocabulary.ts';

/** Every operation with an invalid request, and its refusal for an authorised caller. */
const requests = [
  ['/entitlements?customerId=x', 'read:entitlements', 400],
  ['/subscriptions?limit=0&status=x', 'read:subscriptions', 400],
  ['/subscriptions/x', 'read:subscriptions', 404],
  ['/metrics/summary?limit=0', 'read:metrics', 200],
  ['/plans?limit=0', 'read:plans', 200],
  ['/cancellations?cursor=x&outcome=x', 'read:metrics', 400],
] as const;

onOneDatabase('the order of refusals', (open) => {
  let world: World;
  const keyOf = async (tier: 'free' | 'growth', held: readonly Scope[]) => {
    const shop = await createShop(world.store, { tier });
    return { shop, ...(await createTestKey(world.store, shop.id, held)) };
  };

  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  for (const [path, scope, own] of requests) {
    // Requirements: rest.scopes.exactly-one, rest.scopes.lacking, rest.errors.403-scope.
    test(`401, tier, 429, scope, then ${own}: ${path}`, async () => {
      const others = scopes.filter((each) => each !== scope);
      const url = world.base + path;

      // Each of these breaks one rule and all that follow it.
      const revoked = await keyOf('free', others);
      await updateRevokedKey(world.store.write, revoked.shop.id, revoked.id, new Date(now));
      const withoutTier = await keyOf('free', others);
      const exhausted = await keyOf('growth', others);
      for (let count = 0; count < 60; count += 1) {
        assert.equal((await get(url, exhausted.key)).status, 403);
      }
      const withoutScope = await keyOf('growth', others);
      const withScope = await keyOf('growth', [scope]);

      const answers = [];
      for (const { key } of [revoked, withoutTier, exhausted, withoutScope, withScope]) {
        const { status, body } = await get(url, key);
        answers.push([status, body.message]);
      }
      assert.deepEqual(answers.slice(0, 4), [
        [401, 'Unauthorized'],
        [403, 'Developer API access requires the Growth plan or higher.'],
        [429, 'Rate limit exceeded. Retry after 60 seconds.'],
        [403, `This API key does not have the required scope: ${scope}.`],
      ]);
      assert.equal(answers[4]?.[0], own);
    });
  }
});
