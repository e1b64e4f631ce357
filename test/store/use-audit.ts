import assert from 'node:assert/strict';
import { pruneChain, verifyChain } from '../../src/accounts/audit/chain.ts';
import { visitor } from '../../src/acts.ts';
import {
  appendEntry,
  appendOmitted,
  countEntries,
  installation,
  listAuditHeads,
  listEntries,
} from '../../src/store/owners/audit.ts';
import type { Store } from '../../src/store/open.ts';

/** The audit log: appending, reading, verifying and pruning. */
export async function useAudit({ write }: Store, shopId: number, at: Date): Promise<void> {
  const by = { who: 'command line', session: 'shops set-tier' };
  for (let count = 0; count < 3; count += 1) {
    await appendEntry(write, shopId, { at, by, what: 'tier_set', target: 'pro' });
  }
  const failed = { by: visitor('203.0.113.0/24'), what: 'unknown_sign_in_failed' } as const;
  for (let count = 0; count < 12; count += 1) {
    await appendEntry(write, installation, { ...failed, at, isLimited: true });
  }
  const later = new Date(at.getTime() + 60_000);
  await appendOmitted(write, installation, later);
  const after = { at: later, number: Number.MAX_SAFE_INTEGER };
  for (const order of ['newest', 'oldest'] as const) {
    for (const place of [undefined, after]) {
      for (const who of [undefined, 'command line']) {
        for (const what of [undefined, ['tier_set']]) {
          await listEntries(write, shopId, { order, who, what, after: place, limit: 9 });
        }
      }
    }
  }
  assert.notEqual((await countEntries(write, shopId, { from: at, to: later })).length, 0);
  assert.ok((await listAuditHeads(write)).some((head) => head.shopId === shopId));
  const verify = () => verifyChain(write, shopId, { keys: [], seen: () => {} });
  assert.deepEqual((await verify()).problems, []);
  const keys = [Buffer.alloc(32, 1)];
  assert.ok(await pruneChain(write, shopId, { before: later, at: later, by, keys }));
  assert.deepEqual((await verify()).problems, []);
}
