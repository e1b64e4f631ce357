import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Sql } from '../../src/store/database.ts';
import { listMissingMigrations, migrate } from '../../src/store/migrate.ts';
import { connectAll } from '../../src/store/open.ts';
import { type Place, places } from '../support/empty-database.ts';

const migrations = readdirSync(new URL('../../migrations/', import.meta.url)).toSorted();

for (const [name, createPlace] of places) {
  const skip = createPlace === undefined && `${name} is not available on this machine`;
  describe(`migrations (${name})`, { skip }, () => {
    let place: Place;
    let target: string;
    let sql: Sql;
    let close: () => Promise<void>;

    before(async () => {
      place = createPlace!();
      target = await place.target();
      ({ write: sql, close } = connectAll(target));
    });
    after(async () => {
      await close();
      await place.remove();
    });
    beforeEach(() =>
      sql.script(
        `drop schema public cascade; drop schema if exists owners cascade;
        drop schema if exists shopify cascade; drop schema if exists platforms cascade;
        drop schema if exists ingest cascade;
        create schema public`,
      ),
    );

    const listTables = async () => {
      const rows = await sql<{ name: string }[]>`
        select table_name as name from information_schema.tables
        where table_schema = 'public' order by table_name`;
      return rows.map((row) => row.name);
    };

    test('are applied once, in order', async () => {
      assert.deepEqual(await listMissingMigrations(sql), migrations);
      assert.deepEqual(await migrate(sql), migrations);
      const tables = await listTables();
      assert.ok(tables.includes('subscriptions'));
      assert.deepEqual(await listMissingMigrations(sql), []);
      assert.deepEqual(await migrate(sql), []);
      assert.deepEqual(await listTables(), tables);
    });

    test('are applied once by several concurrent processes', async (t) => {
      const stores = [1, 2, 3, 4].map(() => connectAll(target));
      t.after(() => Promise.all(stores.map((store) => store.close())));
      const applied = await Promise.all(stores.map(({ write }) => migrate(write)));
      assert.deepEqual(applied.flat().toSorted(), migrations);
      const recorded = await sql<{ name: string }[]>`
        select name from schema_migrations order by version`;
      assert.deepEqual(
        recorded.map((row) => row.name),
        migrations,
      );
    });

    test('a failed migration leaves nothing behind and can be applied later', async () => {
      // The first migration creates this table itself, after many others.
      await sql`create table cancellation_sessions (id int)`;
      await assert.rejects(migrate(sql), { code: '42P07' });
      assert.deepEqual(await listTables(), ['cancellation_sessions']);
      await sql`drop table cancellation_sessions`;
      assert.deepEqual(await migrate(sql), migrations);
    });
  });
}
