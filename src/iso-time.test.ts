import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isoTime } from './iso-time.ts';

test('is what Date makes of it', () => {
  const [min, max] = [-8.64e15, 8.64e15];
  fc.assert(
    fc.property(fc.oneof(fc.integer({ min, max }), fc.integer({ min: 0, max: 4e12 })), (at) => {
      assert.equal(isoTime(at), new Date(at).toISOString());
    }),
    { examples: [[0], [-1], [86_399_999], [86_400_000], [min], [max]], numRuns: 20_000 },
  );
});
