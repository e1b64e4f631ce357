import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeCounts } from './report.ts';

test('says whether an import without records had none, or was stopped before them', () => {
  assert.equal(describeCounts({}), 'There was nothing to import.');
  assert.equal(describeCounts({}, true), 'Nothing was imported yet.');
});
