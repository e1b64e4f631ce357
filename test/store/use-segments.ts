import assert from 'node:assert/strict';
import { monthBefore } from '../../src/metrics/bounds.ts';
import {
  listSegmentSubscriptions,
  countedFigures,
  listCounted,
} from '../../src/metrics/segments/lists.ts';
import { paymentKinds } from '../../src/metrics/payments.ts';
import { readFigures } from '../../src/metrics/segments/figures.ts';
import type { Segment } from '../../src/metrics/segments/segment.ts';
import type { Sql } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';
import { listProducts } from '../../src/store/records/plans.ts';
import { insertEvent, listEvents } from '../../src/store/owners/events.ts';
import { deleteSegment, insertSegment, listSegments } from '../../src/store/owners/segments.ts';
import { now, type TestShop } from '../support/world.ts';

const endAt = Date.parse(now);
const anySession = {
  reason: undefined,
  offer: undefined,
  outcomes: ['saved', 'in_progress'],
} as const;
const anyCase = { result: undefined, code: undefined, attempts: [1, 9], retries: [0, 9] } as const;

/** Every figure and list of segments, found in every way; and those that are saved. */
export async function useSegments(
  from: Store['primary'],
  write: Sql,
  shop: TestShop,
  plan: number,
): Promise<void> {
  const period = monthBefore(endAt);
  const window = { ...period, now: endAt };
  const page = { after: undefined, limit: 3 };
  for (const figure of countedFigures) {
    await listCounted(from, shop, { figure, ...period, at: endAt }, page, undefined);
  }
  const segments: readonly Segment[] = [
    { plan },
    { group: 'House Blend', price: { from: '1', to: '1000' } },
    { product: 81 },
    { status: 'active', age: '3-6' },
    { age: '12-' },
    { interval: 'month 1' },
  ];
  for (const segment of segments) {
    const at = { segment, now: endAt };
    const where = JSON.stringify(segment);
    const [days] = await readFigures(from, shop, at, (figures) =>
      Promise.all([
        figures.history(period),
        figures.reasons(period),
        figures.summary(period, endAt),
        figures.movements(period),
        figures.churnDays(window),
        figures.churnGroups(window),
        figures.churned(window, { after: undefined, limit: 3 }),
        figures.churned(window, { order: 'lowest', after: undefined, limit: 3 }),
        figures.cohorts({ months: 36, now: endAt }),
        figures.sessionCounts(period),
        figures.sessionDays(period),
        figures.sessions({ ...period, ...anySession }, page),
        figures.kept(window),
        figures.outstanding(endAt),
        figures.closed(period),
        figures.openCases({ order: 'oldest', code: undefined, at: endAt, now: endAt, ...page }),
        figures.closedCases({ ...period, ...anyCase }, page),
        figures.closedCases({ ...period, ...anyCase }, { ...page, order: 'amount' }),
        figures.payments(
          { ...period, seen: endAt },
          { kinds: paymentKinds, after: undefined, limit: 3 },
        ),
        figures.renewing({ now: endAt, week: 0 }, { after: undefined, limit: 3 }),
      ]),
    );
    for (const figure of countedFigures) {
      const counted = { figure, ...period, at: endAt };
      for (const order of ['newest', 'oldest'] as const) {
        await listCounted(from, shop, counted, { ...page, order }, at);
      }
      if (figure === 'active' || figure === 'paused') {
        await listCounted(from, shop, counted, { ...page, order: 'highest' }, at);
      }
    }
    await listSegmentSubscriptions(from, shop, at, { ...page, order: 'oldest' });
    await listSegmentSubscriptions(from, shop, at, { ...page, order: 'lowest' });
    assert.equal(days.length, 31, where);
    assert.notEqual((await listSegmentSubscriptions(from, shop, at, page)).count, 0, where);
  }
  assert.notEqual((await listProducts(from.subscriptions, shop.id, 5)).length, 0);
  const saved = { name: 'Monthly', query: 'interval=month-1' };
  assert.equal(await insertSegment(write, shop.id, saved), 'saved');
  assert.deepEqual([...(await listSegments(write, shop.id))], [saved]);
  await deleteSegment(write, shop.id, 'Monthly');
  const event = { at: new Date(endAt), kind: 'import', detail: '3' } as const;
  await insertEvent(write, shop.id, event);
  await insertEvent(write, shop.id, event);
  assert.deepEqual(
    [...(await listEvents(write, shop.id, { ...period, until: endAt + 1 }))],
    [event],
  );
}
