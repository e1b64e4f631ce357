import { z } from 'zod';
import {
  failureCodeForm,
  failureCodePattern,
  failureKinds,
  paymentStatuses,
} from '../vocabulary.ts';
import { defineRecord } from './define.ts';
import * as f from './fields.ts';
import * as values from './values.ts';

const cycle = values.must('text or an integer');
const code = values.must(failureCodeForm);
const onlyIfFailed = 'Ignored unless `status` is `failed`';

export const payment = defineRecord('payment', {
  table: 'payments',
  fields: {
    id: f.id('payment_id', 'payment'),
    subscriptionId: f.id('subscription_id', 'subscription'),
    cycle: f.field(
      { kind: 'text', maxLength: 200, mayBeEmpty: false },
      'cycle',
      () => z.union([values.nonEmptyText.max(200), z.int(cycle)], cycle).transform(String),
      'the billing cycle; may be an integer: `7` and `"7"` are the same',
    ),
    status: f.oneOf('status', paymentStatuses),
    failureKind: f.orNull(
      f.oneOf(
        'failure_kind',
        failureKinds,
        `default for a failed payment: \`payment\`. \`inventory\`: the goods were missing, not the money. ${onlyIfFailed}`,
      ),
    ),
    // A message for the customer is no code, so that none is stored.
    failureCode: f.optional(
      f.field(
        { kind: 'code' },
        'failure_code',
        () => z.string(code).regex(failureCodePattern, code),
        `the source's code for why it failed, such as \`card_declined\`. Anything else is refused, so that no message for the customer is stored; send none instead. ${onlyIfFailed}`,
      ),
    ),
    amount: f.amount('amount'),
    processedAt: f.pastTime('processed_at'),
    updatedAt: f.orNull(f.pastTime('updated_at')),
    keeps: f.keeps('amount'),
  },
});
