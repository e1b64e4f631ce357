import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '../../../src/json.ts';
import { root } from '../../cli/process.ts';

/** The export file whose records were worked out by hand. */
export const exportFile = path.join(root, 'test/feeds/mapping/vendors/worlds/recharge.csv');

const numbers =
  'id customer_id address_id quantity order_interval_frequency charge_interval_frequency'.split(
    ' ',
  );

/** The rows of the export file, as the API has them. */
export function subscriptionsOf(file = exportFile): readonly JsonObject[] {
  const [head = '', ...rows] = readFileSync(file, 'utf8').trim().split('\n');
  const names = head.split(',');
  return rows.map((row) => {
    const cells = row.split(',');
    const entries = names.map((name, index): [string, unknown] => {
      const cell = cells[index] ?? '';
      if (cell === '') return [name, null];
      if (name.startsWith('external_')) return [name, { ecommerce: cell }];
      if (name === 'is_prepaid') return [name, cell === 'true'];
      return [name, numbers.includes(name) ? Number(cell) : cell];
    });
    return Object.fromEntries(entries);
  });
}

/** A charge as the API has it, of some subscriptions. */
export function chargeOf(
  id: number,
  subscriptions: readonly number[],
  over: JsonObject = {},
): JsonObject {
  return {
    id,
    address_id: 701,
    billing_address: { first_name: 'Planted', address1: 'Planted street' },
    currency: 'USD',
    customer: { id: 9101, email: 'planted@example.com' },
    error: null,
    error_type: null,
    line_items: [
      { purchase_item_id: 88, purchase_item_type: 'onetime', quantity: 1 },
      ...subscriptions.map((each) => ({
        purchase_item_id: each,
        purchase_item_type: 'subscription',
        quantity: 1,
      })),
    ],
    processed_at: '2026-11-10T10:00:00',
    status: 'success',
    total_price: '30.60',
    total_refunds: '0.00',
    type: 'recurring',
    updated_at: '2026-11-10T10:00:05',
    ...over,
  };
}
