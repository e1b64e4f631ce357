import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepts } from './accepts.ts';

test('finds a name in a list, whatever its case, place and quality', () => {
  for (const header of ['br', 'gzip, br', 'gzip;q=0.5 , BR;q=0.1', 'br;q=1', 'br; q=0.001']) {
    assert.equal(accepts(header, 'br'), true, header);
  }
});

test('does not find what is missing, refused or only similar', () => {
  for (const header of [undefined, '', 'gzip', 'br;q=0', 'gzip, br; q=0.000', 'brotli', '*']) {
    assert.equal(accepts(header, 'br'), false, String(header));
  }
});
