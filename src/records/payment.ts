import { z } from 'zod';
import {
  failureCodeForm,
  failureCodePattern,
  failureKinds,
  paymentStatuses,
} from '../vocabulary.ts';
import { defineRecord } from './fields.ts';
import * as f from './fields.ts';
import * as values from './values.ts';

const textOrInteger = values.must('text or an integer');
const cycle = f.field(
  { kind: 'text', maxLength: 200, mayBeEmpty: false },
  'cycle',
  ({ isFromFeed }) =>
    z
      .union([values.nonEmptyText(isFromFeed).max(200), z.int(textOrInteger)], textOrInteger)
      .transform(String),
);

/** A message for the customer is no code, so that none is stored. */
const form = values.must(failureCodeForm);
const failureCode = f.field({ kind: 'code' }, 'failure_code', () =>
  z.string(form).regex(failureCodePattern, form),
);

export const payment = defineRecord('payment', {
  table: 'payments',
  fields: {
    id: f.id('payment_id', 'payment'),
    subscriptionId: f.id('subscription_id', 'subscription'),
    cycle,
    status: f.oneOf('status', paymentStatuses),
    failureKind: f.orNull(f.oneOf('failure_kind', failureKinds)),
    failureCode: f.optional(failureCode),
    amount: f.amount('amount'),
    processedAt: f.pastTime('processed_at'),
    updatedAt: f.orNull(f.pastTime('updated_at')),
    // The feed has only estimated it, so that a stored one stays.
    preserve: f.preserve('amount'),
  },
  about: {
    cycle: 'the billing cycle; may be an integer: `7` and `"7"` are the same',
    failureKind:
      'default for a failed payment: `payment`. `inventory`: the goods were missing, not the money. Ignored unless `status` is `failed`',
    failureCode:
      "the source's code for why it failed, such as `card_declined`. Anything else is refused, so that no message for the customer is stored; send none instead. Ignored unless `status` is `failed`",
  },
});
