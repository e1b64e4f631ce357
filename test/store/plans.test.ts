import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { migrate } from '../../src/store/migrate.ts';
import { connectAll } from '../../src/store/open.ts';
import { each } from '../../src/store/lookup.ts';
import { createServingLogin } from '../../src/store/serving-login.ts';
import type { Sql } from '../../src/store/database.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { logSettings, logStart, openAsReader, readStatements } from './logged-plans.ts';
import type { PlanNode } from './plan-nodes.ts';
import { useEverything } from './use-everything.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

/** What ANALYZE has seen: empty tables, whose statistics tell the planner no more than none, a few rows, or everything. */
type Statistics = 'empty' | 'old' | 'fresh';

/** How many shops there are, each with how many subscriptions, and what ANALYZE has seen of them. */
interface State {
  readonly shops: number;
  readonly subscriptions: number;
  readonly statistics: Statistics;
}

const one = { shops: 1, subscriptions: 2000 };
const some = { shops: 3, subscriptions: 2000 };
const many = { shops: 1000, subscriptions: 6 };

const states: readonly State[] = [
  { ...one, statistics: 'empty' },
  { ...many, statistics: 'old' },
  { ...some, statistics: 'fresh' },
];
const nameOf = ({ shops, statistics }: State) => `${statistics} statistics, ${shops} shops`;

/** Tables of a shop, filled for every shop s and number n. */
const tables: Readonly<Record<string, string>> = {
  plans: `s, n, 'Box', '', 'subscription', 'month', 1, true, 0, 'none', 0, '', null,
    gen_random_uuid()`,
  customers: 's, n',
  subscriptions: `s, n, n, n % 5 + 1, ('{active,paused,cancelled}'::text[])[n % 3 + 1], time, 10, null,
    null, time, null, time, null, gen_random_uuid()`,
  subscription_lines: "s, n, 1, 0, 81, 'Blend', 91, '', 1, 10",
  subscription_values: "s, n, ('{active,paused,cancelled}'::text[])[n % 3 + 1], 10",
  status_events: "s, n, 0, time, 'active', ('{active,paused,cancelled}'::text[])[n % 3 + 1]",
  payments: `s, n, n, '1', ('{succeeded,failed}'::text[])[n % 2 + 1],
    ('{null,payment}'::text[])[n % 2 + 1], 10, time, null, gen_random_uuid()`,
  refunds: 's, n, n, 10, time, null, gen_random_uuid()',
  dunning_cases: "s, n, 0, time, null, null, 10, 'expired_card', 1",
  failed_cycles: "s, n, '1', time, true",
  departures: "s, n, time, n, 'cancelled', 40",
  price_changes: 's, n, time, n, 10, 12, time, 12',
  superseded_facts: "s, n, 'cycle_failed', '1', time, time - interval '2 days', time, '', '', 4",
  cancellation_sessions: "s, n, n, 'other', null, 'saved', time, null, gen_random_uuid()",
  source_ids: "s, 'subscription', n, 'sub_' || n",
  export_dates: "s, 'subscription', n, time",
  snapshot_dates: "s, 'subscription', time",
  metric_shops: 's',
  subscriber_changes: "s, n, time, 1, 1, 0, 1, 0, 0, 0, 0, '{}', 0, '2026-01'",
  metric_ledger: "s, 'day', time, 'paid', 1, 10",
};
const onceEach = new Set(['metric_shops', 'snapshot_dates']);

async function fill(
  sql: Sql,
  { shops, subscriptions }: Pick<State, 'shops' | 'subscriptions'>,
  firstShop = 1,
): Promise<void> {
  const shopIds = `generate_series(${firstShop}, ${firstShop + shops - 1}) s`;
  await sql.begin(async (tx) => {
    // Skip the triggers: only the number of rows matters here.
    await tx`set local session_replication_role = replica`;
    await tx.unsafe(`insert into shops select s, 'Test', 'pro', 'USD', now() from ${shopIds}`);
    for (const [table, values] of Object.entries(tables)) {
      await tx.unsafe(
        `insert into ${table} select ${values}
         from ${shopIds}, generate_series(1, ${onceEach.has(table) ? 1 : subscriptions}) n,
           lateral (select timestamptz '2026-01-01Z' + n * interval '3 hours' as time) t`,
      );
    }
  });
}

/**
 * Statements that may be planned differently:
 * - those that read a whole shop, by whichever index;
 * - deletions, updates and checks of foreign keys, whose form leaves the planner a choice. An import has them
 *   planned again while its tables grow, and `test/import/cost.test.ts` limits what they read.
 */
