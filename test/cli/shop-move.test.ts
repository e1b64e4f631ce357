import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import { addressOf } from '../../src/config/database-url.ts';
import { createLog } from '../../src/log/log.ts';
import { contextOf, secretSealing } from '../../src/push/sources.ts';
import type { Sql, Transaction } from '../../src/store/database.ts';
import { findMove } from '../../src/store/moves/move.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { installation } from '../../src/store/owners/audit.ts';
import { deleteSegment } from '../../src/store/owners/segments.ts';
import { moveRows } from '../../src/store/shop-deletion.ts';
import { type ShopTable, listShopTables } from '../../src/store/shop-tables.ts';
import { updateCustomerLink } from '../../src/store/shops.ts';
import { createSource, credentialsKeys, deliver, finished, push } from '../push/world.ts';
import { plan, session } from '../rest/records.ts';
import { auditOf } from '../support/audit.ts';
import { serverUrl } from '../support/databases.ts';
import { createServerDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { createTestKey, get, importAll, startTestService } from '../support/world.ts';
import { fillEveryTable } from './every-table.ts';
import { createFilledShop, runTo } from './shop-data.ts';

const skip =
  (serverUrl === undefined || process.env['TEST_CITUS_URL'] !== undefined) &&
  'PostgreSQL is not available on this machine';

describe('shops that move', { skip, timeout: 600_000 }, () => {
  const databases: Awaited<ReturnType<typeof createServerDatabase>>[] = [];
  let [here, there]: Store[] = [];
  const [keyHere = randomBytes(32)] = credentialsKeys;
  const keyThere = randomBytes(32);
  const env = () => ({
    DATABASE_URL: databases[0]?.target ?? '',
    OTHER: databases[1]?.target ?? '',
    THERE_KEY: keyThere.toString('base64'),
    CREDENTIALS_KEY: keyHere.toString('base64'),
    LOG_LEVEL: 'warn',
  });
  const back = () => ({
    ...env(),
    DATABASE_URL: env().OTHER,
    OTHER: env().DATABASE_URL,
    CREDENTIALS_KEY: env().THERE_KEY,
    THERE_KEY: env().CREDENTIALS_KEY,
  });
  const ended = (status: number, ...args: string[]) => runTo(status, args, env());
  const moveOf = (id: number) => ['shops', 'move', `--id=${id}`, '--to=env:OTHER'];
  before(async () => {
    for (const each of [0, 1]) databases[each] = await createServerDatabase({ hasLogin: true });
    [here, there] = databases.map(({ target }) => connectAll(target));
  });
  after(async () => {
    await Promise.all([here?.close(), there?.close()]);
    for (const database of databases) await database.drop();
  });

  test('brings a row of every table, and back again', async () => {
    assert.ok(here && there);
    const shop = await fillEveryTable(here, env());
    const tables = await listShopTables(here.write);
    const original = await rowsOf(here.write, tables, shop.id);
    for (const [name, rows] of original) assert.ok(rows.length > 0, `${name} has no row`);
    const services = [
      await startTestService(here, { clock: systemClock }),
      await startTestService(there, { clock: systemClock }),
    ];
    const statuses = () =>
      Promise.all(
        services.map(async ({ baseUrl }) => {
          const { status } = await get(`${baseUrl}/api/external/v1/plans`, shop.key);
          return status;
        }),
      );
    try {
      assert.deepEqual(await statuses(), [200, 401]);
      const { out } = await ended(0, ...moveOf(shop.id), '--to-key=env:THERE_KEY', '--json');
      assert.equal(JSON.parse(out).id, shop.id);
      assert.deepEqual(await statuses(), [401, 200]);
    } finally {
      for (const service of services) await service.close();
    }

    assert.deepEqual(await rowsOf(there.write, tables, shop.id), original);
    const left = await rowsOf(here.write, tables, shop.id);
    assert.deepEqual([...left.values()].flat(), []);
    const [source] = await there.write<{ sourceId: string; secret: string }[]>`
      select source_id as "sourceId", secret from ingest.sources where shop_id = ${shop.id}`;
    assert.ok(source);
    const opened = secretSealing([keyThere]).open(
      source.secret,
      contextOf({ ...source, shopId: shop.id }),
    );
    assert.match(opened, /^whsec_/);
    const moved = await auditOf(here.write, installation, 'shop_moved');
    assert.match(moved.at(-1)?.target ?? '', new RegExp(`^${shop.id} to [^@]+$`));
    await runTo(0, ['audit', 'verify', `--shop=${shop.id}`], back());
    await runTo(0, ['metrics', 'verify', `--shop=${shop.id}`], back());

    const again = await ended(1, 'import', `--shop=${shop.id}`, '-');
    assert.match(again.err, /Shop \d+ has moved to /);
    await runTo(0, [...moveOf(shop.id), '--to-key=env:THERE_KEY'], back());
    assert.deepEqual(await rowsOf(here.write, tables, shop.id), original);
    await ended(0, 'audit', 'verify', `--shop=${shop.id}`);
  });

  test('refuses or holds up what writes, and fails whole', async () => {
    assert.ok(here && there);
    let overtaken: ReturnType<typeof ended> | undefined;
    const shop = await createFilledShop(here, 20, systemClock.now());
    await there.write`
      insert into shops (shop_id, name, tier, currency, created_at) values (${shop.id}, 'x', 'pro', 'USD', now())`;
    assert.match((await ended(1, ...moveOf(shop.id))).err, /has a shop \d+ already/);
    const copyOf = ['shops', 'copy', `--id=${shop.id}`, '--to=env:OTHER'];
    assert.match((await ended(1, ...copyOf)).err, /has a shop \d+ already/);
    await there.write`delete from shops where shop_id = ${shop.id}`;
    // One that comes meanwhile.
    await there.write.begin(async (tx) => {
      await tx`
        insert into shops (shop_id, name, tier, currency, created_at) values (${shop.id}, 'x', 'pro', 'USD', now())`;
      overtaken = ended(1, ...moveOf(shop.id));
      await until(async () => {
        const [found] = await tx<{ waiting: number }[]>`
          select count(*)::int as waiting from pg_locks
          where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`;
        return found?.waiting === 1;
      });
    });
    assert.match((await overtaken)?.err ?? '', /has a shop \d+ already/);
    const [other] = await there.write`select name from shops where shop_id = ${shop.id}`;
    assert.equal(other?.['name'], 'x');
    await there.write`delete from shops where shop_id = ${shop.id}`;
    assert.match(
      (await ended(2, 'shops', 'move', `--id=${shop.id}`, '--to=env:NOT_SET')).err,
      /not set/,
    );

    // As a move leaves it that was killed in its last step.
    await here.write`
      update metric_shops set move_id = ${randomUUID()}::text::uuid, moving_to = 'elsewhere/x' where shop_id = ${shop.id}`;
    await assert.rejects(importAll(here, shop, [plan()]), /Shop \d+ has moved to elsewhere\/x/);
    const key = ['keys', 'create', `--shop=${shop.id}`, '--name=Test', '--scopes=read:plans'];
    assert.match((await ended(1, ...key)).err, /has moved to/);
    await assert.rejects(
      here.write`insert into owners.segments (shop_id, name, query) values (${shop.id}, 'a', 'b')`,
      /has moved to/,
    );
    assert.match(
      (await ended(1, 'shops', 'delete', `--id=${shop.id}`, '--yes')).err,
      /has moved to/,
    );
    assert.match((await ended(1, ...moveOf(shop.id))).err, /is not finished/);
    await here.write`
      update metric_shops set move_id = null, moving_to = null where shop_id = ${shop.id}`;

    const { id: keyId } = await createTestKey(here, shop.id);
    await here.write`
      insert into request_counts (shop_id, key_id, hour, operation, status, requests)
      values (${shop.id}, ${keyId}, now(), 'x', 200, 1)`;
    await ended(0, ...copyOf);
    const copied = await there.write`select from subscriptions where shop_id = ${shop.id}`;
    assert.equal(copied.length, 20);
    await importAll(here, shop, [plan()]);
    const { out } = await ended(0, 'shops', 'list', '--servers=env:DATABASE_URL,env:OTHER');
    assert.equal(out.split('\n').filter((line) => line.includes(String(shop.id))).length, 2);
    await runTo(0, ['shops', 'delete', `--id=${shop.id}`, '--yes'], back());
    await ended(0, ...moveOf(shop.id));
  });

  test('stores nothing in the last step: pushes are refused, and all else waits', async () => {
    assert.ok(here && there);
    const shop = await createFilledShop(here, 20, systemClock.now());
    const source = await createSource(here, shop);
    const { write: sql } = here;
    const name = 'Held';
    const insertSegment = (tx: Transaction) =>
      tx`insert into owners.segments (shop_id, name, query) values (${shop.id}, ${name}, 'plan=1')`;
    await sql`
      insert into owners.segments (shop_id, name, query)
      values (${shop.id}, 'Kept', 'plan=1'), (${shop.id}, 'Gone', 'plan=1')`;
    const url = '/api/external/v1/plans';
    const { key } = await createTestKey(here, shop.id);
    const logged: string[] = [];
    const service = await startTestService(here, {
      clock: systemClock,
      credentialsKeys: [keyHere],
      log: createLog('error', { write: (line) => void logged.push(line) }),
    });
    // The last step waits for this one, which is newer than what the move has read before.
    const held = await there.write.reserve();
    try {
      const pushed = await deliver(service.baseUrl, source, [session(1)]);
      await finished(service.baseUrl, source, pushed.body.batchId);
      await held.script('begin');
      await insertSegment(held);
      let moving: ReturnType<typeof ended> | undefined;
      await sql.begin(async (tx) => {
        await tx`select from metric_shops where shop_id = ${shop.id} for update`;
        moving = ended(0, ...moveOf(shop.id), '--to-key=env:THERE_KEY');
        await until(async () => {
          const [lock] = await sql<{ isHeld: boolean }[]>`
            select not pg_try_advisory_xact_lock_shared(move_lock(${shop.id})) as "isHeld"`;
          return lock?.isHeld;
        });
        await moveRows(tx);
        await insertSegment(tx);
        await tx`delete from owners.segments where shop_id = ${shop.id} and name = 'Gone'`;
      });
      await until(async () => (await findMove(sql, shop.id))?.movingTo);

      const refused = await push(service.baseUrl, source, [session(2)]);
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60']);
      // Not because it waited too long.
      assert.match(
        logged.join(''),
        /"reason":"Shop \d+ is being moved\. Try again in a few seconds\."/,
      );
      assert.equal((await get(`${service.baseUrl}${url}`, key)).status, 200);
      const writes = [
        importAll(here, shop, [plan()]),
        updateCustomerLink(sql, shop.id, 'https://shop.example/{id}'),
        deleteSegment(sql, shop.id, 'Kept'),
      ].map((write) => write.then(() => 'stored', String));
      const keyCreated = ended(
        1,
        'keys',
        'create',
        `--shop=${shop.id}`,
        '--name=T',
        '--scopes=read:plans',
      );
      const { database } = addressOf(env().DATABASE_URL);
      await until(async () => {
        const [found] = await there!.write<{ waiting: number }[]>`
          select count(*)::int as waiting from pg_locks
          where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = ${database})`;
        return found?.waiting === 4;
      });
      // Longer than a revocation takes that says nothing.
      await setTimeout(3_100);
      await held.script('rollback');
      assert.equal((await moving)?.err, '');
      for (const outcome of [...(await Promise.all(writes)), (await keyCreated).err]) {
        assert.match(outcome, /Shop \d+ has moved to /);
      }
    } finally {
      held.release();
      await service.close();
    }
    const segments =
      await there.write`select name from owners.segments where shop_id = ${shop.id} order by 1`;
    assert.deepEqual(
      segments.map((segment) => segment['name']),
      [name, 'Kept'],
    );
  });

  test('keeps the account that the address of an owner has at the other place', async () => {
    assert.ok(here && there);
    const shop = await createFilledShop(here, 1, systemClock.now());
    const email = `twice${shop.id}@example.com`;
    const insertAccount = async ({ write }: Store, password: string) => {
      const [account] = await write<{ id: string }[]>`
        insert into owners.accounts (email, password_hash, created_at) values (${email}, ${password}, now())
        returning owner_id as id`;
      return account?.id ?? '';
    };
    const idHere = await insertAccount(here, 'here');
    const idThere = await insertAccount(there, 'there');
    await here.write`
      insert into owners.memberships (owner_id, shop_id, created_at) values (${idHere}, ${shop.id}, now())`;
    await ended(0, ...moveOf(shop.id), '--to-key=env:THERE_KEY');
    const [member] = await there.write<{ id: string; password: string }[]>`
      select owner_id as id, password_hash as password from owners.memberships join owners.accounts using (owner_id)
      where shop_id = ${shop.id}`;
    assert.deepEqual({ ...member }, { id: idThere, password: 'there' });
    assert.equal((await here.write`select from owners.accounts where email = ${email}`).length, 0);
  });

  test('knows what holds up the writes of each table', async () => {
    assert.ok(here);
    const rows = await here.write<{ name: string; triggers: string }[]>`
      select case when n.nspname = 'public' then c.relname else n.nspname || '.' || c.relname end as name,
        coalesce((select string_agg(distinct regexp_replace(t.tgname, '_.*', ''), ' ') from pg_trigger t
          where t.tgrelid = c.oid and t.tgname ~ '^(?:hold_shop|metrics_)'), '') as triggers
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'shop_id' and not a.attisdropped
      where c.relkind in ('r', 'p') and n.nspname in ('public', 'ingest', 'owners', 'platforms', 'shopify')
      order by 1`;
    const unheld = rows.filter(({ triggers }) => triggers === '').map(({ name }) => name);
    assert.deepEqual(unheld, [...onEachNode, ...ofRequests, ...ofTheWriter].toSorted());
  });
});

/** A cluster takes no triggers there. What writes to them appends to the audit log, or asks `require_here`. */
const onEachNode = ['api_keys', 'shops'];
/** The last of them may be missing at the new place. */
const ofRequests = ['key_uses', 'request_batches', 'request_counts', 'request_log'];
/** Written only by the shop's writer, which a move stops (lock_shop). */
const ofTheWriter = [
  'customer_values',
  'customers',
  'departures',
  'export_dates',
  'metric_ledger',
  'metric_shops',
  'redacted_customers',
  'snapshot_dates',
  'source_ids',
  'subscription_lines',
  'subscription_values',
  'superseded_facts',
];

/** Columns that differ between the places. */
const ownColumns: Readonly<Record<string, readonly string[]>> = {
  api_keys: ['last_used_at'],
  metric_shops: ['writer', 'move_id'],
  'ingest.sources': ['secret'],
  'platforms.connections': ['credentials'],
  'owners.sso_providers': ['client_secret'],
};

/** All rows of a shop as text, by table; without the entries that say that it moved. */
async function rowsOf(sql: Sql, tables: readonly ShopTable[], shopId: number) {
  const found = new Map<string, string[]>();
  for (const { name, columns } of tables) {
    if (name === 'audit_heads' || ofRequests.includes(name)) {
      const rows = await sql.unsafe(`select from ${name} where shop_id = $1`, [shopId]);
      found.set(name, rows.length === 0 ? [] : ['some']);
      continue;
    }
    const all = columns.filter((column) => !ownColumns[name]?.includes(column));
    const condition = name === 'audit_entries' ? "and what not in ('shop_moved')" : '';
    const rows = await sql.unsafe<{ row: string }[]>(
      `select row(${all.map((column) => `"${column}"`).join(', ')})::text as row from ${name}
       where shop_id = $1 ${condition} order by 1`,
      [shopId],
    );
    found.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return found;
}
