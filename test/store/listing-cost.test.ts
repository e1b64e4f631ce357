import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  listCancellations,
  listSubscriptionsOfSessions,
} from '../../src/store/records/cancellations.ts';
import type { Sql } from '../../src/store/database.ts';
import { Entitlements } from '../../src/store/records/entitlements.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { listPlans } from '../../src/store/records/plans.ts';
import { findTimeline } from '../../src/store/records/subscription-timeline.ts';
import {
  findSubscription,
  listIntervals,
  listStatusesAt,
  listSubscriptions,
  listSubscriptionsOfCustomer,
  listSubscriptionsShown,
} from '../../src/store/records/subscriptions.ts';
import { type Sent, openClient, watched } from '../support/client.ts';
import { createShop } from '../support/world.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly Filter?: string;
  readonly 'Index Name'?: string;
  readonly 'Sort Key'?: readonly string[];
  readonly Plans?: readonly PlanNode[];
}

const shops = 12;
const rowsPerShop = 3000;
const plansPerShop = 300;
/** Hundreds of a shop's rows have each status and each outcome. */
const statusOf = `('{active,paused,cancelled,expired,failed}'::text[])[n % 5 + 1]`;
const outcomeOf = `('{saved,cancelled,abandoned,null}'::text[])[n % 4 + 1]`;
/** Some rows have the same time, as imported ones do. */
const timeOf = `timestamptz '2025-01-01Z' + n / 2 * interval '1 hour'`;
const deep = { createdAt: Date.parse('2025-01-20T00:00:00Z'), id: 900 };

const inDollars = (id: number) => ({ id, currency: 'USD' });

type Query = (sql: Sql, shopId: number) => Promise<unknown>;

/** Queries that return everything there is; they may sort as many rows as they return. */
const fullQueries: Readonly<Record<string, Query>> = {
  entitlements: (sql, shopId) => new Entitlements(sql).of(shopId, 700, Date.now()),
  'one subscription': (sql, shopId) => findSubscription(sql, inDollars(shopId), 1500, Date.now()),
  'statuses before a change': (sql, shopId) => listStatusesAt(sql, shopId, [700, 1500], 0),
  plans: (sql, shopId) => listPlans(sql, shopId),
  intervals: (sql, shopId) => listIntervals(sql, shopId, [700, 1500]),
  'subscriptions of sessions': (sql, shopId) => listSubscriptionsOfSessions(sql, shopId, [7, 1500]),
};

/** Queries that return a page: with and without filter, first page and deep page. */
const paged: Record<string, Query> = {};
for (const [place, position] of [
  ['first', undefined],
  ['deep', deep],
] as const) {
  for (const status of [undefined, 'active', 'failed'] as const) {
    for (const order of ['newest', 'oldest'] as const) {
      paged[`subscriptions, ${order}, ${status ?? 'any'}, ${place} page`] = (sql, shopId) =>
        listSubscriptions(sql, inDollars(shopId), Date.now(), {
          status,
          order,
          after: position,
          limit: 51,
        });
    }
    for (const order of ['highest', 'lowest'] as const) {
      const page = { status, order, after: position && { ...position, value: '10' }, limit: 51 };
      paged[`subscriptions, ${order}, ${status ?? 'any'}, ${place} page`] = (sql, shopId) =>
        listSubscriptionsShown(sql, inDollars(shopId), page);
    }
  }
  for (const outcome of [undefined, 'saved', 'abandoned'] as const) {
    paged[`sessions, ${outcome ?? 'any'}, ${place} page`] = (sql, shopId) =>
      listCancellations(sql, shopId, { outcome, after: position, limit: 51 });
  }
}

/** Queries for one subscription or customer, and the indexes that they must use. */
const ofOne: Readonly<Record<string, { query: Query; indexes: readonly string[] }>> = {
  'subscriptions of a customer': {
    query: (sql, shopId) =>
      listSubscriptionsOfCustomer(sql, inDollars(shopId), 700, {
        status: 'active',
        after: deep,
        limit: 51,
      }),
    indexes: ['plans_pkey', 'subscriptions_by_customer'],
  },
  'the timeline of a subscription': {
    query: (sql, shopId) => findTimeline(sql, shopId, 700, deep.createdAt),
    indexes: [
      'cancellation_sessions_by_subscription',
      'dunning_cases_pkey',
      'payments_by_subscription',
      'refunds_by_payment',
      'status_events_pkey',
      'subscription_lines_pkey',
      'subscriptions_pkey',
    ],
  },
};

/** Rows of a shop in each table, for every n. */
const tables = {
  plans: `$1::bigint, n, 'Box', '', 'subscription', 'month', 1, true, 0, 'none', 0, '', null,
    gen_random_uuid()`,
  customers: '$1::bigint, n',
  subscriptions: `$1::bigint, n, n / 2 + 1, n % 300 + 1, ${statusOf}, ${timeOf}, 10, null, null,
    null, null, ${timeOf}, null, gen_random_uuid()`,
  subscription_values: `$1::bigint, n, ${statusOf}, n % 20`,
  subscription_lines: "$1::bigint, n, 1, 0, 81, 'Blend', 91, '', 1, 10",
  cancellation_sessions: `$1::bigint, n, n, 'other', null, ${outcomeOf}, ${timeOf}, null,
    gen_random_uuid()`,
  status_events: `$1::bigint, (n + 1) / 2, n % 2, ${timeOf}, 'active', 'paused'`,
  payments: `$1::bigint, n, n, '1', 'succeeded', null, 10, ${timeOf}, null, gen_random_uuid()`,
  refunds: `$1::bigint, n, n, 10, ${timeOf}, null, gen_random_uuid()`,
};