const anyPlan = [
  /^with (?:facts|seen) as/,
  /^with chosen as .*timeline as/,
  /^select \( exists \(select from plans/,
  /^select count\(\*\) (?:as rows|\|\| ' ')/,
  /^(?:delete|update) /,
  /^(?:DELETE|SELECT 1) FROM ONLY /,
];

/** Which index finds which rows of which table, in each statement. */
type Accesses = ReadonlyMap<string, string>;

describe('plans of statements', { skip, timeout: 600_000 }, () => {
  let server: PostgresServer;
  /** What requests do in an empty database. */
  let expected: Accesses;
  before(async () => {
    server = await requirePostgres([...logSettings, 'autovacuum=off'], { isNew: true });
    const url = await server.createDatabase('migrated');
    const store = openAsReader(url);
    await migrate(store.write);
    await createServingLogin(store, { user: 'reader', password: undefined });
    await store.write`alter role reader set auto_explain.log_min_duration = 0`;
    await store.close();
    expected = await accessesIn('empty', true, async () => {});
  });
  after(() => server.destroy());

  /** @param isByShop whether requests see the rows of one shop at a time */
  async function accessesIn(
    name: string,
    isByShop: boolean,
    prepare: (sql: Sql) => Promise<void>,
  ): Promise<Accesses> {
    const admin = connectAll(server.url);
    await admin.write.unsafe(`create database ${name} template migrated`);
    const url = server.url.replace(/postgres$/, name);
    const preparing = connectAll(url);
    await prepare(preparing.write);
    await preparing.close();
    const start = await logStart(admin.write);
    const watched = `${url}?auto_explain.log_min_duration=0`;
    const store = isByShop ? openAsReader(watched) : connectAll(watched);
    await useEverything(store);
    await store.close();
    const statements = await readStatements(admin.write, start);
    await admin.close();
    const accesses = new Map<string, Set<string>>();
    for (const { 'Query Text': text, Plan: plan } of statements) {
      const key = text.trim().replaceAll(/\s+/g, ' ');
      const found = accesses.get(key) ?? new Set();
      for (const access of accessesOf(plan)) found.add(access);
      accesses.set(key, found);
    }
    return new Map([...accesses].map(([key, found]) => [key, [...found].toSorted().join('\n')]));
  }

  test('are the same for any number of shops and any statistics', async () => {
    const differing: string[] = [];
    for (const [index, state] of states.entries()) {
      const found = await accessesIn(`state_${index}`, true, async (sql) => {
        if (state.statistics === 'old') await fill(sql, { shops: 1, subscriptions: 3 }, 1_000_000);
        await sql`analyze`;
        await fill(sql, state);
        if (state.statistics === 'fresh') await sql`analyze`;
      });
      for (const [text, accesses] of expected) {
        const other = found.get(text);
        if (other === undefined || other === accesses) continue;
        if (anyPlan.some((pattern) => pattern.test(text))) continue;
        differing.push(`${nameOf(state)}:\n${text}\n${other}\ninstead of\n${accesses}`);
      }
    }
    assert.deepEqual(differing, []);
  });

  test('are the same with views of one shop', async () => {
    const without = await accessesIn('together', false, async () => {});
    const differing = [...without].flatMap(([text, accesses]) => {
      const other = expected.get(text);
      const isSame = other === undefined || other === accesses;
      return isSame || anyPlan.some((pattern) => pattern.test(text))
        ? []
        : [`${text}\n${other}\ninstead of\n${accesses}`];
    });
    assert.deepEqual(differing, []);
  });

  // Otherwise the equality would make the order needless, and with it the index.
  test('find the rows of something by its own index, when another would find fewer', async () => {
    const store = connectAll(await server.createDatabase('each_row'));
    await migrate(store.write);
    await fill(store.write, one);
    await store.write`analyze`;
    const lines = each(store.write, 1, 'subscription_lines', 'product_id', 81);
    const [explained] = await store.write<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }[]>`
      explain (format json) select * from ${lines} line
      where line.product_id = 81 and line.subscription_id = 5`;
    await store.close();
    assert.deepEqual(accessesOf(explained?.['QUERY PLAN'][0]?.Plan as PlanNode), [
      "subscription_lines: subscription_lines_by_product ((shop_id = '1'::bigint) AND (product_id >= '81'::bigint) AND (product_id <= '81'::bigint))",
    ]);
  });
});

/** Tables so small and so rarely read that any way is right. */
const anyWay =
  /^(?:pg_|shops$|schema_migrations$|api_keys$|accounts$|links$|memberships$|attempts$)/;

function accessesOf(node: PlanNode): string[] {
  const { 'Relation Name': table, 'Index Name': index, 'Node Type': type } = node;
  const own =
    table === undefined || anyWay.test(table) || !type.endsWith('Scan')
      ? []
      : [`${table}: ${index ?? type} ${conditionOf(node)}`];
  return [...own, ...(node.Plans ?? []).flatMap(accessesOf)];
}

const conditionOf = (node: PlanNode) =>
  (node['Index Cond'] ?? '').replaceAll(/\w+\.(?=\w)/g, '').replaceAll(/\$\d+/g, '$');
