import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Act } from '../../src/acts.ts';
import { pruneChain } from '../../src/accounts/audit/chain.ts';
import { FixedClock, systemClock } from '../../src/clock.ts';
import { type Store, openStore } from '../../src/store/open.ts';
import { installation } from '../../src/store/owners/audit.ts';
import { migratedFolder, newShopId, run } from '../cli/process.ts';
import { casesOf, worldAt } from '../feeds/mapping/stripe/cases.ts';
import {
  Visitor,
  newAddress,
  newEmail,
  password,
  signIn,
  signedInOwner,
} from '../owner/visitor.ts';
import { pressImport, ndjson, plan, resultOf } from '../owner/sources/upload-world.ts';
import { auditOf, whoIs } from '../support/audit.ts';
import { startGithub } from '../support/github.ts';
import { createServerDatabase } from '../support/own-databases.ts';
import { addCases } from '../support/stripe/cases.ts';
import { startStripe } from '../support/stripe/stand-in.ts';
import { StripeWorld } from '../support/stripe/world.ts';
import { until } from '../support/until.ts';
import { startWebhookWorld, untilQuiet } from '../webhooks/world.ts';
import { type Causes, type Place, session } from './cause.ts';
import { factorCauses } from './factor-causes.ts';
import { keyCauses } from './key-causes.ts';
import { startSsoCauses } from './sso-causes.ts';
import { teamCauses } from './team-causes.ts';

