import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contract, group, line, sellingPlan } from './nodes.ts';
import { policy, recordsOf } from './records-of.ts';

test('derives a plan for contracts without one, the same for the same interval', async () => {
  const none = { sellingPlanId: null, sellingPlanName: null };
  const every = (id: number, billing: object, delivery: object, over: object = {}) => [
    contract(id, { billingPolicy: billing, deliveryPolicy: delivery }),
    line(id, id, { ...none, ...over }),
  ];
  const { plans, subscriptions } = await recordsOf([
    ...every(1, policy('DAY', 30), policy('DAY', 30)),
    ...every(2, policy('DAY', 30), policy('MONTH')),
    ...every(3, policy('YEAR'), policy('MONTH')),
    ...every(4, policy('YEAR'), policy('MONTH'), { requiresShipping: false }),
    ...every(5, policy('YEAR'), policy('MONTH', 12)),
  ]);
  const ids = [1, 1, 2, 3, 4];
  assert.deepEqual(
    plans.map((plan) => [plan['name'], plan['planType'], plan['groupName'], plan['active']]),
    [
      ['Every 30 days', 'subscription', 'No selling plan', false],
      ['Every year, prepaid', 'prepaid', 'No selling plan', false],
      ['Every year, membership', 'membership', 'No selling plan', false],
      ['Every year', 'subscription', 'No selling plan', false],
    ],
  );
  assert.deepEqual(
    subscriptions.map(({ planId }) => planId),
    ids.map((place) => plans[place - 1]?.['id']),
  );
  assert.equal(plans[0]?.['id'], 7842138469200290);
});

test('makes a placeholder for a selling plan that no file has, from its first contract', async () => {
  const { plans } = await recordsOf([
    contract(2),
    line(2, 2, { sellingPlanName: 'Later' }),
    contract(1, { billingPolicy: policy('WEEK', 2), deliveryPolicy: null }),
    line(1, 1),
  ]);
  assert.deepEqual(plans, [
    {
      type: 'plan',
      id: 301,
      name: 'Monthly',
      groupName: null,
      planType: 'subscription',
      intervalUnit: 'week',
      intervalCount: 2,
      active: false,
      productIds: [],
      pricing: null,
      updatedAt: null,
      preserve: 'plan',
    },
  ]);
});

test('maps the type of a selling plan, and its discount for a new customer', async () => {
  const percentage = (percent: number) => ({
    adjustmentType: 'PERCENTAGE',
    adjustmentValue: { percentage: percent },
  });
  const cases: [over: object, planType: string, pricing: [type: string, value: string]][] = [
    [{}, 'subscription', ['none', '0']],
    [{ category: null, pricingPolicies: null }, 'subscription', ['none', '0']],
    [{ billingPolicy: policy('MONTH', 3) }, 'prepaid', ['none', '0']],
    [{ billingPolicy: policy('DAY', 30) }, 'subscription', ['none', '0']],
    [
      { billingPolicy: policy('MONTH', 3), deliveryPolicy: { fulfillmentTrigger: 'ASAP' } },
      'subscription',
      ['none', '0'],
    ],
    [{ category: 'OTHER' }, 'other', ['none', '0']],
    [{ category: 'PRE_ORDER' }, 'other', ['none', '0']],
    [
      { pricingPolicies: [{ ...percentage(10), afterCycle: 1 }, percentage(100 / 3)] },
      'subscription',
      ['percentage', '33.3333'],
    ],
    [{ pricingPolicies: [{ ...percentage(10), afterCycle: 1 }] }, 'subscription', ['none', '0']],
  ];
  for (const [over, planType, [discountType, discountValue]] of cases) {
    const { plans } = await recordsOf([group(201), sellingPlan(201, 305, over)]);
    assert.equal(plans[0]?.['planType'], planType);
    assert.deepEqual(plans[0]?.['pricing'], { discountType, discountValue, summary: null });
  }
});

test('skips a selling plan that bills once', async () => {
  const once = { billingPolicy: { remainingBalanceChargeTrigger: 'EXACT_TIME' } };
  const { plans } = await recordsOf([
    group(201),
    sellingPlan(201, 301, { ...once, category: 'PRE_ORDER' }),
    sellingPlan(201, 302),
  ]);
  assert.deepEqual(
    plans.map(({ id }) => id),
    [302],
  );
});

test('treats a plan as a membership if its known lines are never shipped', async () => {
  const typeWith = async (...shipped: (boolean | null)[]) => {
    const contracts = shipped.flatMap((requiresShipping, index) => [
      contract(index + 1),
      line(index + 1, index + 1, { requiresShipping }),
    ]);
    const { plans } = await recordsOf([group(201), sellingPlan(201, 301), ...contracts]);
    assert.equal(plans.length, 1);
    return [plans[0]?.['planType'], plans[0]?.['preserve']];
  };
  assert.deepEqual(await typeWith(false, false), ['membership', undefined]);
  assert.deepEqual(await typeWith(false, true), ['subscription', undefined]);
  assert.deepEqual(await typeWith(true, false), ['subscription', undefined]);
  assert.deepEqual(await typeWith(null, false), ['membership', undefined]);
  assert.deepEqual(await typeWith(null), ['subscription', 'membership']);
  assert.deepEqual(await typeWith(), ['subscription', 'membership']);
});
