import { defineRecord } from './fields.ts';
import * as f from './fields.ts';

export const refund = defineRecord('refund', {
  table: 'refunds',
  fields: {
    id: f.id('refund_id', 'refund'),
    paymentId: f.id('payment_id', 'payment'),
    amount: f.amount('amount'),
    refundedAt: f.pastTime('refunded_at'),
    updatedAt: f.orNull(f.pastTime('updated_at')),
    preserve: f.preserve('amount'),
  },
});
