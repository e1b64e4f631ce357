import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Store, connectAll } from '../../src/store/open.ts';
import { listConnections } from '../../src/store/connections/read-connections.ts';
import {
  createServingLogin,
  listServingProblems,
  prepareServingLogin,
} from '../../src/store/serving-login.ts';
import { launchServer, run, runProcess } from '../cli/process.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { findPostgresPrograms } from '../support/postgres.ts';
import { callEveryOperation, onServer } from '../support/replication.ts';
import { type ServingServer, startServingServer } from '../support/serving-server.ts';
import { until } from '../support/until.ts';
import { createShop, importAll, startWorld } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

/** SQLSTATE insufficient_privilege */
const forbidden = { code: '42501' };
const servedTables = [
  'api_keys',
  'cancellation_sessions',
  'contacted_cases',
  'customer_values',
  'departures',
  'dunning_cases',
  'failed_cycles',
  'feeds',
  'metric_ledger',
  'metric_shops',
  'payments',
  'plans',
  'price_changes',
  'refunds',
  'shops',
  'status_events',
  'subscriber_changes',
  'subscriber_facts',
  'subscription_lines',
  'subscription_values',
  'subscriptions',
  'superseded_facts',
];
const password = "it's sésame";
const login = { user: 'reader', password };

describe('the login that serves requests', { skip, timeout: 600_000 }, () => {
  let server: ServingServer;
  let serveUrl: string;
  let env: Record<string, string>;

  before(async () => {
    server = await startServingServer(['reader', 'changed', 'late']);
    serveUrl = server.urlFor('reader', password);
    env = {
      DATABASE_URL: server.ownerUrl,
      DATABASE_SERVE_URL: serveUrl,
      REDIS_URL: 'redis://127.0.0.1:1',
    };
  });
  after(() => server.destroy());

  const asAdmin = (statement: string) => server.asAdmin(statement);

  /** Opens what serves requests, with the login of DATABASE_SERVE_URL unless it is undefined. */
  function open(url: string | undefined): Store {
    return connectAll(server.ownerUrl, { serveUrl: url });
  }

  test('serve names the command that creates the missing login', async () => {
    const { code, out, err } = await runProcess(['serve'], { env });
    assert.deepEqual([code, out], [1, '']);
    assert.match(
      err,
      /^retention: The login "reader" of DATABASE_SERVE_URL cannot be used: .*\. Run "retention migrate --roles" to create it\.$/m,
    );
  });

  test('migrate --roles creates it, is idempotent, and shows the password nowhere', async () => {
    for (const round of [1, 2]) {
      const { code, out, err } = await run(['migrate', '--roles'], { env });
      assert.deepEqual([code, err], [0, ''], `round ${round}`);
      assert.equal(
        out,
        'The schema is up to date.\nThe login "reader" can read served data and nothing else, one shop at a time.\n',
      );
    }
    const log = await until(server.log, (text) => /create role reader/.test(text));
    assert.match(log, /create role reader login password 'SCRAM-SHA-256\$4096:/);
    assert.equal(log.match(/(?:create|alter) role reader/g)?.length, 1);
    assert.doesNotMatch(log, /sésame/);
    await assert.rejects(onServer(server.urlFor('reader', 'wrong'), 'select 1'), { code: '28P01' });
  });

  test('cannot write, whatever is sent on its connection; the login of DATABASE_URL can', async (t) => {
    const withLogin = open(serveUrl);
    const without = open(undefined);
    t.after(() => Promise.all([withLogin.close(), without.close()]));
    const { id } = await createShop(without);
    const insert = `insert into customers (shop_id, customer_id) values (${id}, 1)`;
    const { analyse, segments } = withLogin.primary;
    for (const sql of listConnections(withLogin.primary)) {
      const attack = async (statement: string) => {
        if (sql === analyse || sql === segments) {
          await sql.begin('read write', (tx) => tx.unsafe(statement));
        }
        // Shared connections; this test is their only user.
        await sql`begin read write`;
        await sql.unsafe(statement).finally(() => sql`rollback`);
      };
      for (const statement of [
        insert,
        `update shops set tier = 'pro' where shop_id = ${id}`,
        `delete from api_keys where shop_id = ${id}`,
        'truncate public.cancellation_sessions',
        `select rebuild_metrics(${id})`,
        'create table intruders (id int)',
        'create function metric_hour(text) returns int language sql as $$ select 1 $$',
        'alter table public.plans add intruder int',
        'drop table public.payments',
        'drop view served.payments',
        'grant owner to reader',
        `create role intruder`,
      ]) {
        await assert.rejects(attack(statement), forbidden, statement);
      }
    }
    // The connection setting alone protects less: a statement can change it.
    await without.primary.analyse.begin('read write', (tx) => tx.unsafe(insert));
    const customers = await without.write`select from customers where shop_id = ${id}`;
    assert.equal(customers.length, 1);
  });

  test('can read what is served and nothing else', async (t) => {
    const store = open(serveUrl);
    t.after(() => store.close());
    const readable = await asAdmin(
      `select c.oid::regclass::text as name from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       where n.nspname in ('public', 'served', 'owners', 'shopify', 'jobs') and c.relkind in ('r', 'v', 'p', 'm')
         and has_schema_privilege('reader', n.oid, 'usage')
         and has_table_privilege('reader', c.oid, 'select') order by 1`,
    );
    assert.equal(
      readable.map(({ name }) => name).join(' '),
      `asked_entitlements ${servedTables.map((name) => `served.${name}`).join(' ')}`,
    );
    for (const table of [
      'customer_keys',
      'owners.accounts',
      'owners.sessions',
      'request_batches',
    ]) {
      await assert.rejects(store.primary.keys.unsafe(`select * from ${table}`), forbidden, table);
    }
  });

  test('all operations and pages work with it', async (t) => {
    const store = open(serveUrl);
    const world = await startWorld(store);
    t.after(() => world.close());
    const { refused } = await importAll(store, world.shop, [
      plan(),
      subscription(1001),
      session(71, { subscriptionId: 1001 }),
    ]);
    assert.deepEqual(refused, []);
    const answers = await callEveryOperation(world);
    assert.equal(answers.length, 12);
    for (const answer of answers) assert.match(answer, /^(?:mcp )?\w+ 200 \{/);

    const { visitor } = await signedInOwner(world);
    const home = `/app/shops/${world.shop.id}`;
    for (const page of [
      home,
      `${home}/keys`,
      `${home}/subscriptions`,
      `${home}/subscriptions?customerId=501`,
      `${home}/subscriptions/1001`,
      `${home}/cancel-flow`,
      '/app/account',
    ]) {
      const { status, text } = await visitor.get(page);
      assert.equal(status, 200, `${page}: ${text}`);
    }
    await until(async () => (await fetch(`${world.service.baseUrl}/readyz`)).ok);
    const connections = await asAdmin(
      `select distinct usename as name, application_name as application from pg_stat_activity
       where application_name ~ '^retention (read keys|analyse|write)'`,
    );
    assert.deepEqual(
      connections.map(({ application, name }) => `${application}: ${name}`).toSorted(),
      [
        'retention analyse by shop: reader',
        'retention read keys by shop: reader',
        'retention write: owner',
      ],
    );
  });

  test('serve lets it read new tables, even with several servers at once', async () => {
    await asAdmin('revoke select on served.plans, served.subscriber_facts from reader');
    const stores = [1, 2, 3].map(() => open(serveUrl));
    await Promise.all(stores.map((store) => prepareServingLogin(store, login)));
    await Promise.all(stores.map((store) => store.close()));

    await asAdmin('revoke select on served.plans from reader');
    const { child, ended } = await launchServer('serve', env);
    const [row] = await asAdmin(
      `select has_table_privilege('reader', 'served.plans', 'select')::text as can`,
    );
    assert.deepEqual(row, { can: 'true' });
    child.kill('SIGTERM');
    const { code, err } = await ended;
    assert.equal(code, 0, err);
    assert.doesNotMatch(err, /s%C3%A9same|sésame/);
  });

  test('serve refuses excess privileges, doctor shows them, and migrate --roles revokes them', async () => {
    for (const statement of [
      'grant insert on plans to reader',
      'grant update (name) on shops to reader',
      'grant usage on schema owners to reader',
      'grant select on owners.accounts to reader',
      'grant create on schema public to public',
    ]) {
      await asAdmin(statement);
    }
    const problems =
      'it may write to plans, shops; it may read owners.accounts; it may create in the schema public (as the owner, run: revoke create on schema ... from public)';
    const doctor = await run(['doctor'], { env });
    assert.equal(doctor.code, 1);
    assert.ok(
      doctor.out.includes(`FAIL  serving login: ${problems}; run "retention migrate --roles"\n`),
      doctor.out,
    );
    const served = await runProcess(['serve'], { env });
    assert.equal(served.code, 1);
    assert.ok(
      served.err.includes(
        `retention: The login "reader" of DATABASE_SERVE_URL must be able to read the served tables and nothing else: ${problems}. "retention migrate --roles" fixes what the login of DATABASE_URL has permission to fix.`,
      ),
      served.err,
    );

    assert.equal((await run(['migrate', '--roles'], { env })).code, 0);
    const well = await run(['doctor', '--json'], { env: { ...env, REDIS_URL: '' } });
    assert.equal(well.code, 0, well.out);
    const { configuration, findings } = JSON.parse(well.out);
    assert.match(configuration.databaseServeUrl, /^postgres:\/\/reader:redacted@127/);
    assert.deepEqual(
      findings.filter(({ check }: { check: string }) => check === 'serving login'),
      [
        {
          check: 'serving login',
          ok: true,
          detail: '"reader" can read served data and nothing else, one shop at a time',
        },
      ],
    );
    assert.doesNotMatch(doctor.out + served.err + well.out, /s%C3%A9same|sésame/);
  });

  test('names what only an administrator can revoke, and does not change administrators', async () => {
    const rights = async (user: string) => {
      const store = open(server.urlFor(user, password));
      try {
        return await listServingProblems(store.primary.keys);
      } finally {
        await store.close();
      }
    };
    await asAdmin('grant pg_read_all_data to reader');
    await asAdmin('alter role reader createdb');
    const problems = await rights('reader');
    assert.deepEqual(problems.slice(0, 2), [
      'it may change roles, databases or replication',
      'it is a member of pg_read_all_data',
    ]);
    assert.match(problems[2] ?? '', /^it may read .*owners\.accounts/);
    const kept = await run(['migrate', '--roles'], { env });
    assert.equal(kept.code, 1);
    assert.match(
      kept.err,
      /^retention: The user "reader" of DATABASE_SERVE_URL can administer the /,
    );
    await asAdmin('alter role reader nocreatedb');
    const refused = await run(['migrate', '--roles'], { env });
    assert.equal(refused.code, 1);
    assert.match(refused.err, /: it is a member of pg_read_all_data; it may read /);
    await asAdmin('revoke pg_read_all_data from reader');
    assert.deepEqual(await rights('reader'), []);

    assert.deepEqual(await rights('postgres'), ['it is a superuser']);
  });

  test('resets the search_path, which a login may change itself', async () => {
    for (const alter of ['alter role reader', 'alter role reader in database shop']) {
      await onServer(server.urlFor('reader', password), `${alter} set search_path = pg_temp`);
      const refused = await run(['doctor', '--json'], { env });
      assert.equal(refused.code, 1);
      assert.match(refused.out, /its search_path is changed \(search_path=pg_temp\)/);
      const mended = await run(['migrate', '--roles'], { env });
      assert.deepEqual([mended.code, mended.err], [0, '']);
      const doctor = await run(['doctor', '--json'], { env });
      assert.doesNotMatch(doctor.out, /search_path/);
    }
  });

  test('sets a changed password, and lets a role without login log in', async () => {
    await asAdmin("create role late password 'old'");
    for (const user of ['changed', 'late']) {
      for (const word of ['first', 'second']) {
        const store = open(server.urlFor(user, word));
        // Only an administrator can change a role that someone else created.
        if (user === 'late') await asAdmin('alter role owner superuser');
        await createServingLogin(store, { user, password: word });
        await store.close();
        await asAdmin('alter role owner nosuperuser');
      }
      await onServer(server.urlFor(user, 'second'), 'select 1');
      await assert.rejects(onServer(server.urlFor(user, 'first'), 'select 1'), { code: '28P01' });
    }
  });
});
