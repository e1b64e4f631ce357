import { z } from 'zod';
import { discountTypes, planTypes } from '../vocabulary.ts';
import { defineRecord } from './fields.ts';
import * as f from './fields.ts';
import * as values from './values.ts';

const summary = f.orNull(f.text('pricing_summary'));

/** How the value of a discount is checked depends on its type. */
const pricing = f.part(
  {
    discountType: f.oneOf('discount_type', discountTypes),
    discountValue: f.field({ kind: 'decimal' }, 'discount_value', () => values.percentage),
    summary,
  },
  (checks) => {
    const shape = { summary: summary.schema(checks) };
    return z.discriminatedUnion(
      'discountType',
      [
        z.object({
          discountType: z.literal('percentage'),
          discountValue: values.percentage,
          ...shape,
        }),
        z.object({
          discountType: z.enum(['fixed_amount', 'price']),
          discountValue: values.amount(checks.minorDigits),
          ...shape,
        }),
        z.object({
          discountType: z.literal('none'),
          discountValue: values
            .decimal(0, '0')
            .refine((value) => value === '0', values.must('0'))
            .default('0'),
          ...shape,
        }),
      ],
      { error: values.oneOfTypes(discountTypes, 'must be an object') },
    );
  },
);

export const plan = defineRecord('plan', {
  table: 'plans',
  fields: {
    id: f.id('plan_id', 'plan'),
    name: f.name('name'),
    groupName: f.orNull(f.text('group_name')),
    planType: f.oneOf('plan_type', planTypes),
    intervalUnit: f.intervalUnit('interval_unit'),
    intervalCount: f.intervalCount('interval_count'),
    active: f.withDefault(f.boolean('active'), true),
    productIds: f.withDefault(f.ids('product', 100_000), []),
    productCount: f.optional(f.integer('product_count', 0, 100_000)),
    pricing: f.orNull(pricing),
    updatedAt: f.orNull(f.pastTime('updated_at')),
    // `plan`: a placeholder, so that a stored plan stays. `membership`: that plan type stays.
    preserve: f.preserve('plan', 'membership'),
  },
  about: {
    groupName: 'default empty',
    active: 'default true',
    productIds: 'default none; only their number is stored',
    productCount:
      'the number of products, if their ids are unknown; default: the number of `productIds`',
    pricing: '`discountType`, `discountValue` and optionally `summary`; default: no discount',
  },
});
