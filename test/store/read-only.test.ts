import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Sql } from '../../src/store/database.ts';
import { type Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop } from '../support/world.ts';

/** SQLSTATE read_only_sql_transaction */
const readOnly = { code: '25006' };

onEveryDatabase('what serves requests', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  for (const name of [
    'keys',
    'subscriptions',
    'plans',
    'cancellations',
    'analyse',
    'segments',
  ] as const) {
    // Requirements: rest.service.read-only.
    test(`the connection "${name}" cannot write`, async () => {
      const sql: Sql = store.primary[name];
      const { id } = await createShop(store);
      await assert.rejects(
        sql`insert into customers (shop_id, customer_id) values (${id}, 1)`,
        readOnly,
      );
      await assert.rejects(sql`update shops set tier = 'pro' where shop_id = ${id}`, readOnly);
      await assert.rejects(sql`delete from shops where shop_id = ${id}`, readOnly);
      await assert.rejects(sql`truncate cancellation_sessions`, readOnly);
      await assert.rejects(sql`create table intruders (id int)`, readOnly);
      await assert.rejects(sql`drop table payments`, readOnly);
      await assert.rejects(
        sql`with gone as (delete from shops where shop_id = ${id} returning 1) select * from gone`,
        readOnly,
      );

      const [shop] = await sql<{ tier: string }[]>`select tier from shops where shop_id = ${id}`;
      assert.equal(shop?.tier, 'enterprise_plus');
    });
  }

  test('the connection "write" can write', async () => {
    const { id } = await createShop(store);
    const { count } = await store.write`update shops set tier = 'pro' where shop_id = ${id}`;
    assert.equal(count, 1);
  });
});
