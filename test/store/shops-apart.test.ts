import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generateShop } from '../../src/demo/generate.ts';
import type { Statement } from '../../src/store/connections/query.ts';
import { Session } from '../../src/store/connections/session.ts';
import { type Sql, connect } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll, openStore } from '../../src/store/open.ts';
import {
  createServingLogin,
  listServingProblems,
  prepareEmbeddedRole,
  prepareServingLogin,
} from '../../src/store/serving-login.ts';
import { insertShop } from '../../src/store/shops.ts';
import { migratedFolder, run } from '../cli/process.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { findPostgresPrograms } from '../support/postgres.ts';
import { callEveryOperation } from '../support/replication.ts';
import { type ServingServer, startServingServer } from '../support/serving-server.ts';
import { until } from '../support/until.ts';
import {
  type TestShop,
  type World,
  createShop,
  importAll,
  now,
  startWorld,
} from '../support/world.ts';
import { useEverything } from './use-everything.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const login = { user: 'reader', password: 'secret' };

/** The rows as JSON, sorted. */
type Result = readonly string[] | { readonly code: string };

describe('the login that serves requests, and shops', { skip, timeout: 600_000 }, () => {
  let server: ServingServer;
  let serveUrl: string;

  before(async () => {
    server = await startServingServer(['reader', 'older']);
    serveUrl = server.urlFor('reader', 'secret');
  });
  after(() => server.destroy());

  function open(user = 'reader'): Store {
    const url = server.urlFor(user, 'secret');
    return connectAll(server.ownerUrl, { serveUrl: url });
  }

  const connectTo = (url: string, isByShop: boolean) =>
    connect(url, {
      name: 'test',
      connections: 1,
      isShared: true,
      isByShop,
      readOnly: true,
      statementTimeoutMilliseconds: 30_000,
    });

  test('reads no table, but views of one shop with all columns of the tables', async (t) => {
    const store = open();
    t.after(() => store.close());
    assert.equal(await createServingLogin(store, login), undefined);
    const tables = await server.asAdmin(`
      select c.oid::regclass::text as name, has_any_column_privilege('reader', c.oid, 'select') as readable
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'shop_id'
      where c.relkind in ('r', 'p')`);
    assert.ok(tables.length > 40);
    assert.deepEqual(
      tables.filter(({ readable }) => readable),
      [],
    );
    const columns = await server.asAdmin(`
      select c.relname as name, n.nspname as schema, string_agg(a.attname, ' ' order by a.attnum) as columns
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where n.nspname in ('served', 'public') and c.relname in
        (select viewname from pg_views where schemaname = 'served')
      group by 1, 2`);
    const ofSchema = (schema: string) =>
      Object.fromEntries(
        columns
          .filter((each) => each['schema'] === schema)
          .map((each) => [each['name'], each['columns']]),
      );
    assert.ok(Object.keys(ofSchema('served')).length >= 20);
    assert.deepEqual(ofSchema('served'), ofSchema('public'));
  });

  test('sees the rows of the shop that a statement names, and none without', async (t) => {
    const store = open();
    t.after(() => store.close());
    await createServingLogin(store, login);
    const { id } = await createShop(store);
    const { keys } = store.primary;
    const find = (sql: Pick<Sql, 'unsafe'>) => sql.unsafe('select shop_id as id from shops');
    assert.deepEqual([...(await find(keys))], []);
    assert.deepEqual([...(await find(keys.ofShop(id)))], [{ id }]);
    // The setting ends with its statement.
    assert.deepEqual([...(await find(keys))], []);
    assert.deepEqual([...(await find(keys.ofShop(id + 1)))], []);
    const { analyse } = store.primaryOf(id);
    assert.deepEqual([...(await analyse.begin('read only', find))], [{ id }]);
    const reserved = await analyse.reserve();
    assert.deepEqual([...(await find(reserved))], [{ id }]);
    reserved.release();

    await server.asAdmin('revoke select on served.shops from reader');
    await prepareServingLogin(store, login);
    assert.deepEqual([...(await find(keys.ofShop(id)))], [{ id }]);
    await server.asAdmin('grant select on plans to reader');
    assert.deepEqual(await listServingProblems(keys), ['it may read plans']);
    await server.asAdmin('revoke select on plans from reader');
  });

  test('no statement of the service returns a row of another shop, nor without a shop', async (t) => {
    const serving = open();
    await createServingLogin(serving, login);
    await serving.close();
    const store = connectAll(server.ownerUrl);
    const spy = t.mock.method(Session.prototype, 'send');
    await useEverything(store);
    const sent = statementsOf(spy.mock.calls.map(({ arguments: [statement] }) => statement));
    spy.mock.restore();
    // Some shops were deleted in the end.
    const shops = await Promise.all(shopsOf(sent).map((id) => createShopAgain(store, id)));
    const shop = await createShop(store);
    for (const each of [...shops, shop]) await importAll(store, each, records());
    await store.close();

    await server.asAdmin('create database empty owner owner');
    const emptyUrl = server.ownerUrl.replace(/shop$/, 'empty');
    const empty = connectAll(emptyUrl);
    await migrate(empty.write);
    await empty.close();
    const reader = connectTo(serveUrl, true);
    const owner = connectTo(server.ownerUrl, false);
    const ofEmpty = connectTo(emptyUrl, false);
    t.after(() => Promise.all([reader.end(0), owner.end(0), ofEmpty.end(0)]));
    const seen: string[] = [];
    let answered = 0;
    for (const statement of sent) {
      const nothing = await resultOf(ofEmpty, statement);
      const all = await resultOf(owner, statement);
      if (JSON.stringify(all) !== JSON.stringify(nothing)) answered += 1;
      for (const sql of [reader, reader.ofShop(shop.id)]) {
        const found = await resultOf(sql, statement);
        if ('code' in found && ['42501', '25006'].includes(found.code)) continue;
        if (JSON.stringify(found) === JSON.stringify(nothing)) continue;
        // These say that some key has changed, and not which; and what the login may do.
        if (/find_key_generation|has_table_privilege/.test(statement.text)) continue;
        seen.push(`${statement.text}\n${JSON.stringify(found)}`);
      }
    }
    assert.deepEqual(seen, []);
    assert.ok(sent.length > 300 && answered > 100, `${answered} of ${sent.length}`);
  });

  test('leaves an instance of an older version its answers, and holds once it has ended', async (t) => {
    await server.asAdmin("create role older login password 'secret'");
    await server.asAdmin('grant select on all tables in schema public to older');
    const olderUrl = server.urlFor('older', 'secret');
    const instance = connect(olderUrl, {
      name: 'read keys',
      connections: 1,
      isShared: true,
      readOnly: true,
      statementTimeoutMilliseconds: 30_000,
    });
    const store = open('older');
    const world = await startWorld(store);
    await importAll(store, world.shop, sample);
    t.after(() => Promise.all([world.service.close(), store.close(), instance.end(0)]));
    const seenByInstance = async () => {
      const found = await instance`select from api_keys where shop_id = ${world.shop.id}`;
      return found.length;
    };
    assert.equal(await seenByInstance(), 1);
    const env = { DATABASE_URL: server.ownerUrl, DATABASE_SERVE_URL: olderUrl };
    const migrated = await run(['migrate', '--roles'], { env });
    assert.equal(
      migrated.out,
      'The schema is up to date.\nThe login "older" can read served data and nothing else. It sees all shops, because an instance of an older version uses it. Run this again once none does.\n',
    );
    await prepareServingLogin(store, { ...login, user: 'older' });
    assert.equal(await seenByInstance(), 1);
    await assertAnswers(world);
    const doctor = await run(['doctor'], { env });
    assert.match(
      doctor.out,
      /^warn {2}serving login: "older" can read served data and nothing else, but of all shops\. Once every instance runs this version, run "retention migrate --roles"\.$/m,
    );

    await instance.end();
    await until(
      () =>
        server.asAdmin(
          `select from pg_stat_activity where application_name = 'retention read keys'`,
        ),
      ({ length }) => length === 0,
    );
    assert.match(
      (await run(['migrate', '--roles'], { env })).out,
      /nothing else, one shop at a time/,
    );
    assert.equal((await store.primary.keys`select from api_keys`).length, 0);
    await assertAnswers(world);
  });
});

