import assert from 'node:assert/strict';
import { listClosedCases, listClosed, listOutstanding } from '../../src/metrics/recovery.ts';
import { listOpenCases, summariseExpected } from '../../src/metrics/dunning/open-cases.ts';
import {
  deleteContactedCase,
  insertContactedCase,
} from '../../src/store/records/contacted-cases.ts';
import { recoveryFromRecords } from '../../src/metrics/verify/figures.ts';
import type { Store } from '../../src/store/open.ts';

/** Failed payments: what is outstanding, and what was recovered and lost. */
export async function useRecovery(
  { primaryOf, write }: Store,
  shopId: number,
  now: number,
): Promise<void> {
  const { analyse } = primaryOf(shopId);
  const period = { from: now - 365 * 86_400_000, until: now };
  await listOutstanding(analyse, shopId, now);
  assert.notEqual((await listClosed(analyse, shopId, period)).length, 0);
  await recoveryFromRecords(write, shopId, period, now);
  const open = { subscriptionId: 1001, openedAt: now };
  await insertContactedCase(write, shopId, open, { ownerId: 'someone', at: now });
  await deleteContactedCase(write, shopId, open);
  for (const code of [undefined, 'expired_card']) {
    await summariseExpected(analyse, shopId, { code, at: now });
    for (const order of ['expected', 'unlikely', 'oldest', 'newest', 'amount', 'lowest'] as const) {
      for (const at of [now, period.from]) {
        await listOpenCases(analyse, shopId, { order, code, at, after: undefined, limit: 3, now });
      }
    }
    for (const result of [undefined, 'recovered'] as const) {
      const filter = { ...period, result, code, attempts: [1, 9], retries: [0, 9] } as const;
      for (const order of ['newest', 'oldest', 'amount', 'lowest'] as const) {
        await listClosedCases(analyse, shopId, filter, { order, after: undefined, limit: 3 });
      }
    }
  }
}
