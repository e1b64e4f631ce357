import assert from 'node:assert/strict';
import type { Act } from '../../src/acts.ts';
import type { Store } from '../../src/store/open.ts';
import type { startGithub } from '../support/github.ts';
import { keyIdIn } from '../owner/visitor.ts';
import { createTestKey } from '../support/world.ts';
import type { startWebhookWorld } from '../webhooks/world.ts';
import { type Causes, type Place, session } from './cause.ts';

interface Parts {
  /** Has another shop than the place of the acts. */
  readonly world: Awaited<ReturnType<typeof startWebhookWorld>>;
  readonly store: Store;
  readonly github: Awaited<ReturnType<typeof startGithub>>;
}

type KeyAct = Extract<Act, `key_${string}`>;

/** What causes the acts with keys. */
export function keyCauses(
  { baseUrl, shop, command, owner }: Place,
  { world, store, github }: Parts,
): Causes<KeyAct> {
  const shopId = Number(shop);
  return {
    key_created: async () => {
      const { visitor, who } = await owner();
      const form = await visitor.get(`/app/shops/${shop}/keys/new`);
      const id = keyIdIn(form);
      return async () => {
        const fields = { id, name: 'Till', scope: 'read:plans' };
        assert.equal((await visitor.post(`/app/shops/${shop}/keys`, fields)).status, 201);
        return { entry: [who, session, `${id} Till`] };
      };
    },
    key_rotated: async () => {
      const { visitor, who } = await owner();
      const { id } = await createTestKey(store, shopId);
      const rotate = `/app/shops/${shop}/keys/${id}/rotate`;
      const form = await visitor.get(rotate);
      const newId = keyIdIn(form);
      return async () => {
        const fields = { id: newId, overlap: '24' };
        assert.equal((await visitor.post(rotate, fields)).status, 201);
        return { entry: [who, session, `${id} test`], also: ['key_created'] };
      };
    },
    key_revoked: async () => {
      const { id } = await createTestKey(store, shopId);
      return async () => {
        await command(['keys', 'revoke', '--shop', shop, id]);
        // What is revoked already is not revoked again.
        await command(['keys', 'revoke', '--shop', shop, id]);
        return { entry: ['command line', 'keys revoke', `${id} test`] };
      };
    },
    key_networks_set: async () => {
      const { visitor, who } = await owner();
      const { id } = await createTestKey(store, shopId);
      const networks = `/app/shops/${shop}/keys/${id}/networks`;
      await visitor.get(networks);
      return async () => {
        const fields = { networks: '203.0.113.0/24 2001:db8::/32' };
        assert.equal((await visitor.post(networks, fields)).status, 303);
        const now = 'now 203.0.113.0/24, 2001:db8::/32';
        return { entry: [who, session, `${id} test, ${now}`] };
      };
    },
    key_leaked: async () => {
      const { id, key } = await createTestKey(store, shopId);
      return async () => {
        const url = 'https://github.com/octocat/hello/blob/main/a.txt';
        for (let count = 0; count < 2; count += 1) {
          // Again, which has no further entry.
          const { status } = await github.report(baseUrl, [{ token: key, url }]);
          assert.equal(status, 200);
        }
        return { entry: ['platform github', null, `${id} test, found at ${url}`] };
      };
    },
    key_policy_set: async () => async () => {
      const setting = ['shops', 'key-policy', '--id', shop];
      await command([...setting, '--default', '90', '--longest', '365']);
      await command(setting);
      const target = 'for 90 days by default, at most 365 days';
      return { entry: ['command line', 'shops key-policy', target] };
    },
    key_uninstalled: async () => {
      const { id } = await createTestKey(store, world.shop.id);
      return async () => {
        const body = { id: 1, myshopify_domain: world.domain };
        assert.equal((await world.send('app/uninstalled', body)).status, 200);
        return {
          chain: world.shop.id,
          entry: ['platform shopify', null, `${id} test`],
        };
      };
    },
  };
}
