import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { onServer } from '../support/replication.ts';
import { until } from '../support/until.ts';
import { createShop, importAll } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const records = [
  ...generateShop({
    subscriptions: 600,
    seed: 4,
    endAt: Date.parse('2026-11-20T12:00:00.000Z'),
    currency: 'USD',
    minorDigits: 2,
  }),
];
/**
 * Reading the whole shop would take thousands of rows. Some hundreds may be read for each record of the first
 * batch: it may be planned for tables that are empty.
 */
const maxRowsPerRecord = 250;

describe('the number of rows that an import reads', { skip, timeout: 600_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await requirePostgres(['fsync=off', 'autovacuum=off']);
  });
  after(() => server.destroy());

  /** A connection surely reports its statistics only when it ends. */
  async function connected<Value>(
    url: string,
    task: (store: Store) => Promise<Value>,
  ): Promise<Value> {
    const store = connectAll(url);
    try {
      return await task(store);
    } finally {
      await store.close();
      await untilDisconnected();
    }
  }

  /** The server ends a connection a moment after the client has closed it. */
  const untilDisconnected = () =>
    until(
      () =>
        onServer(
          server.url,
          `select from pg_stat_activity
           where backend_type = 'client backend' and pid <> pg_backend_pid()`,
        ),
      ({ length }) => length === 0,
    );

  /** Rows read through indexes for each record of an import into a new shop. */
  async function rowsReadPerRecord(url: string): Promise<number> {
    const rowsRead = async () => {
      const [row] = await connected(
        url,
        ({ write }) => write<{ rows: number }[]>`
          select sum(idx_tup_read)::bigint as rows from pg_stat_user_indexes`,
      );
      return row?.rows ?? Number.NaN;
    };
    const readBefore = await rowsRead();
    await connected(url, async (store) => importAll(store, await createShop(store), records));
    return ((await rowsRead()) - readBefore) / records.length;
  }

  const states: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
    'without statistics': async () => {},
    'with statistics of empty tables': ({ write }) => write`analyze`,
    'with statistics of another shop': async (store) => {
      await importAll(store, await createShop(store), records);
      await store.write`analyze`;
    },
    'with old statistics of another shop': async (store) => {
      await importAll(store, await createShop(store), records.slice(0, 20));
      await store.write`analyze`;
      await importAll(store, await createShop(store), records);
    },
  };
  for (const [index, [state, prepare]] of Object.entries(states).entries()) {
    test(`does not grow with the shop, ${state}`, async () => {
      const url = await server.createDatabase(`state_${index}`);
      await connected(url, async (store) => {
        await migrate(store.write);
        await prepare(store);
      });
      const perRecord = await rowsReadPerRecord(url);

      assert.ok(perRecord < maxRowsPerRecord, `${perRecord} rows were read for each record`);
    });
  }

  /** What one import of these does to the table of subscriptions. */
  async function writesOf(name: string, some: readonly object[]) {
    const url = await server.createDatabase(name);
    await connected(url, async (store) => {
      await migrate(store.write);
      await importAll(store, await createShop(store), some);
    });
    return connected(url, async ({ write }) => {
      const [written] = await write<{ inserted: number; updated: number }[]>`
        select n_tup_ins as inserted, n_tup_upd as updated from pg_stat_user_tables
        where relname = 'subscriptions'`;
      const [{ saved } = { saved: 0 }] = await write<{ saved: number }[]>`
        select count(saved_at) as saved from subscriptions`;
      return { ...written, saved };
    });
  }

  test('writes a new subscription once, with the time at which it was last saved', async () => {
    const { saved, inserted, updated } = await writesOf('written_once', records);
    assert.equal(inserted, 600);
    // A later session of one may be in the next batch.
    assert.ok(updated !== undefined && updated <= 1, String(updated));
    assert.ok(saved > 20, String(saved));
  });

  test('writes it once, too, if the newest of its sessions comes first', async () => {
    const saves = ['04', '03', '02'].map((day, index) =>
      session(7001 + index, {
        subscriptionId: 1001,
        outcome: 'saved',
        createdAt: `2026-11-${day}T00:00:00Z`,
      }),
    );
    assert.deepEqual(await writesOf('newest_first', [plan(), subscription(1001), ...saves]), {
      inserted: 1,
      updated: 0,
      saved: 1,
    });
  });
});