/** A service, with everything that acts need, and what each act is caused by. */
export async function startCauses() {
  const shop = newShopId();
  const shopId = Number(shop);
  const records = path.join(mkdtempSync(path.join(tmpdir(), 'retention-test-')), 'plans.ndjson');

  const dataDir = migratedFolder();
  const store: Store = await openStore({ databaseUrl: undefined, dataDir, role: 'serve' });
  const github = await startGithub();
  const world = await startWebhookWorld(store, { secretScanningKeysUrl: github.keysUrl });
  const sso = await startSsoCauses(store);
  const customers = new StripeWorld({ clock: new FixedClock(worldAt) });
  addCases(customers, casesOf('USD').slice(0, 2));
  const stripe = await startStripe(customers);
  const env = {
    RETENTION_DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    STRIPE_API_URL: stripe.baseUrl,
  };
  writeFileSync(records, ndjson([plan]));
  async function command(args: readonly string[], input = ''): Promise<string> {
    const { code, out, err } = await run(args, { env, input });
    assert.equal(code, 0, err);
    return out;
  }

  const idOf = (email: string) => whoIs(store, email);

  async function owner() {
    const { email, visitor } = await signedInOwner({
      ...world,
      clock: systemClock,
      shop: { id: shopId },
    });
    return { email, visitor, who: await idOf(email) };
  }

  const { baseUrl } = world.service;
  const place: Place = { baseUrl, shop, command, idOf, owner };
  const causes: Causes<Act> = {
    signed_in: async () => {
      const { email, who } = await owner();
      return async () => {
        await signIn(baseUrl, email);
        return { entry: [who, session, null] };
      };
    },
    sign_in_failed: async () => {
      const { email, who } = await owner();
      return async () => {
        await signIn(baseUrl, email, 'wrong', newAddress());
        return { entry: ['visitor', null, who] };
      };
    },
    sign_in_locked: async () => {
      const { email, who } = await owner();
      const from = newAddress();
      for (let count = 1; count < 5; count += 1) {
        await signIn(baseUrl, email, 'wrong', from);
      }
      await until(
        async () => (await auditOf(store.write, shopId)).filter(({ target }) => target === who),
        ({ length }) => length === 4,
      );
      return async () => {
        const { page } = await signIn(baseUrl, email, 'wrong', from);
        assert.equal(page.status, 422);
        // One that has to wait is no further entry.
        const waiting = await signIn(baseUrl, email, 'wrong', from);
        assert.equal(waiting.page.status, 429);
        return { entry: ['visitor', null, who] };
      };
    },
    unknown_sign_in_failed: async () => async () => {
      await signIn(baseUrl, newEmail(), 'wrong', newAddress());
      return { chain: installation, entry: ['visitor', null, null] };
    },
    sign_ins_omitted: async () => {
      const minute = new Date(systemClock.now() - 120_000);
      for (let count = 0; count < 12; count += 1) {
        await store.write`
          select append_audit_entry(0, ${minute}, 'visitor', null, 'unknown_sign_in_failed', null, null, true)`;
      }
      return async () => {
        await signIn(baseUrl, newEmail(), 'wrong', newAddress());
        return {
          chain: installation,
          entry: ['service', null, '2'],
          also: ['unknown_sign_in_failed'],
        };
      };
    },
    ...factorCauses(place),
    signed_out: async () => {
      const { visitor, who } = await owner();
      await visitor.get('/app/account');
      return async () => {
        await visitor.post('/app/sign-out');
        return { entry: [who, session, null] };
      };
    },
    sessions_ended: async () => {
      const { visitor, who } = await owner();
      await visitor.get('/app/account');
      return async () => {
        await visitor.post('/app/account/sign-out-everywhere');
        return { entry: [who, session, null] };
      };
    },
    password_changed: async () => {
      const { visitor, who } = await owner();
      await visitor.get('/app/account');
      return async () => {
        const fields = { password, 'new-password': `another ${password}` };
        assert.equal((await visitor.post('/app/account/password', fields)).status, 303);
        return { entry: [who, session, null] };
      };
    },
    password_set: async () => {
      const { email, who } = await owner();
      const link = await command(['owners', 'reset', '--email', email]);
      const visitor = new Visitor(baseUrl);
      const { pathname } = new URL(link.trim());
      await visitor.get(pathname);
      return async () => {
        assert.equal((await visitor.post(pathname, { password })).status, 303);
        return { entry: [who, session, null] };
      };
    },
    reset_link_made: async () => {
      const { email, who } = await owner();
      return async () => {
        await command(['owners', 'reset', '--email', email]);
        return { entry: ['command line', 'owners reset', who] };
      };
    },
    ...teamCauses(place),
    ...keyCauses(place, { world, store, github }),
    ...sso.causes,
    shop_copied: async () => {
      const other = await createServerDatabase();
      return async () => {
        await command(['shops', 'copy', `--id=${shop}`, `--to=${other.target}`]);
        await other.drop();
        return { entry: ['command line', 'shops copy', new RegExp(`^${shop} to `)] };
      };
    },
    shop_moved: async () => {
      const other = await createServerDatabase();
      const id = newShopId();
      await command(['shops', 'create', `--id=${id}`, '--name=Moved', '--currency=USD']);
      return async () => {
        await command(['shops', 'move', `--id=${id}`, `--to=${other.target}`]);
        await other.drop();
        return {
          chain: installation,
          entry: ['command line', 'shops move', new RegExp(`^${id} to `)],
        };
      };
    },
    shop_deleted: async () => async () => {
      const body = { shop_id: 1, shop_domain: world.domain };
      assert.equal((await world.send('shop/redact', body)).status, 200);
      await untilQuiet(store);
      assert.deepEqual(await auditOf(store.write, world.shop.id), []);
      return {
        chain: installation,
        entry: ['platform shopify', null, String(world.shop.id)],
      };
    },
    source_created: async () => async () => {
      const id = await pushSource();
      return { entry: ['command line', 'ingest create', `${id} Billing`] };
    },
    source_rotated: async () => {
      const id = await pushSource();
      return async () => {
        await command(['ingest', 'rotate', '--shop', shop, id]);
        return { entry: ['command line', 'ingest rotate', `${id} Billing`] };
      };
    },
    source_revoked: async () => {
      const id = await pushSource();
      return async () => {
        await command(['ingest', 'revoke', '--shop', shop, id]);
        await command(['ingest', 'revoke', '--shop', shop, id]);
        return { entry: ['command line', 'ingest revoke', `${id} Billing`] };
      };
    },
    platform_connected: async () => async () => {
      await connectStripe();
      return { entry: ['command line', 'platforms connect', /^Stripe: acct_/] };
    },
    platform_disconnected: async () => {
      await connectStripe();
      return async () => {
        await command(['platforms', 'disconnect', 'stripe', '--shop', shop]);
        return { entry: ['command line', 'platforms disconnect', /^Stripe: acct_/] };
      };
    },
    customer_key_replaced: async () => async () => {
      await command(['customer-key', '--shop', shop, '--replace', '--yes']);
      return { entry: ['command line', 'customer-key', null] };
    },
    import_started: async () => async () => {
      const importing = ['import', '--shop', shop, records];
      await command([...importing, '--dry-run']);
      await command(importing);
      return { entry: ['command line', 'import', 'a file (records)'] };
    },
    file_uploaded: async () => {
      const { visitor, who } = await owner();
      const file = `/app/shops/${shop}/sources/file`;
      await visitor.get(`${file}/new`);
      const content = ndjson([plan, { ...plan, id: 2 }]);
      return async () => {
        const sent = await visitor.upload(file, { name: 'ana.ndjson', content });
        assert.equal(sent.status, 303);
        await pressImport(visitor, file, await visitor.get(file));
        await resultOf(visitor, file);
        return {
          entry: [who, session, `${content.length} bytes`],
          also: ['import_started'],
        };
      };
    },
    rows_exported: async () => {
      const { visitor, who } = await owner();
      return async () => {
        const { status } = await visitor.get(`/app/shops/${shop}/subscriptions.csv`);
        assert.equal(status, 200);
        return { entry: [who, session, 'subscriptions'] };
      };
    },
    shop_created: async () => {
      const id = newShopId();
      return async () => {
        const creating = ['shops', 'create', '--id', id, '--name', 'x', '--currency', 'EUR'];
        await command(creating);
        assert.equal((await run(creating, { env })).code, 1);
        return { chain: Number(id), entry: ['command line', 'shops create', 'growth'] };
      };
    },
    tier_set: async () => async () => {
      await command(['shops', 'set-tier', shop, 'pro']);
      return { entry: ['command line', 'shops set-tier', 'pro'] };
    },
    retention_set: async () => async () => {
      const keeping = ['shops', 'keep', '--id', shop, '--keep', '36 months', '--types', 'payment'];
      await command([...keeping, '--dry-run']);
      await command(keeping);
      const target = 'subscription forever, payment 36 months, cancellation forever';
      return { entry: ['command line', 'shops keep', target] };
    },
    entries_pruned: async () => {
      const old = new Date(systemClock.now() - 500 * 86_400_000);
      const by = { who: 'command line' };
      const chain = Number(newShopId());
      await store.write`
        select append_audit_entry(${chain}, ${old}, 'command line', null, 'tier_set', 'pro', null, false)`;
      assert.equal(
        await pruneChain(store.write, chain, { before: new Date(0), at: old, by, keys: [] }),
        undefined,
      );
      return async () => {
        await command(['audit', 'prune']);
        return {
          chain,
          entry: ['command line', 'audit prune', /^1 [0-9a-f]{64} [0-9a-f]{64}$/],
        };
      };
    },
  };

  async function pushSource(): Promise<string> {
    const made = await command(['ingest', 'create', '--shop', shop, '--name', 'Billing', '--json']);
    return (JSON.parse(made) as { sourceId: string }).sourceId;
  }

  const connectStripe = () =>
    command(
      ['platforms', 'connect', 'stripe', '--shop', shop],
      JSON.stringify({ key: stripe.createKey() }),
    );

  await command(['shops', 'create', '--id', shop, '--name', 'Lumen', '--currency', 'USD']);
  return {
    store,
    shopId,
    causes,
    async close() {
      await stripe.close();
      await github.close();
      await world.close();
      await sso.close();
      await store.close();
    },
  };
}
