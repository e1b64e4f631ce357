import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { retention } from '../bench/processes.ts';
import { generateShop } from '../src/demo/generate.ts';
import { hashKey } from '../src/access/keys/key-format.ts';
import { findLedgerDifferences } from '../src/metrics/verify/sums.ts';
import { findGroupOfShop } from '../src/store/cluster/cluster.ts';
import { distribute, planDistribution } from '../src/store/cluster/distribute.ts';
import type { Sql } from '../src/store/database.ts';
import { listKeysByHash } from '../src/store/keys/keys.ts';
import { lockForWriting } from '../src/store/records/writing.ts';
import { migrate } from '../src/store/migrate.ts';
import { type Store, connectAll } from '../src/store/open.ts';
import { runProcess } from '../test/cli/process.ts';
import { type ClusterDatabase, createClusterDatabase } from '../test/support/citus.ts';
import { openClient } from '../test/support/client.ts';
import { freePort } from '../test/support/postgres.ts';
import { until } from '../test/support/until.ts';
import {
  type TestShop,
  createShop,
  createTestKey,
  get,
  importAll,
  startTestService,
} from '../test/support/world.ts';

const records = [
  ...generateShop({
    subscriptions: 300,
    seed: 7,
    endAt: Date.parse('2026-11-20T12:00:00.000Z'),
    currency: 'USD',
    minorDigits: 2,
  }),
];
const kills = 10;

const nameOf = (what: string) => `${what}_${randomInt(2 ** 40)}`;