/**
 * What is about no shop: the catalogue, settings, the functions that return what their parameters name, the generation
 * of all keys, and lists of all shops for operators, which then have the one shop; and what a move reads by `xmin`, which
 * no view has.
 */
const ofNoShop =
  /\bpg_(?:class|stat_|backend|current_snapshot)|\bage\(t\.xmin|select set_config|\bfind_(?:keys|key_generation|entitlements)\(|from shops order by|from feeds group by/;

describe('the embedded database', { timeout: 600_000 }, () => {
  test('shows requests the rows of their shop, and writes as before', async (t) => {
    const store = await openStore({
      databaseUrl: undefined,
      dataDir: migratedFolder(),
      role: 'serve',
    });
    t.after(() => store.close());
    await prepareEmbeddedRole(store.write);
    await prepareEmbeddedRole(store.write);
    const world = await startWorld(store);
    const other = await createShop(store);
    await importAll(store, world.shop, sample);
    const count = async (sql: Sql) => {
      const [row] = await sql<{ count: number }[]>`select count(*) as count from plans`;
      return row?.count;
    };
    for (const round of [1, 2]) {
      const sqls = [store.primary.plans, store.primaryOf(other.id).plans, store.write];
      const found = await Promise.all([store.primaryOf(world.shop.id).plans, ...sqls].map(count));
      assert.deepEqual(found, [1, 0, 0, 1], `round ${round}`);
    }
    await assert.rejects(store.primary.plans`select from owners.accounts`, { code: '42501' });
    await assertAnswers(world);
    await world.service.close();
  });
});

const sample = [plan(), subscription(1001), session(71, { subscriptionId: 1001 })];

async function assertAnswers(world: World): Promise<void> {
  const answers = await callEveryOperation(world);
  for (const answer of answers) assert.match(answer, /^(?:mcp )?\w+ 200 \{/);
  assert.match(answers.join('\n'), /^get_entitlements 200 .*"subscriptionId":1001/m);
}

const records = () => [
  ...generateShop({
    subscriptions: 60,
    seed: 3,
    endAt: Date.parse(now),
    currency: 'USD',
    minorDigits: 2,
  }),
];

/** The ids of the shops that were made. */
const shopsOf = (sent: readonly Statement[]) => [
  ...new Set(
    sent
      .filter(({ text }) => /insert into shops \(shop_id/.test(text))
      .map(({ parameters: [id] }) => Number(id)),
  ),
];

async function createShopAgain({ write }: Store, id: number): Promise<TestShop> {
  const shop = {
    id,
    name: 'Again',
    tier: 'pro',
    currency: 'USD',
    createdAt: new Date(now),
    minorDigits: 2,
  } as const;
  await insertShop(write, shop);
  return shop;
}

/** Each statement with the parameters of a few of its runs. */
function statementsOf(sent: readonly Statement[]): Statement[] {
  const asked = sent.filter(({ isScript, text }) => !isScript && !ofNoShop.test(text));
  return [...Map.groupBy(asked, ({ text }) => text).values()].flatMap((runs) => runs.slice(0, 3));
}

function resultOf(sql: Sql, { text, parameters, types }: Statement): Promise<Result> {
  const values = parameters.map((value, index) => {
    if (typeof value !== 'string') return value;
    return types[index] === 16 ? value === 'true' : types[index] === 1184 ? new Date(value) : value;
  });
  return sql.unsafe<object[]>(text, values).then(
    (rows) => rows.map((row) => JSON.stringify(row)).toSorted(),
    (error: unknown) => ({ code: String((error as { code?: unknown }).code) }),
  );
}
