import { type Sql, connect } from '../src/store/database.ts';
import { listChurnDays, listChurnGroups, listChurned } from '../src/metrics/churn.ts';
import { countSessions } from '../src/metrics/cancel-flow.ts';
import { listCohorts } from '../src/metrics/cohorts.ts';
import { cohortsFromRecords } from '../src/metrics/segments/periods.ts';
import { explain } from '../src/metrics/explain/explain.ts';
import { dimensionsOf, explainedFigures } from '../src/metrics/explain/question.ts';
import { listDays } from '../src/metrics/history.ts';
import { summariseMovements } from '../src/metrics/movements.ts';
import { summariseMetrics } from '../src/metrics/summary.ts';
import { readFlow } from '../src/owner/cancel-flow/page.ts';
import { readChurn } from '../src/owner/churn/page.ts';
import { readDashboard } from '../src/owner/dashboard/dashboard.ts';
import { viewOf } from '../src/owner/view/view.ts';
import { migrate } from '../src/store/migrate.ts';
import { type Store, connectAll } from '../src/store/open.ts';
import { type Shop, findShop } from '../src/store/shops.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { cpuMicroseconds } from './cpu.ts';
import { captureStatement } from './statements.ts';
import { median } from './statistics.ts';

/** Subscriptions of each shop, with five payments per subscription. */
const sizes = (process.env['BENCH_SIZES'] ?? '1000,100000,1000000').split(',').map(Number);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 60);
/** Fewer: the cohorts of one plan are computed from its records. */
const pastRounds = Math.min(rounds, 10);
const now = Date.parse('2026-11-20T12:34:56.789Z');

const seconds = (from: number, until: number) => ((until - from) / 1000).toFixed(1);
const print = (line: string) => process.stdout.write(`${line}\n`);

interface Plan {
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
}

async function main(): Promise<void> {
  const server = await startPostgres([
    'fsync=off',
    'shared_buffers=512MB',
    'max_wal_size=8GB',
    'work_mem=64MB',
    'maintenance_work_mem=256MB',
  ]);
  if (!server) throw new Error('PostgreSQL is not installed.');
  const write = connect(server.url, {
    name: 'bench',
    connections: 1,
    statementTimeoutMilliseconds: 0,
  });
  try {
    await migrate(write);
    for (const [index, subscriptions] of sizes.entries())
      await load(write, index + 1, subscriptions);
    await write.unsafe('vacuum analyze');
    const statements = await Promise.all(
      sizes.map((_, index) =>
        captureStatement(server.url, ({ analyse }) => summariseMetrics(analyse, index + 1, now)),
      ),
    );
    const analyse = connect(server.url, {
      name: 'analyse',
      connections: 1,
      readOnly: true,
      statementTimeoutMilliseconds: 0,
    });
    for (const [index, statement] of statements.entries()) {
      await analyse.unsafe(`prepare summary_${index + 1} as ${statement.text}`);
    }
    const calls = statements.map(
      ({ parameters }, index) =>
        `execute summary_${index + 1} (${parameters.map((each) => `'${each}'`).join(', ')})`,
    );
    const times: number[][] = sizes.map(() => []);
    // Alternately, so that other load on the machine affects all alike; the first rounds warm up.
    for (let round = -5; round < rounds; round += 1) {
      for (const [index, call] of calls.entries()) {
        const begin = performance.now();
        await analyse.unsafe(call);
        if (round >= 0) times[index]?.push(performance.now() - begin);
      }
    }
    print('');
    print(
      'subscriptions   payments     summary, ms (median, min)   ratio to first   blocks   CPU µs',
    );
    for (const [index, size] of sizes.entries()) {
      const own = times[index] as number[];
      const [row] = await analyse.unsafe(`explain (analyze, buffers, format json) ${calls[index]}`);
      const [plan] = (row as unknown as { 'QUERY PLAN': [Plan] })['QUERY PLAN'];
      print(
        [
          String(size).padStart(13),
          String(size * 5).padStart(11),
          `${median(own).toFixed(3)}, ${Math.min(...own).toFixed(3)}`.padStart(30),
          median(own.map((each, at) => each / (times[0]?.[at] ?? 1)))
            .toFixed(2)
            .padStart(17),
          String(plan.Plan['Shared Hit Blocks'] + plan.Plan['Shared Read Blocks']).padStart(9),
          (await cpuOfSummary(analyse, index + 1, server.pid)).toFixed(0).padStart(9),
        ].join(''),
      );
    }
    const store = connectAll(server.url);
    await measurePast(analyse, store, server.pid);
    await store.close();
    await analyse.end();
  } finally {
    await write.end();
    await server.destroy();
  }
}