describe('distributing a database', { timeout: 900_000 }, () => {
  let database: ClusterDatabase;
  let store: Store;
  before(async () => {
    database = await createClusterDatabase(nameOf('distribute'));
    await database.addCitus();
    store = { ...connectAll(database.target), failed: new Promise(() => {}) };
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  const env = () => ({ DATABASE_URL: database.target, LOG_LEVEL: 'warn' });

  const distributedTables = async () => {
    const [found] = await store.write<{ count: number }[]>`
      select count(*)::int as count from pg_dist_partition`;
    return found?.count;
  };

  test('killed at any moment leaves the data as before or distributed; running it again completes it', async () => {
    await migrate(store.write);
    const shops = [await createShop(store), await createShop(store)];
    for (const shop of shops) {
      assert.deepEqual((await importAll(store, shop, records)).refused, []);
    }
    const expected = await contents(store.write);
    const all = (await planDistribution(store.write)).cluster.missingTables.length;

    for (let round = 0; round < kills; round += 1) {
      // It takes about three seconds.
      await killAfter(300 + (round * 2700) / kills + randomInt(200));
      await untilAlone(database.target);
      assert.ok([0, all].includes((await distributedTables()) ?? -1));
      assert.deepEqual(await contents(store.write), expected);
    }
    const { code, out } = await runProcess(['distribute'], { env: env() });
    assert.equal(code, 0, out);
    assert.equal(await distributedTables(), all);
    assert.deepEqual(await contents(store.write), expected);
    const again = await runProcess(['distribute', '--check'], { env: env() });
    assert.match(
      again.out,
      /^Citus [\d.-]+, \d+ nodes with shards\.\nEverything is distributed\.\n$/,
    );
    assert.equal(again.code, 0);
    for (const shop of shops) {
      assert.deepEqual(await findLedgerDifferences(store.write, shop.id), []);
      assert.deepEqual((await importAll(store, shop, changed(shop))).refused, []);
      assert.deepEqual(await findLedgerDifferences(store.write, shop.id), []);
    }
  });

  async function killAfter(milliseconds: number): Promise<void> {
    const child = spawn(retention, ['distribute'], {
      env: { ...process.env, ...env() },
      stdio: 'ignore',
      detached: true,
    });
    const ended = once(child, 'exit');
    await sleep(milliseconds);
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // It was done already.
    }
    await ended;
  }

  test('a later migration distributes what it adds', async () => {
    const shop = await createShop(store);
    const applied = await migrateFrom(store, (folder) =>
      writeFileSync(
        path.join(folder, '9999_extras.sql'),
        `create table extras (shop_id bigint not null references shops, id bigint not null,
            primary key (shop_id, id));
          create trigger extras_go after delete on extras referencing old table as old_rows
            for each statement execute function delete_source_ids('plan', 'id');
          alter table plans add column extra text`,
      ),
    );
    assert.deepEqual(applied, ['9999_extras.sql']);
    assert.deepEqual((await planDistribution(store.write)).steps, []);
    await store.write`insert into extras values (${shop.id}, 1)`;
    await store.write`delete from extras where shop_id = ${shop.id}`;
  });

  test('a shop that is deleted while an import waits for it stays deleted', async () => {
    const { id } = await createShop(store);
    let importing: Promise<unknown> | undefined;
    await store.write.begin(async (tx) => {
      await tx`select lock_shop(${id})`;
      importing = store.write.begin((other) => lockForWriting(other, id));
      importing.catch(() => {});
      await until(async () => (await store.write`select from citus_lock_waits`).length > 0);
      await tx`delete from metric_shops where shop_id = ${id}`;
      await tx`delete from shops where shop_id = ${id}`;
    });
    await assert.rejects(importing as Promise<unknown>, /was deleted meanwhile/);
    assert.deepEqual([...(await store.write`select from metric_shops where shop_id = ${id}`)], []);
  });

  test('doctor says what is missing', async () => {
    await store.write.unsafe('create table more (shop_id bigint primary key)');
    const { out, code } = await runProcess(['doctor'], { env: env() });
    assert.match(out, /FAIL {2}cluster: not distributed: more; run "retention distribute"/);
    assert.equal(code, 1);
    await distribute(store.write);
    assert.equal((await runProcess(['doctor'], { env: env() })).code, 0);
  });

  test('refuses a worker, a server without Citus, and the embedded database', async () => {
    const [worker = ''] = database.workers;
    const onWorker = await runProcess(['distribute'], { env: { ...env(), DATABASE_URL: worker } });
    assert.deepEqual([onWorker.code, onWorker.out], [1, '']);
    assert.match(onWorker.err, /names a worker/);
    const plain = { ...env(), DATABASE_URL: process.env['TEST_POSTGRES'] as string };
    const onPlain = await runProcess(['distribute', '--check'], { env: plain });
    assert.deepEqual([onPlain.code, onPlain.out], [1, '']);
    assert.match(onPlain.err, /is not on Citus/);
    const onEmbedded = await runProcess(['distribute'], { env: { LOG_LEVEL: 'warn' } });
    assert.deepEqual([onEmbedded.code, onEmbedded.out], [2, '']);
  });
});

test('migrating takes what earlier versions had on all nodes back to the coordinator', async () => {
  const database = await createClusterDatabase(nameOf('earlier'));
  await database.addCitus();
  const store = { ...connectAll(database.target), failed: new Promise<never>(() => {}) };
  try {
    await migrateFrom(store, (folder) => {
      for (const name of readdirSync(folder)) {
        if (/^\d/.test(name) && name > '0077') rmSync(path.join(folder, name));
      }
    });
    await distribute(store.write);
    for (const statement of [
      `select create_reference_table('shops')`,
      `select create_reference_table('api_keys')`,
      'alter table metric_shops add constraint to_shops foreign key (shop_id) references shops on delete cascade',
      'alter table key_uses add constraint to_keys foreign key (shop_id, key_id) references api_keys',
    ]) {
      await store.write.unsafe(statement);
    }
    const shop = await createShop(store);
    const { id, key } = await createTestKey(store, shop.id);
    assert.deepEqual((await planDistribution(store.write)).steps, [
      'keep on the coordinator only: shops, api_keys',
    ]);
    await migrate(store.write);
    assert.deepEqual((await planDistribution(store.write)).steps, []);
    const others = await store.write`select from pg_dist_partition where partmethod <> 'h'`;
    assert.deepEqual([...others], []);
    const find = async () => (await listKeysByHash(store.write, [hashKey(key)]))[0]?.record;
    const found = await find();
    assert.equal(found?.keyId, id);
    assert.deepEqual((await importAll(store, shop, records.slice(0, 50))).refused, []);
    await store.write`update api_keys set revoked_at = now() where shop_id = ${shop.id}`;
    const revoked = await find();
    assert.deepEqual(
      [revoked?.isRevoked, revoked?.generation === found?.generation],
      [true, false],
    );
  } finally {
    await store.close();
    await database.drop();
  }
});

/** Migrates with the folder as it is once it was changed. */
async function migrateFrom(store: Store, change: (folder: string) => void): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-migrations-'));
  cpSync(new URL('../migrations', import.meta.url), folder, { recursive: true });
  change(folder);
  const applied = await migrate(store.write, { folder: pathToFileURL(`${folder}/`) });
  rmSync(folder, { recursive: true });
  return applied;
}

/** Everything that is stored, by table. */
async function contents(sql: Sql): Promise<Record<string, string>> {
  const tables = ['shops', 'plans', 'subscriptions', 'payments', 'refunds', 'metric_ledger'];
  const found: Record<string, string> = {};
  for (const table of tables) {
    const rows = await sql<{ row: string }[]>`
      select t::text as row from ${sql.unsafe(table)} t order by 1`;
    found[table] = rows.map(({ row }) => row).join('\n');
  }
  return found;
}

const logins = { 'a superuser': undefined, 'a login without privileges': nameOf('owner') };

