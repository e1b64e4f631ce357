import assert from 'node:assert/strict';
import {
  summariseKept,
  keptFromRecords,
  countSessions,
  listSessionDays,
} from '../../src/metrics/cancel-flow.ts';
import { projectionFromRecords } from '../../src/metrics/verify/figures.ts';
import { listCustomerEvents } from '../../src/store/records/customer-events.ts';
import { countCustomers, findCustomer, listCustomers } from '../../src/metrics/customers.ts';
import { findWhere } from '../../src/metrics/explain/driver.ts';
import { listMoved } from '../../src/metrics/moved.ts';
import { listPayments, listRevenueDays } from '../../src/metrics/payments.ts';
import { listRenewing } from '../../src/metrics/renewing.ts';
import { projectRenewals, projectedWeeks } from '../../src/metrics/renewals.ts';
import type { Store } from '../../src/store/open.ts';
import { listSessions } from '../../src/store/records/cancellations.ts';

/**
 * Revenue, projected renewals and the cancel flow of a shop with all of these.
 * @param now epoch milliseconds
 */
export async function useInsights(store: Store, shopId: number, now: number): Promise<void> {
  const { write } = store;
  const primary = store.primaryOf(shopId);
  const window = { from: now - 40 * 86_400_000 - 1, until: now - 1, now };
  const { from, until } = window;
  assert.notEqual((await listRevenueDays(primary.analyse, shopId, { from, until })).length, 0);
  await projectRenewals(primary.analyse, shopId, now);
  await projectionFromRecords(write, shopId, now);
  assert.notEqual((await countSessions(primary.analyse, shopId, { from, until })).length, 0);
  const filter = { from, until, reason: undefined, offer: undefined, outcomes: undefined };
  const page = { after: undefined, limit: 3 };
  const paid = { from, until, seen: now };
  for (const kinds of [['paid', 'refunded'], ['paid'], ['failed']] as const) {
    assert.notEqual(
      (await listPayments(primary.analyse, shopId, paid, { ...page, kinds })).length,
      0,
      kinds.join(' '),
    );
  }
  const oldest = { ...page, order: 'oldest' } as const;
  for (const kinds of [['refunded'], ['paid', 'failed']] as const) {
    const [first] = await listPayments(primary.analyse, shopId, paid, { ...oldest, kinds });
    const place = first && { createdAt: first.placedAt, id: first.id, kind: first.kind };
    await listPayments(primary.analyse, shopId, paid, { ...oldest, kinds, after: place });
  }
  await listPayments(primary.analyse, shopId, paid, { ...page, kinds: ['refunded'] });
  for (const order of ['newest', 'oldest'] as const) {
    const rows = await listMoved(primary.analyse, shopId, window, { ...page, order });
    assert.equal(rows.length, 3);
  }
  const shop = { id: shopId, currency: 'USD' };
  await findWhere(primary.analyse, shop, 'new', [window, window]);
  const weeks = Array.from({ length: projectedWeeks }, (_, week) => ({ now, week }));
  const renewing = await Promise.all(
    weeks.map((week) => listRenewing(primary.analyse, shopId, week, page)),
  );
  assert.notEqual(renewing.flat().length, 0);
  const latest = { ...page, order: 'latest' } as const;
  await listRenewing(primary.analyse, shopId, { now, week: 0 }, latest);
  for (const order of ['newest', 'oldest'] as const) {
    const sessions = listSessions(primary.cancellations, shopId, filter, { ...page, order });
    assert.equal((await sessions).length, 3);
  }
  assert.notEqual((await listSessionDays(primary.analyse, shopId, { from, until })).length, 0);
  for (const order of ['highest', 'lowest', 'newest', 'oldest'] as const) {
    for (const risk of [undefined, 'failing', 'skipping', 'leaving'] as const) {
      const first = { ...page, order, risk };
      const [, after] = await listCustomers(primary.analyse, shopId, now, first);
      await listCustomers(primary.analyse, shopId, now, { ...first, after });
    }
  }
  assert.equal(await countCustomers(primary.analyse, shopId, now, 2), 2);
  const [someone] = await listCustomers(primary.analyse, shopId, now, {
    ...page,
    order: 'highest',
    risk: undefined,
  });
  assert.ok(someone);
  await findCustomer(primary.analyse, shopId, someone.customerId, now);
  for (const order of ['newest', 'oldest'] as const) {
    const of = [shopId, someone.customerId, now] as const;
    const [event] = await listCustomerEvents(primary.analyse, ...of, { ...page, order });
    assert.ok(event);
    const after = { ...event, rank: 1 };
    await listCustomerEvents(primary.analyse, ...of, { ...page, order, after });
  }
  await summariseKept(primary.analyse, shopId, window);
  await keptFromRecords(write, shopId, window);
}
