import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rebuildMetrics } from '../../src/metrics/verify/sums.ts';
import {
  summariseKept,
  keptFromRecords,
  countSessions,
  listSessionDays,
} from '../../src/metrics/cancel-flow.ts';
import type { Window } from '../../src/metrics/churn.ts';
import { movements } from '../../src/metrics/facts.ts';
import { type MovementValues, listMovementDays, movementsOf } from '../../src/metrics/movements.ts';
import { movementsFromRecords } from '../../src/metrics/segments/periods.ts';
import { projectionFromRecords } from '../../src/metrics/verify/figures.ts';
import { type RenewalWeek, projectRenewals } from '../../src/metrics/renewals.ts';
import { listRevenueDays } from '../../src/metrics/payments.ts';
import { listCounted } from '../../src/metrics/segments/lists.ts';
import { summariseMetrics } from '../../src/metrics/summary.ts';
import { type Ratio, add, parseDecimal, subtract } from '../../src/money.ts';
import type { Store } from '../../src/store/open.ts';
import type { Position } from '../../src/store/records/listing.ts';
import { onOneDatabase } from '../support/databases.ts';
import { readHeld } from './past-model.ts';
import { eachInstant, windowOf } from './worlds.ts';

const day = 24 * 3_600_000;
const iso = (at: number) => new Date(at).toISOString();
const isSame = (one: Ratio, other: Ratio) => subtract(one, other).numerator === 0n;
const zero: Ratio = { numerator: 0n, denominator: 1n };
const names = ['opening', ...movements, 'closing'] as const;

function assertSame(found: MovementValues, expected: MovementValues, where: string) {
  const differing = names.filter((name) => !isSame(found[name], expected[name]));
  assert.deepEqual(differing, [], where);
}

