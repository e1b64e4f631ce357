import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as fc from 'fast-check';
import type { ImportCounts } from '../../src/ingest/import.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { runs } from '../support/seed.ts';
import { answerOver, transports } from '../support/transports.ts';
import { createShop, createTestKey, get, importAll, startTestService } from '../support/world.ts';
import { cancellationsOf, detailOf, entitlementsOf, plansOf, subscriptionsOf } from './answers.ts';
import { summaryOf } from './metrics.ts';
import type { Outcome, Status, WorldRecord } from './records.ts';
import { ModelShop } from './shop.ts';
import { situationsOf } from './situations.ts';
import { worldNow } from './times.ts';
import { type World, digitsOf, world } from './worlds.ts';

/** Few, to keep the suite quick; fewer for the embedded database, which is slower but runs the same SQL. */
const worlds = { embedded: runs(1), PostgreSQL: runs(6), Citus: runs(16) };

const statuses = [undefined, 'active', 'paused', 'cancelled', 'expired', 'failed'] as const;
const outcomes = [undefined, 'saved', 'cancelled', 'abandoned'] as const;
/** Besides each world's own: one row a page, and all on one. */
const pageSizes = [1, 100];

/** A clock that can be set to any time. */
const clock = { at: worldNow, now: () => clock.at, monotonic: () => 0 };

type Row = Record<string, unknown>;

/** A paged listing as the service must return it. */
interface Listing {
  readonly path: string;
  readonly rows: 'subscriptions' | 'cancellations';
  readonly id: 'subscriptionId' | 'sessionId';
  readonly expected: (model: ModelShop, now: number) => Row[];
}

const listings: readonly Listing[] = [
  ...statuses.map((status: Status | undefined): Listing => ({
    path: `/subscriptions?${status === undefined ? '' : `status=${status}&`}`,
    rows: 'subscriptions',
    id: 'subscriptionId',
    expected: (model, now) => subscriptionsOf(model, now, status),
  })),
  ...outcomes.map((outcome: Outcome | undefined): Listing => ({
    path: `/cancellations?${outcome === undefined ? '' : `outcome=${outcome}&`}`,
    rows: 'cancellations',
    id: 'sessionId',
    expected: (model) => cancellationsOf(model, outcome),
  })),
];

test('random worlds cover every situation that the rules mention', () => {
  const found = fc.sample(world, worlds.PostgreSQL).flatMap((each) => situationsOf(each));
  assert.deepEqual([...new Set(found)].toSorted(), [
    'a change dated as a payment',
    'a failure after a return that opens a case',
    'a failure after an end',
    'a line with its own interval',
    'a payment before its subscription',
    'a price of an older record',
    'a price with 12 decimals',
    'a trial that ends after the window',
    'a trial that ends before the window',
    'a trial that ends within the window',
    'an end in a trial',
    'cancelled since an unknown time',
    'dated in the future, and refused',
    'dated in the future, within the difference of clocks',
    'expired since an unknown time',
    'failed since an unknown time',
    'paused since an unknown time',
  ]);
});

