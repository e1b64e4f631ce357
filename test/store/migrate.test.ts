import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import postgres from 'postgres';
import type { Sql } from '../../src/store/database.ts';
import { type EmbeddedServer, openEmbedded } from '../../src/store/embedded/open.ts';
import { listMissingMigrations, migrate } from '../../src/store/migrate.ts';
import { connectAll } from '../../src/store/open.ts';

const migrations = readdirSync(new URL('../../migrations/', import.meta.url)).toSorted();

/** A database without a schema, and a way to take it away again. */
interface Place {
  target(): Promise<string>;
  remove(): Promise<void>;
}

function inPostgres(url: string): Place {
  const name = `migrate_${randomInt(2 ** 40)}`;
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  return {
    async target() {
      await admin.unsafe(`create database ${name}`);
      return Object.assign(new URL(url), { pathname: `/${name}` }).href;
    },
    async remove() {
      await admin.unsafe(`drop database ${name}`);
      await admin.end();
    },
  };
}

function inEmbedded(): Place {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-migrate-'));
  let server: EmbeddedServer | undefined;
  return {
    async target() {
      server = await openEmbedded(path.join(folder, 'data'), { role: 'command' });
      return server.socketPath;
    },
    async remove() {
      await server?.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const url = process.env['TEST_POSTGRES'];
const places = [
  ['embedded', inEmbedded],
  ['PostgreSQL', url === undefined ? undefined : () => inPostgres(url)],
] as const;

for (const [name, createPlace] of places) {
  const skip = createPlace === undefined && `${name} could not be had on this machine`;
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
      sql.unsafe(
        `drop schema public cascade; drop schema if exists owners cascade;
        drop schema if exists shopify cascade; create schema public`,
      ),
    );

    const listTables = async () => {
      const rows = await sql<{ name: string }[]>`
        select table_name as name from information_schema.tables
        where table_schema = 'public' order by table_name`;
      return rows.map((row) => row.name);
    };

    test('are applied once, in order, and then never again', async () => {
      assert.deepEqual(await listMissingMigrations(sql), migrations);
      assert.deepEqual(await migrate(sql), migrations);
      const tables = await listTables();
      assert.ok(tables.includes('subscriptions'));
      assert.deepEqual(await listMissingMigrations(sql), []);
      assert.deepEqual(await migrate(sql), []);
      assert.deepEqual(await listTables(), tables);
    });

    test('are applied once by several processes that begin together', async (t) => {
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

    test('one that fails leaves nothing of itself, and can be applied later', async () => {
      // The first one makes this table itself, after many others.
      await sql`create table cancellation_sessions (id int)`;
      await assert.rejects(migrate(sql), { code: '42P07' });
      assert.deepEqual(await listTables(), ['cancellation_sessions']);
      await sql`drop table cancellation_sessions`;
      assert.deepEqual(await migrate(sql), migrations);
    });
  });
}
