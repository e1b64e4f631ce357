import assert from 'node:assert/strict';
import { readBulkResults } from '../../../src/platforms/shopify/bulk/records.ts';
import { file, whileChecking } from './samples.ts';

export const dollars = { currency: 'USD', minorDigits: 2 };
export type MadeRecord = Record<string, unknown> & {
  type: string;
  lines: Record<string, unknown>[];
};

/** The records made from nodes, by type. */
export async function recordsOf(nodes: readonly object[], shop = dollars) {
  const records: MadeRecord[] = [];
  const made = readBulkResults([file('test', nodes)], shop);
  for await (const lines of whileChecking(made, shop)) {
    for (const { text, problem } of lines) {
      assert.equal(problem, undefined);
      records.push(JSON.parse(text));
    }
  }
  const all = (type: string) => records.filter((record) => record.type === type);
  return {
    plans: all('plan'),
    subscriptions: all('subscription'),
    payments: all('payment'),
    refunds: all('refund'),
  };
}

export const policy = (interval: string, intervalCount = 1) => ({ interval, intervalCount });
