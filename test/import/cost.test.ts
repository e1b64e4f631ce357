import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { type PostgresServer, findPostgresPrograms, startPostgres } from '../support/postgres.ts';
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
/** A limit for each record; reading the whole shop would take hundreds of rows. */
const rowsReadPerRecord = 40;

describe('the number of rows that an import reads', { skip, timeout: 600_000 }, () => {
  let server: PostgresServer;
  before(async () => {
    const started = await startPostgres(['fsync=off', 'autovacuum=off']);
    assert.ok(started);
    server = started;
  });
  after(() => server.destroy());

  /** A connection surely reports its statistics only when it ends. */
  async function connected<Value>(task: (store: Store) => Promise<Value>): Promise<Value> {
    const { close, ...store } = connectAll(server.url);
    try {
      return await task({ ...store, failed: new Promise(() => {}), close });
    } finally {
      await close();
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

  async function rowsRead(): Promise<number> {
    const [row] = await connected(
      ({ write }) => write<{ rows: number }[]>`
        select sum(idx_tup_read)::bigint as rows from pg_stat_user_indexes`,
    );
    return row?.rows ?? Number.NaN;
  }

  test('does not grow with the shop, even before its tables are analyzed', async () => {
    await connected(async (store) => {
      await migrate(store.write);
      await importAll(store, await createShop(store), records);
      await store.write`analyze`;
    });
    const readBefore = await rowsRead();
    await connected(async (store) => importAll(store, await createShop(store), records));
    const perRecord = ((await rowsRead()) - readBefore) / records.length;
    assert.ok(perRecord < rowsReadPerRecord, `${perRecord} rows were read for each record`);
  });
});
