import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Sql } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';

/**
 * Tables without a shop column: migrations, of which every server has its own, the generation of all keys, and shops,
 * whose primary key is the shop.
 */
const tablesWithoutShop = ['key_generation', 'schema_migrations', 'shops'];
/** Finds a key's shop before anything else is known about the key. */
const acrossShops = ['api_keys_by_hash'];

interface Index {
  readonly table: string;
  readonly name: string;
  readonly isPrimary: boolean;
  readonly isUnique: boolean;
  readonly columns: readonly string[];
}

interface ForeignKey {
  readonly name: string;
  readonly target: string;
  /** `column>column of the target` */
  readonly pairs: readonly string[];
}

function listTables(sql: Sql): Promise<{ name: string }[]> {
  return sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname`;
}

/** Columns in order; expressions have no name and are not listed. */
function listIndexes(sql: Sql): Promise<Index[]> {
  return sql<Index[]>`
    select t.relname as table, i.relname as name, x.indisprimary as "isPrimary",
      x.indisunique as "isUnique", (
        select json_agg(coalesce(a.attname, '') order by place)
        from unnest(x.indkey[0:x.indnkeyatts - 1]) with ordinality k (number, place)
        left join pg_attribute a on a.attrelid = t.oid and a.attnum = k.number and k.number > 0
      ) as columns
    from pg_index x
    join pg_class i on i.oid = x.indexrelid
    join pg_class t on t.oid = x.indrelid
    where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p')
    order by t.relname, i.relname`;
}

function listForeignKeys(sql: Sql): Promise<ForeignKey[]> {
  return sql<ForeignKey[]>`
    select c.conrelid::regclass || '.' || c.conname as name, c.confrelid::regclass::text as target,
      (
        select json_agg(a.attname || '>' || b.attname)
        from unnest(c.conkey, c.confkey) pair (own, other)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = pair.own
        join pg_attribute b on b.attrelid = c.confrelid and b.attnum = pair.other
      ) as pairs
    from pg_constraint c
    where c.contype = 'f' and c.connamespace = 'public'::regnamespace`;
}

onEveryDatabase('tables can be distributed by shop', (open) => {
  let store: Store;
  let indexes: Index[];
  before(async () => {
    store = open();
    indexes = (await listIndexes(store.write)).filter(
      ({ table }) => !tablesWithoutShop.includes(table),
    );
  });
  after(() => store.close());

  test('every primary key starts with the shop', async () => {
    const tables = (await listTables(store.write)).map(({ name }) => name);
    assert.ok(tables.length > 10 && tablesWithoutShop.every((name) => tables.includes(name)));
    const keyed = indexes
      .filter(({ isPrimary, columns }) => isPrimary && columns[0] === 'shop_id')
      .map(({ table }) => table);
    assert.deepEqual(
      tables.filter((name) => !tablesWithoutShop.includes(name)),
      keyed,
    );
  });

  test('nothing is unique across shops, and every index but one starts with the shop', () => {
    assert.deepEqual(
      indexes.filter(({ isUnique, columns }) => isUnique && !columns.includes('shop_id')),
      [],
    );
    assert.deepEqual(
      indexes.filter(({ columns }) => columns[0] !== 'shop_id').map(({ name }) => name),
      acrossShops,
    );
  });

  test('no foreign key refers to another shop', async () => {
    const keys = await listForeignKeys(store.write);
    // A cluster has only those between tables of one shop.
    assert.ok(keys.length > 0);
    assert.deepEqual(
      keys.filter(({ pairs }) => !pairs.includes('shop_id>shop_id')),
      [],
    );
    assert.deepEqual(
      keys.filter(({ target }) => target === 'schema_migrations'),
      [],
    );
  });
});
