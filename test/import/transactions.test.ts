import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { importRecords } from '../../src/ingest/import.ts';
import type { Line } from '../../src/ingest/lines.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, silentLog } from '../support/world.ts';

const lines = Array.from({ length: 9000 }, (_, index): Line => {
  const deletion = { type: 'delete', record: 'plan', id: index + 1 };
  return { number: index + 1, text: JSON.stringify(deletion) };
});

async function* inChunks() {
  for (let at = 0; at < lines.length; at += 500) yield lines.slice(at, at + 500);
}

onOneDatabase('transactions of an import', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  /** @param milliseconds that pass whenever the time is read @returns how many lines each transaction had */
  async function importWith(milliseconds: number): Promise<number[]> {
    let elapsed = 0;
    const clock: Clock = { ...systemClock, monotonic: () => (elapsed += milliseconds) };
    const settled = [0];
    await importRecords([{ name: 'test', lines: inChunks() }], {
      sql: store.write,
      shop: await createShop(store),
      feed: 'file',
      clock,
      log: silentLog,
      linesPerTransaction: 4000,
      refuse() {},
      progress: (count) => void settled.push(count),
    });
    return settled.slice(1).map((count, index) => count - (settled[index] ?? 0));
  }

  test('have fewer lines on a slow database, so that others who write come between', async () => {
    const slow = await importWith(2000);
    assert.deepEqual(slow, Array(9).fill(1000));
    const fast = await importWith(1);
    assert.equal(fast[0], 1000);
    assert.equal(Math.max(...fast), 4000);
  });
});
