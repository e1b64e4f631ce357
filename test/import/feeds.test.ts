import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { importRecords } from '../../src/ingest/import.ts';
import { listFeedLags, listFeeds } from '../../src/store/feeds/feeds.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, createShop, silentLog } from '../support/world.ts';

onOneDatabase('the freshness of a feed', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const importAt = (shop: TestShop, at: string, records: readonly object[], fails = false) => {
    async function* lines() {
      yield records.map((record, index) => ({ number: index + 1, text: JSON.stringify(record) }));
      if (fails) throw new Error('the source broke off');
    }
    return importRecords([{ name: 'test', lines: lines() }], {
      sql: store.write,
      shop,
      feed: 'records',
      clock: new FixedClock(at),
      log: silentLog,
      linesPerTransaction: 1,
      refuse() {},
    });
  };

  test('has the last arrival, the newest past record and the last complete run', async () => {
    const shop = await createShop(store);
    assert.deepEqual([...(await listFeeds(store.write, shop.id))], []);

    await importAt(shop, '2026-11-20T12:00:00Z', [
      plan(),
      subscription(1001, { updatedAt: '2026-11-15T09:00:03Z' }),
      session(7001, { createdAt: '2026-11-16T00:00:00Z' }),
      session(7002, { createdAt: '2026-12-24T00:00:00Z' }),
    ]);
    const first = {
      feed: 'records',
      arrivedAt: new Date('2026-11-20T12:00:00Z'),
      newestAt: new Date('2026-11-16T00:00:00Z'),
      completedAt: new Date('2026-11-20T12:00:00Z'),
    };
    assert.deepEqual([...(await listFeeds(store.write, shop.id))], [first]);

    // Unchanged records count as arrived too; no time ever moves back.
    await importAt(shop, '2026-11-20T13:00:00Z', [plan()]);
    await importAt(shop, '2026-11-20T12:30:00Z', [plan()]);
    const later = new Date('2026-11-20T13:00:00Z');
    const second = { ...first, arrivedAt: later, completedAt: later };
    assert.deepEqual([...(await listFeeds(store.write, shop.id))], [second]);
  });

  test('counts the records of a failed run as arrived, but not the run as complete', async () => {
    const shop = await createShop(store);
    const broken = importAt(shop, '2026-11-20T12:00:00Z', [plan(), plan({ id: 12 })], true);
    await assert.rejects(broken, /the source broke off/);
    const [feed] = await listFeeds(store.write, shop.id);
    assert.deepEqual(feed?.arrivedAt, new Date('2026-11-20T12:00:00Z'));
    assert.equal(feed?.completedAt, null);
  });

  test('is that of the least recently completed shop in a summary of all shops', async () => {
    const [one, other] = [await createShop(store), await createShop(store)];
    await importAt(one, '1999-11-20T12:00:00Z', [plan()]);
    await importAt(other, '1999-11-19T12:00:00Z', [plan()]);
    const lag = (await listFeedLags(store.write)).find(({ feed }) => feed === 'records');
    assert.ok((lag?.shops ?? 0) >= 2);
    assert.deepEqual(lag?.oldestCompletedAt, new Date('1999-11-19T12:00:00Z'));
  });
});