for (const isFirst of [true, false]) {
  for (const hasData of [true, false]) {
    for (const [who, owner] of Object.entries(logins)) {
      const when = isFirst ? 'before' : 'after';
      const what = `the extension created ${when} the tables, ${hasData ? 'with' : 'without'} data`;
      test(`distributes by ${who}: ${what}`, { timeout: 300_000 }, async (t) => {
        const database = await createClusterDatabase(nameOf('order'), owner);
        t.after(() => database.drop());
        const store = { ...connectAll(database.target), failed: new Promise<never>(() => {}) };
        t.after(() => store.close());
        if (isFirst) await database.addCitus();
        await migrate(store.write);
        // As when a later migration changes a function.
        await store.write.script(`
          set check_function_bodies = off;
          create function early() returns int language sql as 'select late()';
          create function late() returns int language sql as 'select 1';
          reset check_function_bodies`);
        const shop = hasData ? await createShop(store) : undefined;
        if (shop) assert.deepEqual((await importAll(store, shop, records)).refused, []);
        if (!isFirst) await database.addCitus();
        const expected = await contents(store.write);
        await distribute(store.write);
        // Connections from before the extension plan for one server.
        store.write.reset();
        assert.deepEqual((await planDistribution(store.write)).steps, []);
        assert.deepEqual(await contents(store.write), expected);
        for (const worker of database.workers) {
          const sql = openClient(worker);
          t.after(() => sql.end());
          assert.deepEqual([...(await sql`select early() as found`)], [{ found: 1 }]);
        }
        for (const each of [shop ?? (await createShop(store)), await createShop(store)]) {
          assert.deepEqual(
            (await importAll(store, each, [...records, ...changed(each)])).refused,
            [],
          );
          assert.deepEqual(await findLedgerDifferences(store.write, each.id), []);
        }
      });
    }
  }
}

test('doctor and /readyz name a node that does not answer, and how many shops it has', async (t) => {
  const database = await createClusterDatabase(nameOf('silent'));
  t.after(() => database.drop());
  await database.addCitus();
  const store = { ...connectAll(database.target), failed: new Promise<never>(() => {}) };
  t.after(() => store.close());
  await migrate(store.write);
  await distribute(store.write);
  const shops = [await createShop(store), await createShop(store), await createShop(store)];
  const groups: (number | undefined)[] = [];
  for (const { id } of shops) groups.push(await findGroupOfShop(store.write, id));
  const [group] = groups as [number];
  const count = groups.filter((each) => each === group).length;
  const port = await freePort();
  await store.write`update pg_dist_node set nodeport = ${port} where groupid = ${group}`;
  const env = { DATABASE_URL: database.target, LOG_LEVEL: 'warn' };
  const { out, code } = await runProcess(['doctor'], { env });
  const line = new RegExp(
    `FAIL {2}node [^\\n]+:${port}: worker, \\d+ shards, but it does not answer: ${count} shops are refused`,
  );
  assert.match(out, line);
  assert.equal(code, 1);
  assert.match((await runProcess(['distribute'], { env })).err, /:\d+ does not answer/);
  const service = await startTestService(store);
  t.after(() => service.close());
  const { status, body } = await get(`${service.baseUrl}/readyz`);
  assert.equal(status, 200);
  const node = `127.0.0.1:${port}`;
  assert.deepEqual(body, {
    status: 'ready',
    database: 'up',
    nodes: { [node]: `does not answer: ${count} shops are refused` },
  });
});

test('says why a node refuses a function', async (t) => {
  const database = await createClusterDatabase(nameOf('refused'));
  t.after(() => database.drop());
  const store = { ...connectAll(database.target), failed: new Promise<never>(() => {}) };
  t.after(() => store.close());
  await migrate(store.write);
  await database.addCitus();
  const sql = openClient(database.workers[0] as string);
  await sql.script(`
    set citus.enable_ddl_propagation = off;
    create function refuse() returns event_trigger language plpgsql as
      $$ begin raise exception 'no functions here'; end $$;
    create event trigger refuse on ddl_command_start when tag in ('CREATE FUNCTION')
      execute function refuse()`);
  await sql.end();
  const { code, err } = await runProcess(['distribute'], {
    env: { DATABASE_URL: database.target, LOG_LEVEL: 'warn' },
  });
  assert.equal(code, 1);
  assert.match(err, /no functions here/);
});

/** The same subscriptions at another price. */
function changed({ id }: TestShop): object[] {
  assert.ok(id);
  return records
    .filter((record) => record.type === 'subscription')
    .slice(0, 50)
    .map((record) => ({ ...record, statusEvents: [], updatedAt: '2026-11-20T12:00:00.000Z' }));
}

/** Waits until the server has noticed that the process is gone. */
async function untilAlone(target: string): Promise<void> {
  const sql = openClient(target);
  for (;;) {
    const [others] = await sql<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where application_name = 'retention write' and xact_start is not null`;
    if (others?.count === 0) break;
    await sleep(50);
  }
  await sql.end();
}
