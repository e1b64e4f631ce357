import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listMovementDays } from '../../src/metrics/movements.ts';
import type { Store } from '../../src/store/open.ts';
import { plan } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';
import { beforeEnd, begun, end, start, week } from './edge-records.ts';

onOneDatabase('movements by day', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('up to a midnight are those of the days before it', async () => {
    const shop = await createShop(store);
    const records = [plan(), begun(1, start), begun(2, beforeEnd), begun(3, end)];
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    const days = await listMovementDays(store.write, shop.id, week);
    assert.deepEqual(
      days.map(({ day: date, moved }) => `${date} ${moved.length}`),
      [
        '2026-11-01 1',
        '2026-11-02 0',
        '2026-11-03 0',
        '2026-11-04 0',
        '2026-11-05 0',
        '2026-11-06 0',
        '2026-11-07 1',
      ],
    );
  });
});
