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
  listSubscriptions,
  listSubscriptionsOfCustomer,
} from '../../src/store/records/subscriptions.ts';
import { type Sent, openClient, watched } from '../support/client.ts';
import { createShop } from '../support/world.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly Filter?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

const shops = 12;
const rowsPerShop = 3000;
const plansPerShop = 300;
/** Each status, and each outcome, has hundreds of rows of a shop. */
const statusOf = `('{active,paused,cancelled,expired,failed}'::text[])[n % 5 + 1]`;
const outcomeOf = `('{saved,cancelled,abandoned,null}'::text[])[n % 4 + 1]`;
/** Some rows share their time, as imported ones do. */
const timeOf = `timestamptz '2025-01-01Z' + n / 2 * interval '1 hour'`;
const deep = { createdAt: Date.parse('2025-01-20T00:00:00Z'), id: 900 };

type Query = (sql: Sql, shopId: number) => Promise<unknown>;

/** What answers all there is of something: as many rows as are shown may be sorted. */
const whole: Readonly<Record<string, Query>> = {
  entitlements: (sql, shopId) => new Entitlements(sql).of(shopId, 700),
  'one subscription': (sql, shopId) => findSubscription(sql, shopId, 1500),
  plans: (sql, shopId) => listPlans(sql, shopId),
  intervals: (sql, shopId) => listIntervals(sql, shopId, [700, 1500]),
  'subscriptions of sessions': (sql, shopId) => listSubscriptionsOfSessions(sql, shopId, [7, 1500]),
};

/** What answers a page: with and without filter, at the beginning and deep inside. */
const paged: Record<string, Query> = {};
for (const [place, position] of [
  ['first', undefined],
  ['deep', deep],
] as const) {
  for (const status of [undefined, 'active', 'failed'] as const) {
    paged[`subscriptions, ${status ?? 'any'}, ${place} page`] = (sql, shopId) =>
      listSubscriptions(sql, shopId, { status, after: position, limit: 51 });
  }
  for (const outcome of [undefined, 'saved', 'abandoned'] as const) {
    paged[`sessions, ${outcome ?? 'any'}, ${place} page`] = (sql, shopId) =>
      listCancellations(sql, shopId, { outcome, after: position, limit: 51 });
  }
}

/** What belongs to one subscription or customer, and the indexes that find it. */
const ofOne: Readonly<Record<string, { query: Query; indexes: readonly string[] }>> = {
  'subscriptions of a customer': {
    query: (sql, shopId) =>
      listSubscriptionsOfCustomer(sql, shopId, 700, { status: 'active', after: deep, limit: 51 }),
    indexes: ['plans_pkey', 'subscriptions_by_customer'],
  },
  'the course of a subscription': {
    query: (sql, shopId) => findTimeline(sql, shopId, 700, deep.createdAt),
    indexes: [
      'cancellation_sessions_by_subscription',
      'dunning_cases_pkey',
      'payments_by_subscription',
      'refunds_by_payment',
      'status_events_pkey',
      'subscriptions_pkey',
    ],
  },
};

/** What each table has of a shop, for every n. */
const tables = {
  plans: `$1::bigint, n, 'Box', '', 'subscription', 'month', 1, true, 0, 'none', 0, '', null,
    gen_random_uuid()`,
  customers: '$1::bigint, n',
  subscriptions: `$1::bigint, n, n / 2 + 1, n % 300 + 1, ${statusOf}, ${timeOf}, 10, null, null,
    null, null, ${timeOf}, null, gen_random_uuid()`,
  subscription_lines: "$1::bigint, n, 1, 0, 81, 'Blend', 91, '', 1, 10",
  cancellation_sessions: `$1::bigint, n, n, 'other', null, ${outcomeOf}, ${timeOf}, null,
    gen_random_uuid()`,
  payments: `$1::bigint, n, n, '1', 'succeeded', null, 10, ${timeOf}, null, gen_random_uuid()`,
  refunds: `$1::bigint, n, n, 10, ${timeOf}, null, gen_random_uuid()`,
};

/** In short statements, during each of which the embedded database answers nobody else. */
async function fill(sql: Sql, shopIds: readonly number[]): Promise<void> {
  for (const shopId of shopIds) {
    await sql.begin(async (tx) => {
      // Nothing that triggers keep is read here, and they would take longer than all else.
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
  const skip = target === undefined && `${name} could not be had on this machine`;
  describe(`how listings are read (${name})`, { skip }, () => {
    let store: Omit<Store, 'failed'>;
    let sql: Sql;
    let shopId: number;
    const sent: Sent[] = [];

    before(async () => {
      store = connectAll(target ?? '');
      const ids: number[] = [];
      while (ids.length < shops) ids.push((await createShop(store as Store)).id);
      shopId = ids[5] ?? 0;
      await fill(store.write, ids);
      sql = watched(openClient(target ?? ''), (statement) => void sent.push(statement));
    });
    after(async () => {
      await sql.end();
      await store.close();
    });

    /** How the server would run what a query function sends, in the steps of its plan. */
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

    /** The server takes a plan that suits any parameters once a statement was used some times. */
    const modes = ['custom', 'generic'] as const;

    for (const [title, query] of Object.entries(paged)) {
      test(`${title}: nothing is sorted, and nothing read in vain`, async () => {
        for (const mode of modes) {
          const steps = await explain(query, mode);
          assert.deepEqual(steps.filter(isSort), [], mode);
          assert.deepEqual(steps.filter(isInVain), [], mode);
        }
      });
    }
    for (const [title, query] of Object.entries(whole)) {
      test(`${title}: nothing is read in vain`, async () => {
        for (const mode of modes) {
          assert.deepEqual((await explain(query, mode)).filter(isInVain), [], mode);
        }
      });
    }

    for (const [title, { query, indexes }] of Object.entries(ofOne)) {
      test(`${title}: only what is of it is read, by its index`, async () => {
        // As on the connection of look-ups, which is to make no plan worse.
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

const isSort = (step: PlanNode) => step['Node Type'].endsWith('Sort');
/** Rows of others are read, or rows are read and then left out. */
const isInVain = (step: PlanNode) => step['Node Type'] === 'Seq Scan' || step.Filter !== undefined;

function stepsOf(node: PlanNode | undefined): PlanNode[] {
  return node ? [node, ...(node.Plans ?? []).flatMap(stepsOf)] : [];
}
