import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { openClient } from '../support/client.ts';
import { CommandError } from '../../src/errors.ts';
import { migrate } from '../../src/store/migrate.ts';
import { connectAll, type Store } from '../../src/store/open.ts';
import { launch, run, throwawayFolder } from '../cli/process.ts';
import { type Place, places } from '../support/empty-database.ts';
import { createReleasedSchema } from '../support/migrations.ts';
import { until } from '../support/until.ts';
import { get, startWorld } from '../support/world.ts';

const createPlace = places[1][1];
const skip = createPlace === undefined && 'PostgreSQL is not available on this machine';

/** A folder with one migration that needs an exclusive lock on a table. */
function folderWith(name: string, text: string): URL {
  const folder = throwawayFolder();
  writeFileSync(path.join(folder, name), text);
  return pathToFileURL(`${folder}/`);
}

describe('migrating while tables are in use', { skip }, () => {
  let place: Place;
  let target: string;
  let store: Store;

  before(async () => {
    place = createPlace!();
    target = await place.target();
    store = connectAll(target);
    await migrate(store.write);
  });
  after(async () => {
    await store.close();
    await place.remove();
  });

  /** Holds a lock as pg_dump does: in one long transaction that keeps tables from being altered. */
  async function lockTable(table: string, url = target) {
    const sql = openClient(url);
    const session = await sql.reserve();
    await session`set application_name = 'pg_dump'`;
    await session.script(`begin; lock table ${table} in access share mode`);
    const [row] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`;
    return {
      pid: row!.pid,
      async release() {
        await session`commit`;
        session.release();
        await sql.end();
      },
    };
  }

  test('refuses no request, reports the blocking process, and applies once it has ended', async (t) => {
    const { base, key, service } = await startWorld(store);
    t.after(() => service.close());
    const folder = folderWith('0901_plans.sql', 'alter table plans add column later text;');
    const dump = await lockTable('plans');
    const statuses: number[] = [];
    const over = new AbortController();
    const client = async () => {
      while (!over.signal.aborted) statuses.push((await get(`${base}/plans`, key)).status);
    };
    const clients = Promise.all([client(), client(), client()]);

    const said: string[] = [];
    const migrating = migrate(store.write, { folder, onWait: (text) => said.push(text) });
    await until(() => said.length > 0);
    const answeredBefore = statuses.length;
    await until(() => statuses.length > answeredBefore + 200);
    await dump.release();
    assert.deepEqual(await migrating, ['0901_plans.sql']);
    over.abort();
    await clients;

    assert.deepEqual([...new Set(statuses)], [200]);
    assert.equal(said.length, 1);
    assert.match(
      said[0] as string,
      new RegExp(
        `^Migration 0901_plans\\.sql is waiting for a table that is in use by process ${dump.pid} \\(pg_dump, in a transaction for \\d+ s\\)\\.`,
      ),
    );
  });

  test('gives up after the timeout, reports the blocking process, and leaves nothing behind', async () => {
    const folder = folderWith(
      '0902_refunds.sql',
      'create table left_over (id int); alter table refunds add column later text;',
    );
    const dump = await lockTable('refunds');
    await assert.rejects(
      migrate(store.write, { folder, timeoutMilliseconds: 0 }),
      (error: unknown) =>
        error instanceof CommandError &&
        error.message.startsWith('Migration 0902_refunds.sql was not applied: ') &&
        error.message.includes(`by process ${dump.pid} (pg_dump, `),
    );
    const [found] = await store.write`select to_regclass('left_over') as name`;
    assert.equal(found?.['name'], null);
    await dump.release();
    assert.deepEqual(await migrate(store.write, { folder }), ['0902_refunds.sql']);
  });

  test('waits for another migrating process for as long as it takes', async () => {
    const folder = folderWith('0903_other.sql', 'create table other (id int);');
    const other = openClient(target);
    const session = await other.reserve();
    await session`begin`;
    await session`select pg_advisory_xact_lock(7370110274)`;
    const said: string[] = [];
    const migrating = migrate(store.write, { folder, onWait: (text) => said.push(text) });
    // By the server's clock, several times as long as the lock timeout.
    await until(async () => {
      const waiting = await store.primary.keys`
        select from pg_stat_activity
        where wait_event = 'advisory' and now() - state_change > interval '500 ms'`;
      return waiting.length > 0;
    });
    await session`commit`;
    session.release();
    await other.end();
    assert.deepEqual(await migrating, ['0903_other.sql']);
    assert.deepEqual(said, []);
  });

  test('Ctrl-C stops the waiting command, and it can be run again', async (t) => {
    const own = createPlace!();
    const url = await own.target();
    const { write, close } = connectAll(url);
    t.after(async () => {
      await close();
      await own.remove();
    });
    await createReleasedSchema(write);
    const dump = await lockTable('owners.attempts', url);
    const env = { DATABASE_URL: url };
    const command = launch(['migrate'], { env });
    await command.logged(/^Migration 0049_unused\.sql is waiting for .*\(pg_dump, /m);
    command.child.kill('SIGINT');
    const { code, signal, out } = await command.ended;
    assert.deepEqual([code, signal, out], [null, 'SIGINT', '']);
    await dump.release();
    const again = await run(['migrate'], { env });
    assert.equal(again.code, 0);
    assert.match(again.out, /^Applied 0049_unused\.sql(, \w+\.sql)*\.\n$/);
  });
});