onEveryDatabase('random worlds', (open, name) => {
  let store: Store;
  let service: Service;
  before(async () => {
    store = open();
    service = await startTestService(store, { clock });
  });
  after(async () => {
    await service.close();
    await store.close();
  });

  /** Every shop that was filled, so that all can be asked at once. */
  const filled: { readonly model: ModelShop; readonly key: string }[] = [];

  /** A shop in the service, and its model in memory. */
  async function createPair(currency: string) {
    const shop = await createShop(store, { currency });
    const { key } = await createTestKey(store, shop.id);
    const model = new ModelShop(currency, digitsOf(currency));
    const ask = async (path: string) => get(`${service.baseUrl}/api/external/v1${path}`, key);
    filled.push({ model, key });
    return {
      model,
      ask,
      async import(records: readonly WorldRecord[]) {
        const { counts, refused } = await importAll(store, shop, records);
        const lines = refused.map(({ line }) => line).toSorted((a, b) => a - b);
        const expected = model.import(records, worldNow);
        assert.deepEqual(lines, expected.refused);
        assert.deepEqual(determined(counts), determined(expected.counts));
      },
      async nextPage(listing: Listing, size: number, cursor: string | null) {
        const from = cursor === null ? '' : `&cursor=${cursor}`;
        const { status, body } = await ask(`${listing.path}limit=${size}${from}`);
        assert.equal(status, 200);
        const rows: Row[] = body[listing.rows];
        const next: string | null = body.nextCursor;
        assert.ok(next === null ? rows.length <= size : rows.length === size);
        return { rows, next };
      },
    };
  }
  /**
   * Omits counts that depend on the order within a batch: a record may already have been deleted with
   * its parent when its own deletion comes.
   */
  function determined({ delete: deletions, ...others }: ImportCounts) {
    if (!deletions) return others;
    const { deleted, unchanged, ...rest } = deletions;
    return { ...others, delete: { ...rest, settled: deleted + unchanged } };
  }
  type Pair = Awaited<ReturnType<typeof createPair>>;

  async function restOf(pair: Pair, listing: Listing, size: number, cursor: string | null) {
    const all: Row[] = [];
    let from = cursor;
    do {
      const { rows, next } = await pair.nextPage(listing, size, from);
      all.push(...rows);
      from = next;
    } while (from !== null);
    return all;
  }

  async function compareListings(pair: Pair, sizes: readonly number[]) {
    for (const listing of listings) {
      const expected = listing.expected(pair.model, clock.at);
      for (const size of sizes) {
        assert.deepEqual(await restOf(pair, listing, size, null), expected);
      }
    }
  }

  async function compareOthers({ model, ask }: Pair) {
    for (const customer of [1, 2, 3, 4, 5, 6]) {
      assert.deepEqual((await ask(`/entitlements?customerId=${customer}`)).body, {
        subscriptions: entitlementsOf(model, customer, clock.at),
      });
    }
    for (const id of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
      const subscription = detailOf(model, id, clock.at);
      assert.deepEqual(
        (await ask(`/subscriptions/${id}`)).body,
        subscription ? { subscription } : { success: false, message: 'Subscription not found.' },
      );
    }
    assert.deepEqual((await ask('/plans')).body, { plans: plansOf(model) });
  }

  async function compareFigures({ model, ask }: Pair, instants: readonly number[]) {
    for (const instant of instants) {
      clock.at = instant;
      const { body } = await ask('/metrics/summary');
      assert.deepEqual(body, { summary: summaryOf(model, instant) });
    }
    clock.at = worldNow;
  }

  /** Rows that exist when paging starts are seen once and in order, whatever is stored meanwhile. */
  async function turnPagesMeanwhile(pair: Pair, { meanwhile, pageSize }: World) {
    const begun: { listing: Listing; there: unknown[]; seen: Row[]; next: string | null }[] = [];
    for (const listing of listings) {
      const there = listing.expected(pair.model, clock.at).map((row) => row[listing.id]);
      const { rows, next } = await pair.nextPage(listing, pageSize, null);
      begun.push({ listing, there, seen: rows, next });
    }
    await pair.import(meanwhile);
    for (const { listing, there, seen, next } of begun) {
      const rest = next === null ? [] : await restOf(pair, listing, pageSize, next);
      const ids = [...seen, ...rest].map((row) => row[listing.id]);
      assert.equal(new Set(ids).size, ids.length);
      assert.deepEqual(
        ids.filter((id) => there.includes(id)),
        there,
      );
    }
  }

  // Requirements: rest.service.shop-scoped.
  test('match the model in imports and every operation', async () => {
    const property = fc.asyncProperty(world, async (each) => {
      clock.at = worldNow;
      const pair = await createPair(each.currency);
      const other = await createPair(each.currency);
      for (const index of [0, 1, 2, 3]) {
        for (const [which, one] of [pair, other].entries()) {
          const run = each.shops[which]?.[index];
          if (!run) continue;
          await one.import(run);
          await compareFigures(one, [worldNow, ...each.instants]);
        }
      }
      await compareOthers(pair);
      await compareOthers(other);
      await compareListings(pair, [...pageSizes, each.pageSize]);
      await turnPagesMeanwhile(pair, each);
      await compareListings(pair, [each.pageSize]);
      // Changes in one shop do not affect the other.
      await compareListings(other, [100]);
      await compareFigures(other, [worldNow]);
    });
    // Shrinking a failing world may take long. A time limit would also end the other runs silently on a
    // busy machine.
    const endOnFailure = process.env['TEST_SHRINK'] === undefined;
    await fc.assert(property, { ...worlds[name], endOnFailure });
  });

  /** Every operation with some inputs, and its payload or refusal. */
  const expectations = (model: ModelShop): [tool: string, input: object, expected: object][] => [
    ...[1, 2, 3, 4, 5, 6].map((customerId): [string, object, object] => [
      'get_entitlements',
      { customerId },
      { subscriptions: entitlementsOf(model, customerId, worldNow) },
    ]),
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((subscriptionId): [string, object, object] => {
      const subscription = detailOf(model, subscriptionId, worldNow);
      const refusal = { success: false, message: 'Subscription not found.' };
      return ['get_subscription', { subscriptionId }, subscription ? { subscription } : refusal];
    }),
    ['list_plans', {}, { plans: plansOf(model) }],
    [
      'list_subscriptions',
      { limit: 100 },
      { subscriptions: subscriptionsOf(model, worldNow), nextCursor: null },
    ],
    [
      'list_cancellations',
      { limit: 100, outcome: 'saved' },
      { cancellations: cancellationsOf(model, 'saved'), nextCursor: null },
    ],
    ['get_metrics_summary', {}, { summary: summaryOf(model, worldNow) }],
  ];

  test('match the model when all shops are asked at once, over REST and MCP', async () => {
    clock.at = worldNow;
    assert.ok(filled.length >= 2);
    const requests = filled.flatMap(({ model, key }) =>
      expectations(model).flatMap((each) =>
        transports.map((transport) => ({ transport, key, each })),
      ),
    );
    const all = fc.shuffledSubarray(requests, { minLength: requests.length });
    const property = fc.asyncProperty(all, async (shuffled) => {
      await Promise.all(
        shuffled.map(async ({ transport, key, each: [tool, input, expected] }) => {
          const caller = { baseUrl: service.baseUrl, key };
          assert.deepEqual(await answerOver(transport, caller, tool, { ...input }), expected);
        }),
      );
    });
    await fc.assert(property, { ...runs(2), endOnFailure: true });
  });
});
