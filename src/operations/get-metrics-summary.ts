import { z } from 'zod';
import { toSummary } from '../metrics/figures.ts';
import { summariseMetrics } from '../metrics/summary.ts';
import { defineOperation } from './define.ts';
import { examples } from './examples.ts';
import { JsonText, coalesce } from './coalesce.ts';
import { metricsSummaryResponse } from './answer-schemas.ts';

export const getMetricsSummary = defineOperation({
  tool: 'get_metrics_summary',
  path: '/metrics/summary',
  scope: 'read:metrics',
  title: 'Metrics summary',
  description: 'How retention is doing: fifteen aggregate figures of the shop at this instant.',
  toolDescription:
    "How retention is doing, in one call without arguments: subscribers, MRR, 30-day revenue, churn, cancel-flow save rate, dunning and recovery, renewals of the next 7 days. All tools' money is in the shop's currency, named in currency; rates are fractions from 0 to 1, windows are rolling 24-hour days up to generatedAt. Prefer this over counting listed subscriptions.",
  input: z.strictObject({}),
  output: metricsSummaryResponse,
  example: examples.get_metrics_summary,
  fails: [],
  run({ caller: { shopId, currency }, store: { analyse }, clock }) {
    return coalesce(analyse, `${shopId} ${currency}`, async () => {
      const now = clock.now();
      const row = await summariseMetrics(analyse, shopId, now);
      return new JsonText(JSON.stringify({ summary: toSummary(row, currency, now) }));
    });
  },
});
