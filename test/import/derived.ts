import { deriveId } from '../../src/ingest/source-ids.ts';
import type { SourceId } from '../../src/store/records/source-ids.ts';
import type { RecordKind } from '../../src/store/records/export-dates.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import type { TestShop } from '../support/world.ts';

export const ids = (kind: RecordKind, ...sourceIds: string[]) =>
  sourceIds.map((sourceId) => ({ kind, id: deriveId(kind, sourceId), sourceId }));

export const price = plan({ id: deriveId('plan', 'price_1'), sourceIds: { id: 'price_1' } });

/** A subscription as a platform makes it from `sub_…` and `cus_…`. */
export function derived(sub: string, cus: string, over: object = {}): object {
  return subscription(deriveId('subscription', sub), {
    customerId: deriveId('customer', cus),
    planId: deriveId('plan', 'price_1'),
    sourceIds: { id: sub, customerId: cus, planId: 'price_1' },
    ...over,
  });
}

export const payment = (text: string, sub: string, over: object = {}) => ({
  type: 'payment',
  id: deriveId('payment', text),
  subscriptionId: deriveId('subscription', sub),
  cycle: text,
  status: 'succeeded',
  amount: '30.60',
  processedAt: '2026-11-01T00:00:00Z',
  sourceIds: { id: text, subscriptionId: sub },
  ...over,
});

export const refund = (text: string, paid: string) => ({
  type: 'refund',
  id: deriveId('refund', text),
  paymentId: deriveId('payment', paid),
  amount: '1.00',
  refundedAt: '2026-11-02T00:00:00Z',
  sourceIds: { id: text, paymentId: paid },
});

/** All source ids that are stored for a shop. */
export async function storedSourceIds(store: Store, { id }: TestShop): Promise<SourceId[]> {
  const rows = await store.write<SourceId[]>`
    select kind, id, source_id as "sourceId" from source_ids where shop_id = ${id}
    order by kind, source_id`;
  return [...rows];
}
