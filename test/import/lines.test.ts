import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock, systemClock } from '../../src/clock.ts';
import { importRecords } from '../../src/ingest/import.ts';
import { readLines } from '../../src/ingest/lines.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, now, silentLog } from '../support/world.ts';

async function* chunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

onOneDatabase('lines of a source', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('are refused one by one if they cannot be read; those around them are stored', async () => {
    const shop = await createShop(store);
    const bytes = Buffer.concat([
      Buffer.from(`\ufeff${JSON.stringify(plan())}\r\n\n`),
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      Buffer.from([0xc0, 0xaf, 0x0a]),
      Buffer.from([0xed, 0xa0, 0x80, 0x0a]),
      Buffer.from(`${'x'.repeat(4 * 1024 * 1024 + 1)}\n`),
      Buffer.from(JSON.stringify(plan({ id: 12 }))),
    ]);
    const refused: [line: number, reason: string][] = [];
    const counts = await importRecords([{ name: 'test', lines: readLines(chunks(bytes)) }], {
      sql: store.write,
      shop,
      feed: 'records',
      clock: systemClock,
      log: silentLog,
      refuse: (_source, { number }, reason) => void refused.push([number, reason]),
    });
    assert.deepEqual(refused, [
      [3, 'the line is not UTF-8'],
      [4, 'the line is not UTF-8'],
      [5, 'the line is not UTF-8'],
      [6, 'the line is longer than 4194304 bytes'],
    ]);
    assert.deepEqual(counts, {
      unknown: { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 4 },
      plan: { stored: 2, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 },
    });
  });

  test('may name the file they come from, and the type they count as', async () => {
    const shop = await createShop(store);
    async function* source() {
      yield [
        { source: 'b', number: 7, text: JSON.stringify({ ...plan(), name: '' }) },
        { source: 'a', number: 3, text: 'x', problem: 'is wrong', countsAs: 'line' },
        { number: 9, text: JSON.stringify(subscription(1, { planId: 404 })), source: 'c' },
      ];
    }
    const refused: string[] = [];
    const counts = await importRecords([{ name: 'all', lines: source() }], {
      sql: store.write,
      shop,
      feed: 'records',
      clock: new FixedClock(now),
      log: silentLog,
      refuse: (file, { number }, reason) => void refused.push(`${file}:${number}: ${reason}`),
    });
    assert.deepEqual(refused, [
      'b:7: name must not be empty',
      'a:3: is wrong',
      'c:9: plan 404 is not known',
    ]);
    assert.deepEqual(Object.keys(counts), ['plan', 'line', 'subscription']);
  });
});
