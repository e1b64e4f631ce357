import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { dependsOnTime, parseMapping } from '../../../src/mapping/read.ts';
import { run } from '../../cli/process.ts';
import { createShop } from '../../support/world.ts';
import { onMerchant } from './merchant.ts';
import { chargeStream, createTables, planStream, subscriptionStream } from './source.ts';

onMerchant('rows that are as they were', (at) => {
  let shop: string;
  beforeEach(async () => {
    await createTables(at.source);
    shop = String((await createShop(at.store)).id);
  });

  async function connect(...streams: readonly object[]) {
    const input = JSON.stringify({ url: at.source.url, streams });
    const { code, err } = await run(['platforms', 'connect', 'postgres', '--shop', shop], {
      env: at.env,
      input,
    });
    assert.deepEqual([code, err], [0, '']);
  }
  const sync = (...options: readonly string[]) =>
    run(['sync', 'postgres', '--shop', shop, '--full', ...options], { env: at.env });
  const amounts = async () =>
    (
      await at.store.write<{ amount: string }[]>`
        select trim_scale(amount) as amount from payments where shop_id = ${shop} order by processed_at`
    ).map(({ amount }) => Number(amount));
  /** What only mapping a row again puts right. */
  const spoil = () =>
    at.store
      .write`update payments set amount = 1, digest = gen_random_uuid() where shop_id = ${shop}`;

  test('are not mapped again, until one is different, or all are asked for', async () => {
    await connect(planStream, subscriptionStream, chargeStream);
    await sync();
    await spoil();
    assert.match(
      (await sync()).out,
      /read all 7 rows; 0 records written, 0 deleted, 0 lines refused/,
    );
    assert.deepEqual(await amounts(), [1, 1]);
    await at.source.owner.script(`update charges set amount = 21 where id = 'p-2'`);
    assert.match((await sync()).out, /read all 7 rows; 2 records written/);
    assert.deepEqual(await amounts(), [20, 21]);
    await spoil();
    assert.match((await sync('--take-over')).out, /2 records written/);
    assert.deepEqual(await amounts(), [20, 21]);
    // As after a week.
    await spoil();
    await at.store
      .write`update platforms.streams set mapped_at = mapped_at - interval '7 days' where shop_id = ${shop}`;
    assert.match((await sync()).out, /2 records written/);
    // Connected anew, perhaps with another mapping.
    await spoil();
    await connect(planStream, subscriptionStream, chargeStream);
    assert.match((await sync()).out, /2 records written/);
  });

  test('are mapped again with a row that was refused, until it is not', async () => {
    await at.source.owner.script('alter table charges drop constraint charges_sub_fkey');
    await connect(planStream, subscriptionStream, chargeStream);
    await at.source.owner.script(
      `insert into charges values ('p-3', 's-9', true, 5, '2026-03-05')`,
    );
    assert.equal((await sync()).code, 3);
    assert.equal((await sync()).code, 3);
    await at.source.owner.script(
      `insert into subs values ('s-9', 'c-9', 'box', 'on', 5, '2026-03-05', null, '2026-03-05')`,
    );
    assert.equal((await sync()).code, 0);
    assert.deepEqual(await amounts(), [20, 20, 5]);
  });

  test('are mapped again once something was deleted, with which their records went', async () => {
    const complete = { ...subscriptionStream, complete: true, gone: 'deleted' };
    await at.source.owner.script(`
      alter table charges drop constraint charges_sub_fkey;
      insert into subs select 'm-' || i, 'c-9', 'box', 'on', 5, '2026-03-05', null, '2026-03-05'
      from generate_series(1, 9) i`);
    await connect(planStream, complete, chargeStream);
    assert.equal((await sync()).code, 0);
    await at.source.owner.script(
      `create table away as select * from subs where id = 's-1'; delete from subs where id = 's-1'`,
    );
    assert.match((await sync()).out, /0 records written, 1 deleted/);
    assert.deepEqual(await amounts(), []);
    assert.equal((await sync()).code, 3);
    await at.source.owner.script('insert into subs select * from away');
    assert.equal((await sync()).code, 0);
    assert.deepEqual(await amounts(), [20, 20]);
  });

  test('are mapped again with the other complete streams, since only all say what is gone', async () => {
    // A plan without subscriptions could be deleted.
    await at.source.owner.script(`insert into plans values ('week', 'Trial', 1, true)`);
    await connect(planStream, { ...subscriptionStream, complete: true });
    await sync();
    await at.source.owner.script(`update subs set price = 22 where id = 's-1'`);
    const { code, out, err } = await sync();
    assert.equal(code, 0, err);
    assert.match(out, /read all 6 rows; 1 records written, 0 deleted/);
    await at.source.owner.script(`delete from subs where id = 's-3'`);
    assert.match((await sync('--take-over')).out, /read all 5 rows; 0 records written, 0 deleted/);
    const [row] = await at.store.write<{ count: number }[]>`
      select count(*)::int as count from subscriptions where shop_id = ${shop} and status = 'cancelled'`;
    assert.equal(row?.count, 2);
  });
});

test('a mapping whose records change with time is known', () => {
  const records = (fields: object, more: object = {}) => ({
    input: { format: 'ndjson' },
    records: [
      {
        ...(chargeStream.mapping as { records: readonly object[] }).records[0],
        fields: { ...chargeFields, ...fields },
        ...more,
      },
    ],
    formats: { ids: 'text', time: 'iso' },
  });
  const { fields: chargeFields } = chargeStream.mapping.records[0] as { fields: object };
  const depends = (mapping: object) => dependsOnTime(parseMapping('it', JSON.stringify(mapping)));
  assert.equal(depends(records({})), false);
  assert.equal(depends(records({ processedAt: { column: 'at', time: 'months-ago' } })), true);
  const subscriptions = subscriptionStream.mapping.records[0] as object;
  const ends = { at: 'ended_at', to: { value: 'cancelled' } };
  const until = { ...ends, until: { value: 'active' } };
  const withEvents = (...statusEvents: readonly object[]) => ({
    ...subscriptionStream.mapping,
    records: [{ ...subscriptions, statusEvents }],
  });
  assert.equal(depends(withEvents(ends)), false);
  assert.equal(depends(withEvents(until)), true);
  assert.equal(depends({ ...withEvents(ends), vendor: 'stripe' }), true);
});