onOneDatabase('revenue, renewals and the cancel flow', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('the movements of any days of a period are those of the records, and come to the whole', async () => {
    let moved = 0;
    await eachInstant(store, 200, async (shopId, random, now, where) => {
      const { from, until } = windowOf(random, now);
      const days = await listMovementDays(store.primary.analyse, shopId, { from, until });
      const first = Math.floor(from / day) * day;
      assert.deepEqual(
        days.map((each) => Date.parse(each.day)),
        days.map((_, index) => first + index * day),
      );
      const plain = await movementsFromRecords(store.write, shopId, { from, until });
      assertSame(movementsOf(days), plain, where);
      const [start, end] = [random.integer(days.length), 1 + random.integer(days.length)];
      const span = days.slice(Math.min(start, end - 1), Math.max(start + 1, end));
      const [since, to] = [
        Math.max(from, Date.parse(span[0]?.day ?? '')),
        Math.min(until, Date.parse(span.at(-1)?.day ?? '') + day),
      ];
      const where2 = `${where}, ${iso(since)} to ${iso(to)} of ${iso(from)} to ${iso(until)}`;
      const found = movementsOf(span);
      assertSame(
        found,
        await movementsFromRecords(store.write, shopId, { from: since, until: to }),
        where2,
      );
      const comes = new Set(['new', 'added', 'resumed', 'reactivated', 'expansion']);
      const sign = (name: string) => (comes.has(name) ? add : subtract);
      const closing = movements.reduce((sum, name) => sign(name)(sum, found[name]), found.opening);
      assert.ok(isSame(closing, found.closing), where2);
      moved += movements.filter((name) => found[name].numerator > 0n).length;
    });
    assert.ok(moved > 30, String(moved));
  });

  test('the revenue of a period’s days is what was paid on them, less what was refunded', async () => {
    await eachInstant(store, 300, async (shopId, random, now, where) => {
      const { from, until } = windowOf(random, now);
      const expected = new Map<string, Ratio>();
      const rows = await store.write<{ at: Date; amount: string }[]>`
        select processed_at as at, amount from payments
        where shop_id = ${shopId} and status = 'succeeded'
        union all select refunded_at, -amount from refunds where shop_id = ${shopId}`;
      for (const { at, amount } of rows) {
        if (at.getTime() < from || at.getTime() >= until) continue;
        const on = iso(at.getTime()).slice(0, 10);
        expected.set(on, add(expected.get(on) ?? zero, parseDecimal(amount)));
      }
      const found = await listRevenueDays(store.primary.analyse, shopId, { from, until });
      assert.deepEqual(
        found.map((each) => each.day),
        [...expected.keys()].toSorted(),
        where,
      );
      for (const { day: on, revenue } of found) {
        assert.ok(isSame(revenue, expected.get(on) ?? zero), `${where}, ${on}`);
      }
    });
  });

  test('renewals are projected from the next billing dates, the first week as in the summary', async () => {
    const renewals = Array.from({ length: 8 }, () => 0);
    await eachInstant(store, 400, async (shopId, _, now, where) => {
      const found = await projectRenewals(store.primary.analyse, shopId, now);
      const plain = await projectionFromRecords(store.write, shopId, now);
      const text = (weeks: readonly RenewalWeek[]) =>
        weeks.map((each) => `${iso(each.from)} ${each.renewals}`);
      assert.deepEqual(text(found), text(plain), where);
      for (const [index, each] of found.entries()) {
        assert.ok(isSame(each.value, plain[index]?.value ?? zero), `${where}, week ${index}`);
        renewals[index] = (renewals[index] ?? 0) + each.renewals;
      }
      const summary = await summariseMetrics(store.primary.analyse, shopId, now);
      assert.equal(found[0]?.renewals, summary.upcomingRenewals, where);
      const value = parseDecimal(summary.upcomingRenewalsValue ?? '');
      assert.ok(isSame(found[0]?.value ?? zero, value), where);
    });
    assert.ok(
      renewals.every((each) => each > 0),
      String(renewals),
    );
  });

  /** The list of what was kept, page by page. */
  async function listKept(shopId: number, { from, until, now }: Window) {
    const counted = { figure: 'kept', from, until, at: now } as const;
    const listed: number[] = [];
    for (let last: Position | undefined; ;) {
      const page = { after: last, limit: 2 };
      const rows = await listCounted(
        store.primary,
        { id: shopId, currency: 'USD' },
        counted,
        page,
        undefined,
      );
      for (const { json, happenedAt: createdAt } of rows) {
        const { subscriptionId: id } = JSON.parse(json);
        assert.ok(
          !last || createdAt < last.createdAt || (createdAt === last.createdAt && id < last.id),
        );
        last = { createdAt, id };
        listed.push(id);
      }
      if (rows.length < page.limit) return listed;
    }
  }

  test('sessions and what they kept are those of the records and of the list, also after all is computed again', async () => {
    let kept = 0;
    await eachInstant(store, 500, async (shopId, random, now, where) => {
      const window = random.chance(0.5) ? { from: 0, until: now, now } : windowOf(random, now);
      const { from, until } = window;
      const counts = await countSessions(store.primary.analyse, shopId, { from, until });
      const days = await listSessionDays(store.primary.analyse, shopId, { from, until });
      const rows = await store.write<Record<'day' | 'reason' | 'offer' | 'outcome', string>[]>`
        select (created_at at time zone 'UTC')::date::text as day, detected_reason as reason,
          coalesce(offer_type, 'null') as offer, coalesce(outcome, 'null') as outcome
        from cancellation_sessions
        where shop_id = ${shopId} and created_at >= ${iso(from)} and created_at < ${iso(until)}`;
      const alike = (...columns: (keyof (typeof rows)[number])[]) =>
        [...Map.groupBy(rows, (row) => columns.map((name) => row[name]).join(' '))]
          .map(([text, { length }]) => `${text} ${length}`)
          .toSorted();
      assert.deepEqual(
        counts
          .map((each) => `${each.reason} ${each.offer} ${each.outcome} ${each.sessions}`)
          .toSorted(),
        alike('reason', 'offer', 'outcome'),
        where,
      );
      assert.deepEqual(
        days.map((each) => `${each.day} ${each.outcome} ${each.sessions}`).toSorted(),
        alike('day', 'outcome'),
        where,
      );
      const plain = await keptFromRecords(store.write, shopId, window);
      const compare = async () => {
        const found = await summariseKept(store.primary.analyse, shopId, window);
        assert.equal(found.subscriptions, plain.subscriptions, where);
        assert.ok(isSame(found.value, plain.value), where);
      };
      await compare();
      const listed = await listKept(shopId, window);
      assert.equal(new Set(listed).size, listed.length, where);
      const values = (await readHeld(store.write, shopId))
        .filter(({ id, trialEndsAt }) => listed.includes(id) && trialEndsAt <= now)
        .map((held) => {
          const [numerator, denominator] = held.values.at(-1)?.value ?? [0n, 1n];
          return { numerator, denominator: denominator * 10n ** 12n };
        });
      assert.ok(isSame(values.reduce(add, zero), plain.value), where);
      assert.equal(listed.length, plain.subscriptions, where);
      kept += plain.subscriptions;
      if (random.chance(0.6)) return;
      await store.write`update subscriptions set saved_at = null where shop_id = ${shopId}`;
      await rebuildMetrics(store.write, shopId);
      await compare();
    });
    assert.ok(kept > 3, String(kept));
  });
});