/** In short statements, since each one blocks all other clients of the embedded database. */
async function fill(sql: Sql, shopIds: readonly number[]): Promise<void> {
  for (const shopId of shopIds) {
    await sql.begin(async (tx) => {
      // Skip the triggers: nothing that they maintain is read here, and they would take longest.
      await tx`set local session_replication_role = replica`;
      for (const [table, values] of Object.entries(tables)) {
        const rows = table === 'plans' ? plansPerShop : rowsPerShop;
        await tx.unsafe(
          `insert into ${table} select ${values} from generate_series(1, ${rows}) n`,
          [shopId],
        );
      }
    });
  }
  for (const table of Object.keys(tables)) await sql.unsafe(`analyze ${table}`);
}

for (const [name, target] of [
  ['embedded', process.env['TEST_EMBEDDED']],
  ['PostgreSQL', process.env['TEST_POSTGRES']],
] as const) {
  const skip = target === undefined && `${name} is not available on this machine`;
  describe(`how listings are read (${name})`, { skip }, () => {
    let store: Store;
    let sql: Sql;
    let shopId: number;
    const sent: Sent[] = [];

    before(async () => {
      store = connectAll(target ?? '');
      const ids: number[] = [];
      while (ids.length < shops) ids.push((await createShop(store)).id);
      shopId = ids[5] ?? 0;
      await fill(store.write, ids);
      sql = watched(openClient(target ?? ''), (statement) => void sent.push(statement));
    });
    after(async () => {
      await sql.end();
      await store.close();
    });

    /** The server's plan for the query of a function, as a list of steps. */
    async function explain(
      query: Query,
      mode: 'custom' | 'generic',
      off: readonly string[] = [],
    ): Promise<PlanNode[]> {
      sent.length = 0;
      await query(sql, shopId);
      assert.ok(sent.length > 0);
      const steps: PlanNode[] = [];
      for (const { text, parameters } of sent) {
        const values = parameters.map((each) => `'${String(each)}'`).join(', ');
        const [row] = await store.write.begin(async (tx) => {
          await tx.unsafe(`set local plan_cache_mode = force_${mode}_plan`);
          for (const setting of off) await tx.unsafe(`set local ${setting} = off`);
          await tx.unsafe(`prepare listing as ${text}`);
          const explained = await tx.unsafe<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
            `explain (format json) execute listing(${values})`,
          );
          await tx.unsafe('deallocate listing');
          return explained;
        });
        steps.push(...stepsOf(row?.['QUERY PLAN'][0]?.Plan));
      }
      return steps;
    }

    /** After a statement was used several times, the server switches to a plan for any parameters. */
    const modes = ['custom', 'generic'] as const;

    for (const [title, query] of Object.entries(paged)) {
      test(`${title}: sorts nothing and reads no unneeded rows`, async () => {
        for (const mode of modes) {
          const steps = await explain(query, mode);
          assert.deepEqual(steps.filter(isSort), [], mode);
          assert.deepEqual(steps.filter(isWasteful), [], mode);
        }
      });
    }
    for (const [title, query] of Object.entries(fullQueries)) {
      test(`${title}: reads no unneeded rows`, async () => {
        for (const mode of modes) {
          assert.deepEqual((await explain(query, mode)).filter(isWasteful), [], mode);
        }
      });
    }

    for (const [title, { query, indexes }] of Object.entries(ofOne)) {
      test(`${title}: reads only its own rows, by index`, async () => {
        // With the settings of the look-up connections, which must not make any plan worse.
        const off = ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'];
        for (const mode of modes) {
          const steps = await explain(query, mode, off);
          const used = steps.flatMap((step) => step['Index Name'] ?? []);
          assert.deepEqual(used.toSorted(), indexes, mode);
          const scans = steps.filter((step) => step['Node Type'] === 'Seq Scan');
          assert.deepEqual(scans, [], mode);
        }
      });
    }
  });
}

/** The few statuses of one subscription may be sorted. */
const isSort = (step: PlanNode) =>
  step['Node Type'].endsWith('Sort') && step['Sort Key']?.join() !== 'e."position" DESC';
/** The step reads other rows as well, or reads rows and filters them out. */
const isWasteful = (step: PlanNode) =>
  step['Node Type'] === 'Seq Scan' || !(step.Filter === undefined || listsShops.test(step.Filter));
/** The list of shops that a cluster needs has every shop that is looked up, so nothing is filtered out by it. */
const listsShops = /^\(\$\d+ OR \(shop_id = ANY \(\$\d+\)\)\)$/;

function stepsOf(node: PlanNode | undefined): PlanNode[] {
  return node ? [node, ...(node.Plans ?? []).flatMap(stepsOf)] : [];
}