/** The database's processor time for a summary as the service asks for it, in microseconds. */
async function cpuOfSummary(sql: Sql, shopId: number, pid: number): Promise<number> {
  const summaries = 10 * rounds;
  const before = cpuMicroseconds(pid);
  for (let sent = 0; sent < summaries; sent += 1) await summariseMetrics(sql, shopId, now);
  return (cpuMicroseconds(pid) - before) / summaries;
}

/** What pages and figures of the past take, sent and answered, and of it the database's processors, by size of the shop. */
async function measurePast(sql: Sql, store: Store, pid: number): Promise<void> {
  const month = 30 * 86_400_000;
  const window = { from: now - month, until: now, now };
  const before = { from: now - 2 * month, until: now - month };
  const last = { ...window, from: now - 36 * month };
  const page = { after: undefined, limit: 50 };
  const viewOfDays = (days: number) => viewOf(new URLSearchParams(`days=${days}`), now);
  const overview = (days: number) => (shop: Shop) => readDashboard(store, shop, viewOfDays(days));
  const readings: Readonly<Record<string, (shop: Shop) => Promise<unknown>>> = {
    'overview of 30 days': overview(30),
    'overview of 365 days': overview(365),
    'churn of 365 days': (shop) => readChurn(store, shop, viewOfDays(365)),
    'cancel flow of 365 days': (shop) => readFlow(store, shop, viewOfDays(365)),
    'cancel-flow sessions of 365 days': ({ id }) =>
      countSessions(sql, id, { from: now - 365 * 86_400_000, until: now }),
    'cohorts of 36 months': (shop) => listCohorts(sql, shop, { months: 36, now }),
    'cohorts of 36 months, one plan of eight': (shop) =>
      cohortsFromRecords(sql, shop.id, { months: 36, now }, { segment: { plan: 1 }, now }),
    'movements of 30 days': ({ id }) => summariseMovements(sql, id, window),
    'movements of 36 months': ({ id }) => summariseMovements(sql, id, last),
    'figures of the 30 days before': ({ id }) => summariseMetrics(sql, id, now, before),
    'figures of 30 days two years ago': ({ id }) =>
      summariseMetrics(sql, id, now, { from: now - 25 * month, until: now - 24 * month }),
    'figures of 12 months': ({ id }) =>
      summariseMetrics(sql, id, now, { from: now - 12 * month, until: now }),
    'history of 12 months': ({ id }) => listDays(sql, id, { from: now - 12 * month, until: now }),
    'churn by day, 36 months': ({ id }) => listChurnDays(sql, id, last),
    'churn by plan, cause and age, 30 days': ({ id }) => listChurnGroups(sql, id, window),
    'last 50 that left': ({ id }) => listChurned(sql, id, last, page),
    ...Object.fromEntries(
      explainedFigures.flatMap((figure) =>
        dimensionsOf(figure).map((by) => [
          `what explains ${figure} by ${by}, 2 × 30 days`,
          ({ id }: Shop) => explain(sql, id, { figure, by, before, now: window }, now),
        ]),
      ),
    ),
  };
  print('');
  print(
    `${'ms (median, min; CPU of the database)'.padEnd(48)}${sizes.map((size) => String(size).padStart(24)).join('')}`,
  );
  for (const [name, read] of Object.entries(readings)) {
    const cells: string[] = [];
    for (const [index] of sizes.entries()) {
      const shop = await findShop(store.write, index + 1);
      if (!shop) throw new Error(`There is no shop ${index + 1}.`);
      const times: number[] = [];
      let used = 0;
      for (let round = -1; round < pastRounds; round += 1) {
        if (round === 0) used = cpuMicroseconds(pid);
        const begin = performance.now();
        await read(shop);
        if (round >= 0) times.push(performance.now() - begin);
      }
      const cpu = (cpuMicroseconds(pid) - used) / pastRounds / 1000;
      const [usual, least] = [median(times), Math.min(...times)];
      cells.push(`${usual.toFixed(1)}, ${least.toFixed(1)}; ${cpu.toFixed(0)}`.padStart(24));
    }
    print(`${name.padEnd(48)}${cells.join('')}`);
  }
}

