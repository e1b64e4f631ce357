import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, afterEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { unread } from '../../../src/platforms/streams.ts';
import { upsertConnection } from '../../../src/store/feeds/platforms.ts';
import { upsertStreams } from '../../../src/store/feeds/streams.ts';
import { launchServer, run } from '../../cli/process.ts';
import { addCases, addPayments } from '../../support/stripe/cases.ts';
import { type StripeStandIn, startStripe } from '../../support/stripe/stand-in.ts';
import { StripeWorld } from '../../support/stripe/world.ts';
import { webhookOf } from '../../support/stripe/webhooks.ts';
import { until } from '../../support/until.ts';
import { connectedShops, skip } from '../connected.ts';
import { createShop } from '../../support/world.ts';
import { findEverywhere } from '../../webhooks/search.ts';
import { casesOf } from '../mapping/stripe/cases.ts';

const updated = 'customer.subscription.updated';

describe('a shop that is connected to Stripe', { skip }, () => {
  const suite = connectedShops('stripe');
  const { env } = suite;
  let stripe: StripeStandIn;
  let world: StripeWorld;
  let shop: number;

  beforeEach(async () => {
    world = new StripeWorld({ clock: systemClock });
    addCases(world, casesOf('USD'));
    addPayments(world);
    stripe = await startStripe(world);
    shop = await suite.newShop(stripe.baseUrl);
  });
  afterEach(() => stripe.close());

  const connect = (given = stripe.key, ...options: string[]) =>
    suite.connect(shop, { key: given }, ...options);
  const sync = (...options: string[]) => suite.sync(shop, ...options);
  const records = (of = shop) => suite.records(of);

  test('has a restricted key that may read what is needed, of one account and mode', async () => {
    const secret = await connect(stripe.createKey({ kind: 'sk' }));
    assert.equal(secret.code, 2);
    assert.match(secret.err, /restricted/);

    const lacks = await run(['platforms', 'connect', 'stripe', '--shop', String(shop)], {
      env,
      input: '{"apiKey":"x"}',
    });
    assert.equal(lacks.code, 2);
    assert.match(lacks.err, /The object lacks key, which must be a restricted key/);

    const without = ['rak_invoice_read', 'rak_plan_read'];
    const lacking = await connect(stripe.createKey({ without }));
    assert.equal(lacking.code, 1);
    assert.match(lacking.err, /rak_invoice_read and rak_plan_read/);

    const expired = stripe.createKey();
    stripe.expireKey(expired);
    assert.match((await connect(expired)).err, /the key has expired/);

    const done = await connect(` ${stripe.key}\n`, '--json');
    assert.deepEqual(JSON.parse(done.out), { platform: 'stripe', shop, state: 'connected' });
    const list = await run(['platforms', 'list'], { env });
    assert.match(list.out, new RegExp(`${world.account} \\(test\\)`));

    const live = new StripeWorld({ clock: systemClock, livemode: true, account: world.account });
    const other = new StripeWorld({ clock: systemClock });
    for (const another of [live, other]) {
      const refused = await connect(stripe.createKey({ world: another }));
      assert.equal(refused.code, 1);
      assert.match(refused.err, /disconnect first/);
    }
    const first = shop;
    shop = (await createShop(suite.store)).id;
    const second = await connect();
    assert.equal(second.code, 1);
    assert.match(second.err, /takes the subscriptions in USD of acct_.*, and each customer would/);
    assert.ok(!second.err.includes(String(first)));
    shop = (await createShop(suite.store, { currency: 'EUR' })).id;
    assert.equal((await connect()).code, 0);
    shop = first;
    const renewed = await connect(stripe.createKey({ without: ['rak_customer_read'] }));
    assert.equal(renewed.code, 0, renewed.err);
  });

  test('has its key nowhere but sealed, and is paused once it is revoked', async () => {
    await connect();
    const first = await sync();
    // One is in another currency.
    assert.equal(first.code, 3, first.err);
    stripe.revokeKey(stripe.key);
    const refused = await sync();
    assert.match(refused.err, /the key is not valid/);
    const said = [
      first,
      refused,
      await run(['doctor'], { env }),
      await run(['feeds', 'status', '--shop', String(shop)], { env }),
    ];
    for (const { out, err } of said) {
      assert.ok(!`${out}${err}`.includes(stripe.key.slice(8)));
      assert.ok(!`${out}${err}`.includes(stripe.key.slice(-4)));
    }
    assert.deepEqual(await findEverywhere(suite.store, stripe.key.slice(8)), []);
    const [state] = await suite.store.write<{ at: Date | null }[]>`
      select refused_at as at from platforms.syncs where shop_id = ${shop}`;
    assert.ok(state?.at);
  });

  test('ends in the same state however often its first sync is killed', async () => {
    await connect();
    assert.ok(await suite.killSyncs(shop, stripe.requests, 10));
    // The database may take a moment to notice that the last one is gone.
    await until(sync, ({ code }) => code === 3);
    const ended = await records();
    assert.deepEqual(
      ended.past.filter(({ length }) => length > 1),
      [['30 month 1', '60 month 1']],
    );
    await suite.disconnect(shop);
    shop = (await createShop(suite.store)).id;
    await connect();
    assert.equal((await sync()).code, 3);
    assert.deepEqual(ended, await records());
  });

  /** A server, to which Stripe sends that a subscription has ended. */
  async function serveWebhooks() {
    const secret = 'whsec_of_an_endpoint';
    const created = await run(
      [
        'ingest',
        'create',
        '--shop',
        String(shop),
        '--name',
        'Stripe',
        '--scheme',
        'stripe',
        '--json',
      ],
      { env, input: secret },
    );
    assert.equal(created.code, 0, created.err);
    const { sourceId } = JSON.parse(created.out);
    const server = await launchServer('serve', { ...env, SYNC: 'off' });
    const [{ subscription } = { subscription: { id: '' } }] = casesOf('USD');
    const [event] = world.change(
      'subscription',
      subscription.id,
      (each) => Object.assign(each, { status: 'canceled', ended_at: world.now }),
      updated,
    );
    if (!event) throw new Error('There is no event.');
    const send = async () => {
      const { headers, body } = webhookOf(event, secret, world.now);
      const address = `${server.baseUrl}/ingest/v1/${sourceId}/mapped/stripe-webhooks`;
      const response = await fetch(address, { method: 'POST', headers, body });
      return { status: response.status, body: await response.text() };
    };
    return {
      subscription,
      send,
      async deliver() {
        const answer = await until(send, ({ status }) => status !== 503);
        assert.deepEqual(answer, { status: 202, body: '{"hints":1}' });
      },
      async countEnded() {
        const [row] = await suite.store.write<{ ended: number }[]>`
          select count(*)::int as ended from status_events
          where shop_id = ${shop} and to_status = 'cancelled' and at > now() - interval '1 hour'`;
        return row?.ended ?? 0;
      },
      async close() {
        server.child.kill('SIGTERM');
        await server.ended;
      },
    };
  }

  test('takes webhooks as hints, each once, and stores what Stripe has now', async () => {
    await connect();
    await sync();
    const served = await serveWebhooks();
    const asked = stripe.requests.length;
    await served.deliver();
    await until(served.countEnded, (ended) => ended === 1);
    assert.equal((await served.send()).status, 202);
    await sleep(500);
    const { id } = served.subscription;
    const ofIt = stripe.requests.slice(asked).filter(({ path }) => path.endsWith(id));
    assert.equal(ofIt.length, 1);
    await served.close();
  });

  test('stores nothing after a webhook that another platform keeps up, and fails no job', async () => {
    await connect();
    await sync();
    const [connectedAt, account] = [new Date(), 'db/billing'];
    await suite.store.write.begin((tx) =>
      upsertConnection(tx, 'postgres', { shopId: shop, account, credentials: '', connectedAt }),
    );
    const stream = unread(account, { name: 'subs', types: ['plan', 'subscription'] });
    await upsertStreams(suite.store.write, shop, 'postgres', [{ ...stream, readAt: connectedAt }]);
    const served = await serveWebhooks();
    await served.deliver();
    const state = async () => {
      const [row] = await suite.store.write<{ state: string }[]>`
        select state::text from jobs.job where name = 'stripe-hints' and data ->> 'shopId' = ${String(shop)}`;
      return row?.state;
    };
    const ended = await until(state, (found) => found === 'completed' || found === 'failed');
    assert.deepEqual([ended, await served.countEnded()], ['completed', 0]);
    await served.close();
  });
});
