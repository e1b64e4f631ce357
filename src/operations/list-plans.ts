import { z } from 'zod';
import { listPlans as listRows } from '../store/records/plans.ts';
import { defineOperation } from './define.ts';
import { examples } from './examples.ts';
import { JsonText, coalesce } from './coalesce.ts';
import { sellingPlansResponse } from './answer-schemas.ts';

export const listPlans = defineOperation({
  tool: 'list_plans',
  path: '/plans',
  scope: 'read:plans',
  title: 'Selling plans',
  description: 'All selling plans of the shop, active or not, in one answer.',
  toolDescription:
    'All selling plans of the shop, active or not, in one answer without arguments: billing interval (intervalCount times intervalUnit), pricing (discountValue is what discountType says, money in the currency of get_metrics_summary) and number of products. Use it to explain a planId.',
  input: z.strictObject({}),
  output: sellingPlansResponse,
  example: examples.list_plans,
  fails: [],
  run({ caller: { shopId }, store: { plans } }) {
    return coalesce(plans, String(shopId), async () => {
      const { rows } = await listRows(plans, shopId);
      return new JsonText(`{"plans":[${rows}]}`);
    });
  },
});