/** Writes three years of one shop in bulk without the triggers, then fills its aggregates. */
async function load(sql: Sql, shopId: number, subscriptions: number): Promise<void> {
  const begin = performance.now();
  const at = new Date(now).toISOString();
  const tables = ['subscriptions', 'status_events', 'payments', 'cancellation_sessions'];
  for (const table of tables) await sql.unsafe(`alter table ${table} disable trigger user`);
  await sql.script(`
    insert into shops values (${shopId}, 'Bench', 'enterprise_plus', 'USD', now());
    insert into plans select ${shopId}, n, 'Plan', '', 'subscription',
      (array['week', 'month', 'month', 'year'])[1 + n % 4], 1 + n % 2, true, 1, 'none', 0, '', null,
      gen_random_uuid() from generate_series(1, 8) n;
    insert into customers select ${shopId}, n from generate_series(1, ${subscriptions}) n;
    insert into subscriptions
    select ${shopId}, n, case when n % 5 = 0 then n - 1 else n end, 1 + n % 8, status,
      case when status = 'active' then created_at
        else created_at + ('${at}' - created_at) * random() end,
      (10 + n % 90)::numeric + 0.99, null, null, '${at}'::timestamptz + random() * interval '30 days',
      null, created_at, created_at, gen_random_uuid()
    from (
      select n, '${at}'::timestamptz - random() * interval '1095 days' as created_at,
        (array['active', 'active', 'active', 'active', 'active', 'active', 'paused', 'cancelled',
          'cancelled', 'failed', 'expired'])[1 + floor(random() * 11)] as status
      from generate_series(1, ${subscriptions}) n
    ) s;
    update subscriptions set past_values = jsonb_build_array(
      jsonb_build_array(extract(epoch from created_at)::bigint * 1000, jsonb_build_object('', current_price - 2)),
      jsonb_build_array(extract(epoch from created_at + ('${at}' - created_at) * random())::bigint * 1000,
        jsonb_build_object('', current_price)))
    where shop_id = ${shopId} and subscription_id % 5 = 0;
    insert into status_events select shop_id, subscription_id, 0, status_since, 'active', status
    from subscriptions where shop_id = ${shopId} and status <> 'active';
    insert into payments
    select ${shopId}, n, 1 + n % ${subscriptions}, (n / ${subscriptions})::text,
      case when f < 0.93 then 'succeeded' else 'failed' end, case when f >= 0.93 then 'payment' end,
      (10 + n % 90)::numeric + 0.99, '${at}'::timestamptz - random() * interval '1095 days', null,
      gen_random_uuid()
    from (select n, random() as f from generate_series(1, ${subscriptions * 5}) n) p;
    insert into cancellation_sessions
    select ${shopId}, n, null, (array['too_expensive', 'not_using', 'other', 'unknown'])[1 + n % 5 % 4], null,
      (array['saved', 'cancelled', 'abandoned', null])[1 + n % 7 % 4],
      '${at}'::timestamptz - random() * interval '1095 days', null, gen_random_uuid()
    from generate_series(1, ${Math.ceil(subscriptions * 0.75)}) n`);
  for (const table of tables) await sql.unsafe(`alter table ${table} enable trigger user`);
  await sql.unsafe('analyze');
  const loaded = performance.now();
  await sql`select rebuild_metrics(${shopId})`;
  print(
    `Shop of ${subscriptions}: records written in ${seconds(begin, loaded)} s, aggregates filled in ${seconds(loaded, performance.now())} s.`,
  );
}

await main();
