import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isScope, scopeDescriptions } from './scopes.ts';
import { isTier, tiers } from './tiers.ts';
import { scopes, tierNames } from '../vocabulary.ts';

// Requirements: rest.scopes.entitlements, rest.scopes.subscriptions, rest.scopes.metrics,
// rest.scopes.plans.
test('the scopes and their descriptions', () => {
  assert.deepEqual(scopes, [
    'read:entitlements',
    'read:subscriptions',
    'read:metrics',
    'read:plans',
  ]);
  assert.deepEqual(scopeDescriptions, {
    'read:entitlements': 'customer entitlement status',
    'read:subscriptions': 'subscription records and detail',
    'read:metrics': 'aggregate retention and revenue metrics, and cancel-save outcomes',
    'read:plans': 'selling-plan definitions',
  });
  assert.equal(isScope('read:plans'), true);
  for (const text of ['', 'read:cancellations', 'write:plans', 'READ:PLANS', 'read:plans '])
    assert.equal(isScope(text), false);
});

// Requirements: rest.auth.tier-required, rest.auth.tier-admitted.
test('the tiers, from lowest to highest, and their rules', () => {
  assert.deepEqual(tierNames, ['free', 'starter', 'growth', 'pro', 'enterprise_plus']);
  assert.deepEqual(tiers, {
    free: { hasApiAccess: false, limitPerMinute: undefined },
    starter: { hasApiAccess: false, limitPerMinute: undefined },
    growth: { hasApiAccess: true, limitPerMinute: 60 },
    pro: { hasApiAccess: true, limitPerMinute: 300 },
    enterprise_plus: { hasApiAccess: true, limitPerMinute: undefined },
  });
  assert.equal(isTier('pro'), true);
  for (const text of ['', 'Pro', 'enterprise', 'toString', '__proto__'])
    assert.equal(isTier(text), false);
});
