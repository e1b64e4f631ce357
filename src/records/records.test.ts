import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedFields, parents, recordTypes } from './records.ts';

// Whatever else a source sends is dropped. Before a field is added here: it must hold nothing that is known of a
// person, who is an opaque number to us (customerId). Text is the shop's own: of its plans and products.
test('what is kept of records is listed', () => {
  const kept = recordTypes.map((type) => {
    const names = namedFields(type).flatMap(([name, field]) =>
      'fields' in field ? Object.keys(field.fields).map((part) => `${name}.${part}`) : [name],
    );
    return [type, names.join(' ')];
  });
  assert.deepEqual(Object.fromEntries(kept), {
    plan:
      'id name groupName planType intervalUnit intervalCount active productIds productCount' +
      ' pricing.discountType pricing.discountValue pricing.summary updatedAt preserve',
    subscription:
      'id customerId planId status createdAt updatedAt nextBillingDate paidThroughAt' +
      ' statusEvents.at statusEvents.to intervalUnit intervalCount preserve paidPeriods' +
      ' lines.lineId lines.productId lines.productTitle lines.variantId lines.variantTitle' +
      ' lines.quantity lines.currentPrice lines.intervalUnit lines.intervalCount lines.preserve trialEndsAt' +
      ' valueEvents.at valueEvents.mrr stays pastValues feed',
    payment:
      'id subscriptionId cycle status failureKind failureCode amount processedAt updatedAt preserve',
    refund: 'id paymentId amount refundedAt updatedAt preserve',
    cancellation: 'id subscriptionId detectedReason offerType outcome createdAt updatedAt preserve',
  });
});

test('a record waits for the record that it belongs to', () => {
  assert.deepEqual(parents, {
    plan: undefined,
    subscription: { type: 'plan', field: 'planId' },
    payment: { type: 'subscription', field: 'subscriptionId' },
    refund: { type: 'payment', field: 'paymentId' },
    cancellation: { type: 'subscription', field: 'subscriptionId' },
  });
});
