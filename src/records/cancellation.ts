import { detectedReasons, offerTypes, sessionOutcomes } from '../vocabulary.ts';
import { defineRecord } from './fields.ts';
import * as f from './fields.ts';

export const cancellation = defineRecord('cancellation', {
  table: 'cancellation_sessions',
  fields: {
    id: f.id('session_id', 'cancellation'),
    subscriptionId: f.orNull(f.id('subscription_id', 'subscription')),
    detectedReason: f.oneOf('detected_reason', detectedReasons),
    offerType: f.orNull(f.oneOf('offer_type', offerTypes)),
    outcome: f.orNull(f.oneOf('outcome', sessionOutcomes)),
    createdAt: f.pastTime('created_at'),
    updatedAt: f.orNull(f.pastTime('updated_at')),
    // The source names no time, so that a stored one stays.
    preserve: f.preserve('createdAt'),
  },
  about: { outcome: 'none while the session is in progress' },
});
