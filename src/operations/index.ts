import type { Operation } from './define.ts';
import { getEntitlements } from './get-entitlements.ts';
import { getMetricsSummary } from './get-metrics-summary.ts';
import { getSubscription } from './get-subscription.ts';
import { listCancellations } from './list-cancellations.ts';
import { listPlans } from './list-plans.ts';
import { listSubscriptions } from './list-subscriptions.ts';

/** The catalogue of operations, in the order in which REST, MCP and the reference list them. */
export const operations: readonly Operation[] = [
  getEntitlements,
  listSubscriptions,
  getSubscription,
  getMetricsSummary,
  listPlans,
  listCancellations,
];
