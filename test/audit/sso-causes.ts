import assert from 'node:assert/strict';
import type { Act } from '../../src/acts.ts';
import type { Store } from '../../src/store/open.ts';
import { whoIs } from '../support/audit.ts';
import { createShop } from '../support/world.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { setUpIssuer, setUpShop, signInBySso, startSsoWorld } from '../owner/sso/world.ts';
import { type Causes, type Done, session } from './cause.ts';

/** What the acts of single sign-on are caused by, in another shop. */
export async function startSsoCauses(store: Store) {
  const world = await startSsoWorld(store);
  const byOwner = async (email: string, target: string): Promise<Done> => ({
    chain: world.shop.id,
    entry: [await whoIs(world.store, email), session, target],
  });
  const causes = {
    sso_set_up: async () => {
      const before = await setUpIssuer(world, 'one.example');
      return async () => {
        assert.equal((await before.save()).status, 303);
        return byOwner(before.email, world.issuer.url);
      };
    },
    sso_domain_verified: async () => {
      const { verify, email } = await setUpIssuer(world, 'two.example');
      return async () => {
        await verify();
        return byOwner(email, 'two.example');
      };
    },
    sso_removed: async () => {
      const { visitor, email, path: page } = await setUpIssuer(world, 'three.example');
      return async () => {
        await visitor.post(`${page}/remove`);
        // What is removed already is not removed again.
        await visitor.post(`${page}/remove`);
        return byOwner(email, world.issuer.url);
      };
    },
    sso_role_given: async () => {
      await setUpShop(world, 'four.example');
      const email = 'ana@four.example';
      world.issuer.person = { email, email_verified: true };
      return async () => {
        await signInBySso(world, { id: world.shop.id });
        const entry = [await whoIs(world.store, email), null, 'analyst'] as const;
        return { chain: world.shop.id, entry, also: ['owner_added', 'signed_in'] };
      };
    },
    password_removed: async () => {
      await setUpShop(world, 'six.example');
      const email = 'ana@six.example';
      const { id: shopId } = await createShop(world.store);
      await signedInOwner(world, { email, shopId });
      world.issuer.person = { email, email_verified: true };
      return async () => {
        await signInBySso(world, { id: world.shop.id });
        const entry = [await whoIs(world.store, email), null, null] as const;
        // Signed in to both shops.
        const also = ['sso_role_given', 'owner_added', 'signed_in', 'signed_in'] as const;
        return { chain: shopId, entry, also };
      };
    },
    sso_refused: async () => {
      await setUpShop(world, 'five.example');
      world.issuer.person = { email: 'ana@other.example', email_verified: true };
      return async () => {
        await signInBySso(world, { id: world.shop.id });
        const entry = ['visitor', null, 'email of another domain'] as const;
        return { chain: world.shop.id, entry };
      };
    },
  } satisfies Partial<Causes<Act>>;
  return {
    causes,
    async close() {
      await world.service.close();
      await world.issuer.close();
    },
  };
}
