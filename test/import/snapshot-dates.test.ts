import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Snapshot } from '../../src/ingest/snapshot.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, importAll, importSnapshot } from '../support/world.ts';

/** A subscription as an export of that day in November has it. */
const exported = (id: number, day: string) => ({
  ...subscription(id, { customerId: id }),
  exportedAt: `2026-11-${day}T00:00:00Z`,
});

onOneDatabase('a complete input made of several exports', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const takeIn = async (shop: TestShop, ...records: readonly object[]) =>
    (await importAll(store, shop, records, true)).counts['subscription'];

  /** Has subscriptions 1 to 10, then all but the first in exports of the 14th, the 10th and the 12th. */
  async function shopAfterThree(firstKnownOn: string) {
    const shop = await createShop(store);
    const older = [2, 3, 4, 5, 6, 7, 8, 9, 10].map((id) => exported(id, '08'));
    await takeIn(shop, plan(), exported(1, firstKnownOn), ...older);
    const snapshot = new Snapshot({ allowShrink: false });
    const three = [
      ...[2, 3, 4].map((id) => exported(id, '14')),
      ...[5, 6, 7].map((id) => exported(id, '10')),
      ...[8, 9, 10].map((id) => exported(id, '12')),
    ];
    await importSnapshot(store, shop, three, snapshot, { isFromFeed: true });
    return { shop, outcome: snapshot.outcome };
  }

  const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

  test('is as old as the earliest of them: only exports from before bring nothing back', async () => {
    const { shop, outcome } = await shopAfterThree('08');
    assert.ok(outcome?.kind === 'deleted');
    assert.deepEqual(outcome.deleted, { subscription: 1 });
    assert.deepEqual(await takeIn(shop, exported(1, '09')), { ...none, stale: 1 });
    assert.deepEqual(await takeIn(shop, exported(1, '10')), { ...none, stored: 1 });
  });

  test('deletes what is known from between them, and keeps what is known from after the latest', async () => {
    const between = await shopAfterThree('13');
    assert.ok(between.outcome?.kind === 'deleted');
    assert.deepEqual([between.outcome.deleted, between.outcome.newer], [{ subscription: 1 }, 0]);
    const later = await shopAfterThree('15');
    assert.ok(later.outcome?.kind === 'deleted');
    assert.deepEqual([later.outcome.deleted, later.outcome.newer], [{}, 1]);
  });
});
