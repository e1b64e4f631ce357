import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type Row, Staging } from './staging.ts';

/** Texts of other bytes than characters, and some that are longer than what is read from disk at once. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.nat(9000).map((length) => 'é'.repeat(length)),
);

test('returns all rows by family, those of one family as they were added, however little is in memory', async () => {
  const row = fc.tuple(fc.integer({ min: 1, max: 9 }), text);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 60 }), fc.nat(40_000), async (pairs, bytes) => {
      const rows = pairs.map(([family, key], line): Row => [family, 0, 0, line, key, { key }]);
      const staging = new Staging(bytes);
      for (const each of rows) staging.add(each);
      const families = [...staging.families()];
      await staging.dispose();
      assert.deepEqual(
        families.flat(),
        rows.toSorted(([a], [b]) => a - b),
      );
      assert.equal(families.length, new Set(rows.map(([family]) => family)).size);
    }),
    { numRuns: 200 },
  );
});
