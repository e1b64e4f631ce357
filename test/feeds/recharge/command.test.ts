import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { run } from '../../cli/process.ts';
import { type RechargeStandIn, startRecharge } from '../../support/recharge/stand-in.ts';
import { chargeOf, subscriptionsOf } from '../../support/recharge/world.ts';
import { until } from '../../support/until.ts';
import { connectedShops, skip } from '../connected.ts';
import { createShop } from '../../support/world.ts';
import { findEverywhere } from '../../webhooks/search.ts';

describe('a shop that is connected to Recharge', { skip }, () => {
  const suite = connectedShops('recharge');
  const { env } = suite;
  let recharge: RechargeStandIn;
  let token: string;
  let shop: number;

  beforeEach(async () => {
    recharge = await startRecharge(systemClock);
    token = recharge.createToken();
    const recent = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19);
    for (const each of subscriptionsOf()) {
      recharge.put('subscriptions', each);
      recharge.put(
        'charges',
        chargeOf(Number(each['id']) * 10, [Number(each['id'])], { processed_at: recent }),
      );
    }
    shop = await suite.newShop(recharge.baseUrl);
  });
  afterEach(() => recharge.close());

  const connect = (given = token, ...options: string[]) =>
    suite.connect(shop, { token: given }, ...options);
  const sync = (...options: string[]) => suite.sync(shop, ...options);
  const records = (of = shop) => suite.records(of);

  test('has a token that may read what is needed, of a store in its currency', async () => {
    assert.equal((await connect('no token')).code, 2);
    assert.match((await connect(`sk_${'a'.repeat(40)}`)).err, /the token is not valid/);
    const lacking = await connect(recharge.createToken(['read_store', 'read_orders']));
    assert.equal(lacking.code, 1);
    assert.match(lacking.err, /lacks scopes that are needed: read_store and read_orders/);

    const pounds = await createShop(suite.store, { currency: 'GBP' });
    [shop] = [pounds.id];
    const other = await connect();
    assert.equal(other.code, 1);
    assert.match(other.err, /beans\.example sells in USD and EUR, and this shop is in GBP/);

    shop = (await createShop(suite.store)).id;
    const done = await connect(token, '--json');
    assert.deepEqual(JSON.parse(done.out), { platform: 'recharge', shop, state: 'connected' });
    assert.match((await run(['platforms', 'list'], { env })).out, /beans\.example/);
    recharge.store.identifier = 'tea.example';
    assert.match((await connect()).err, /disconnect first/);
  });

  test('has its token nowhere but sealed, and is paused once it is revoked', async () => {
    await connect();
    const first = await sync();
    // One is in another currency.
    assert.equal(first.code, 3, first.err);
    recharge.revokeToken(token);
    const refused = await sync();
    assert.match(refused.err, /the token is not valid/);
    const said = [
      first,
      refused,
      await run(['doctor'], { env }),
      await run(['feeds', 'status', '--shop', String(shop)], { env }),
    ];
    for (const { out, err } of said) assert.ok(!`${out}${err}`.includes(token.slice(7)));
    assert.deepEqual(await findEverywhere(suite.store, token.slice(7)), []);
    const [state] = await suite.store.write<{ at: Date | null }[]>`
      select refused_at as at from platforms.syncs where shop_id = ${shop}`;
    assert.ok(state?.at);
  });

  test('ends in the same state however often its first sync is killed', async () => {
    const [sample = {}] = subscriptionsOf();
    for (let id = 5000; id < 5600; id += 1) {
      recharge.put('subscriptions', { ...sample, id });
      recharge.put('charges', chargeOf(id * 10, [id]));
    }
    await connect();
    assert.ok(await suite.killSyncs(shop, recharge.requests, 6));
    // The database may take a moment to notice that the last one is gone.
    await until(sync, ({ code }) => code === 0 || code === 3);
    const ended = await records();
    assert.equal(ended.subscriptions.length, 619);
    assert.equal(ended.payments.length, 619);
    shop = (await createShop(suite.store)).id;
    await connect();
    assert.equal((await sync()).code, 3);
    assert.deepEqual(ended, await records());
  });
});
