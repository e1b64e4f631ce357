import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { CommandError } from '../../src/errors.ts';
import { findLedgerDifferences } from '../../src/metrics/verify/sums.ts';
import { listMissingMigrations, migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { type Place, places } from '../support/empty-database.ts';
import { createReleasedSchema, migrationText, recordMigration } from '../support/migrations.ts';
import { createShop, importAll, now } from '../support/world.ts';

const numbered = readdirSync(new URL('../../migrations/', import.meta.url))
  .filter((name) => /^\d/.test(name))
  .toSorted();
const later = numbered.slice(1);
/** What a new database lacks. */
const all = ['0049_first_version.sql', ...later];
const ofFirstVersion = [
  '0046_sessions_by_month.sql',
  '0047_request_batches.sql',
  '0048_status_events.sql',
  '0049_unused.sql',
];
/** What a database of version 1.0.0 lacks. */
const sinceRelease = [...ofFirstVersion, ...later];
const tooOld = new CommandError(
  'The database is older than version 1.0.0 of the service: start that version on it first, then this one.',
);

for (const [name, createPlace] of places) {
  const skip = createPlace === undefined && `${name} is not available on this machine`;
  describe(`migrations (${name})`, { skip }, () => {
    let place: Place;
    let target: string;
    let store: Store;

    before(async () => {
      place = createPlace!();
      target = await place.target();
      store = connectAll(target);
    });
    after(async () => {
      await store.close();
      await place.remove();
    });
    beforeEach(() =>
      store.write.script(
        `drop schema public cascade; drop schema if exists owners cascade;
        drop schema if exists shopify cascade; drop schema if exists platforms cascade;
        drop schema if exists ingest cascade;
        create schema public`,
      ),
    );

    const listTables = async () => {
      const rows = await store.write<{ name: string }[]>`
        select table_schema || '.' || table_name as name from information_schema.tables
        where table_schema in ('public', 'owners', 'ingest', 'platforms', 'shopify')
        order by 1`;
      return rows.map((row) => row.name);
    };
    const listRecorded = async () => {
      const rows = await store.write<{ version: number; name: string }[]>`
        select version, name from schema_migrations order by version`;
      return rows.map((row) => `${row.version} ${row.name}`);
    };

    test('are applied once, in order; the first version is one of them', async () => {
      const sql = store.write;
      assert.deepEqual(numbered, all);
      assert.deepEqual(await listMissingMigrations(sql), all);
      assert.deepEqual(await migrate(sql), all);
      const tables = await listTables();
      assert.ok(tables.includes('public.subscriptions'));
      assert.equal((await listRecorded())[0], '49 0049_first_version.sql');
      assert.equal((await listRecorded()).length, all.length);
      assert.deepEqual(await listMissingMigrations(sql), []);
      assert.deepEqual(await migrate(sql), []);
      assert.deepEqual(await listTables(), tables);
    });

    test('are applied once by several concurrent processes', async (t) => {
      const stores = [1, 2, 3, 4].map(() => connectAll(target));
      t.after(() => Promise.all(stores.map((each) => each.close())));
      const applied = await Promise.all(stores.map(({ write }) => migrate(write)));
      assert.deepEqual(applied.flat().toSorted(), all);
      assert.equal((await listRecorded()).length, all.length);
    });

    test('a failed migration leaves nothing behind and can be applied later', async () => {
      const sql = store.write;
      // The first version creates this table itself, after others.
      await sql`create table cancellation_sessions (id int)`;
      await assert.rejects(migrate(sql), { code: '42P07' });
      assert.deepEqual(await listTables(), ['public.cancellation_sessions']);
      await sql`drop table cancellation_sessions`;
      assert.deepEqual(await migrate(sql), all);
    });

    test('a database of version 1.0.0 is upgraded by several concurrent processes, with its records', async (t) => {
      const sql = store.write;
      await migrate(sql);
      const tables = await listTables();
      await sql.script(
        'drop schema public, owners, shopify, platforms, ingest cascade; create schema public',
      );
      await createReleasedSchema(sql);
      assert.equal((await listRecorded()).length, 41);
      assert.deepEqual(await listMissingMigrations(sql), sinceRelease);

      const stores = [1, 2, 3].map(() => connectAll(target));
      t.after(() => Promise.all(stores.map((each) => each.close())));
      const applied = await Promise.all(stores.map(({ write }) => migrate(write)));
      assert.deepEqual(applied.flat().toSorted(), sinceRelease.toSorted());
      assert.equal((await listRecorded()).length, 41 + sinceRelease.length);
      assert.deepEqual(await listMissingMigrations(sql), []);
      assert.deepEqual(await listTables(), tables);

      const shop = await createShop(store);
      const endAt = Date.parse(now);
      const shape = { subscriptions: 40, seed: 2, endAt, currency: 'USD', minorDigits: 2 };
      assert.deepEqual((await importAll(store, shop, [...generateShop(shape)])).refused, []);
      assert.deepEqual([...(await findLedgerDifferences(sql, shop.id))], []);
    });

    test('what was computed of two changes at one instant is computed again', async () => {
      const sql = store.write;
      await migrate(sql);
      const shop = await createShop(store);
      const [began, changed] = ['2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z'] as const;
      const lines = [{ ...line, quantity: 1, currentPrice: '30' }];
      const priced = subscription(1, { createdAt: began, updatedAt: changed, lines });
      const trial = subscription(2, {
        createdAt: began,
        trialEndsAt: changed,
        status: 'cancelled',
        statusEvents: [{ at: changed, to: 'cancelled' }],
      });
      assert.deepEqual((await importAll(store, shop, [plan(), priced, trial])).refused, []);
      const worth = (...prices: readonly (readonly [string, string])[]) =>
        JSON.stringify([
          ...prices.map(([at, price]) => [Date.parse(at), { '': price }]),
          [Date.parse(changed), null, true],
        ]);
      const first = [began, '10'] as const;
      // They counted as the first of them.
      await sql`update subscriptions set past_values = ${worth(first, [changed, '20'])}::text::jsonb where subscription_id = 1`;
      await sql.begin(async (tx) => {
        await tx.script("set local retention.moves_rows = 'on'");
        const past = worth(first, [changed, '20'], [changed, '30']);
        await tx`update subscriptions set past_values = ${past}::text::jsonb where subscription_id = 1`;
      });
      await sql`update departures set value = 30.6`;
      assert.notDeepEqual([...(await findLedgerDifferences(sql, shop.id))], []);

      await sql`delete from schema_migrations where version = 84`;
      await migrate(sql);
      const [stored] = await sql<{ past: string }[]>`
        select past_values::text as past from subscriptions where subscription_id = 1`;
      assert.deepEqual(JSON.parse(stored?.past ?? ''), JSON.parse(worth(first, [changed, '30'])));
      assert.deepEqual([...(await sql`select value from departures`)], [{ value: '0' }]);
      assert.deepEqual([...(await findLedgerDifferences(sql, shop.id))], []);
    });

    test('a database at the last number before the first version gets one more row', async () => {
      const sql = store.write;
      await createReleasedSchema(sql);
      for (const step of ofFirstVersion.slice(0, -1)) {
        await sql.script(migrationText(step));
        await recordMigration(sql, Number(step.slice(0, 4)));
      }
      const recorded = await listRecorded();
      assert.equal(recorded.at(-1), '48 migration 48');
      assert.deepEqual(await migrate(sql), ['0049_unused.sql', ...later]);
      assert.deepEqual((await listRecorded()).slice(0, recorded.length + 1), [
        ...recorded,
        '49 0049_unused.sql',
      ]);
      assert.ok(!(await listTables()).includes('public.key_requests'));
    });

    test('an older database is refused and stays as it is', async () => {
      const sql = store.write;
      await createReleasedSchema(sql);
      await sql`delete from schema_migrations where version = 45`;
      const [tables, recorded] = [await listTables(), await listRecorded()];
      await assert.rejects(listMissingMigrations(sql), tooOld);
      await assert.rejects(migrate(sql), tooOld);
      assert.deepEqual(await listTables(), tables);
      assert.deepEqual(await listRecorded(), recorded);
    });

    test('a database of a later version lacks nothing, however it began', async () => {
      const sql = store.write;
      await migrate(sql);
      await recordMigration(sql, 9998);
      assert.deepEqual(await migrate(sql), []);
      await sql`delete from schema_migrations where version < 9998`;
      assert.deepEqual(await listMissingMigrations(sql), []);
      assert.deepEqual(await migrate(sql), []);
    });
  });
}
