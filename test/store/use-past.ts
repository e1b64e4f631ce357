import assert from 'node:assert/strict';
import { monthBefore } from '../../src/metrics/bounds.ts';
import { ageBands, listChurnDays, listChurnGroups, listChurned } from '../../src/metrics/churn.ts';
import { listCohortMembers, listCohorts, listGross } from '../../src/metrics/cohorts.ts';
import { explain, isQuick } from '../../src/metrics/explain/explain.ts';
import { dimensionsOf, explainedFigures } from '../../src/metrics/explain/question.ts';
import {
  listPriceChanges,
  listPriceGroups,
  sumPriceChanges,
} from '../../src/metrics/explain/price-changes.ts';
import { listMovementDays, summariseMovements } from '../../src/metrics/movements.ts';
import { churnGroupsFromRecords } from '../../src/metrics/segments/churn.ts';
import {
  cohortsFromRecords,
  movementsFromRecords,
  retentionFromRecords,
} from '../../src/metrics/segments/periods.ts';
import { retentionByCohort, summariseRetention } from '../../src/metrics/retention.ts';
import { useSegments } from './use-segments.ts';
import { hasPlan, listPlanNames } from '../../src/store/records/plans.ts';
import type { Store } from '../../src/store/open.ts';
import { now, type TestShop } from '../support/world.ts';

const endAt = Date.parse(now);

/** Movements, churn and cohorts, from the ledger and from the records. */
export async function usePast(store: Store, shop: TestShop): Promise<void> {
  const { write } = store;
  const primary = store.primaryOf(shop.id);
  const { analyse } = primary;
  const window = { from: endAt - 40 * 86_400_000 - 1, until: endAt - 1, now: endAt };
  await summariseMovements(analyse, shop.id, window);
  await movementsFromRecords(write, shop.id, window);
  await summariseRetention(analyse, shop.id, window);
  await retentionFromRecords(write, shop.id, window);
  await retentionByCohort(analyse, shop, window);
  assert.notEqual((await listMovementDays(analyse, shop.id, window)).length, 0);
  await listChurnDays(analyse, shop.id, window);
  await churnGroupsFromRecords(write, shop.id, window);
  const churned = await listChurned(analyse, shop.id, window, { after: undefined, limit: 3 });
  assert.equal(churned.length, 3);
  for (const order of ['oldest', 'longest', 'shortest', 'highest'] as const) {
    await listChurned(analyse, shop.id, window, { order, after: undefined, limit: 3 });
  }
  const [{ planId: leftPlan } = { planId: 0 }] = churned;
  const [age] = ageBands;
  const ofSome = { cause: 'cancelled', planId: leftPlan, age, after: undefined, limit: 3 } as const;
  await listChurned(analyse, shop.id, window, ofSome);
  await listChurned(analyse, shop.id, window, { ...ofSome, order: 'highest' });
  assert.notEqual((await listChurnGroups(analyse, shop.id, window)).length, 0);
  const year = { ...window, from: endAt - 365 * 86_400_000 };
  await listPriceGroups(analyse, shop.id, year, '90');
  const first = { order: 'newest', after: undefined, limit: 2 } as const;
  const [, repriced] = await listPriceChanges(analyse, shop.id, year, first);
  assert.ok(repriced);
  const { planId: repricedPlan, at, subscriptionId: id } = repriced;
  const some = { planId: repricedPlan, isRise: true, within: '90' } as const;
  const next = { ...first, ...some, order: 'oldest', after: { createdAt: at, id } } as const;
  await listPriceChanges(analyse, shop.id, year, next);
  assert.notEqual((await sumPriceChanges(analyse, shop.id, year, {}))?.count, 0);
  await sumPriceChanges(analyse, shop.id, year, some);
  const lastMonth = monthBefore(endAt);
  const before = monthBefore(lastMonth.from);
  assert.ok(await isQuick(analyse, shop.id));
  for (const figure of explainedFigures) {
    for (const by of dimensionsOf(figure)) {
      const question = { figure, by, before, now: lastMonth };
      const { values } = await explain(analyse, shop.id, question, endAt);
      if (by === 'plan') assert.notEqual(values.length, 0, figure);
    }
  }
  const options = { months: 36, now: endAt };
  assert.notEqual((await listCohorts(analyse, shop, options)).length, 0);
  assert.notEqual((await listGross(analyse, shop, options)).size, 0);
  await cohortsFromRecords(write, shop.id, options);
  const [{ planId } = { planId: 0 }] = churned;
  assert.ok(await hasPlan(analyse, shop.id, planId));
  await useSegments(primary, write, shop, planId);
  assert.ok((await listPlanNames(analyse, shop.id)).has(planId));
  const [{ leftAt } = { leftAt: 0 }] = churned;
  const month = new Date(leftAt).toISOString().slice(0, 7);
  const members = {
    month,
    end: new Date(endAt).toISOString(),
    planId: undefined,
    keptAt: undefined,
    now: new Date(endAt).toISOString(),
  };
  for (const order of ['newest', 'oldest', 'highest', 'lowest'] as const) {
    const page = { order, after: undefined, limit: 3 };
    await listCohortMembers(analyse, shop.id, members, page);
    await listCohortMembers(analyse, shop.id, { ...members, goneAt: members.end }, page);
  }
}
