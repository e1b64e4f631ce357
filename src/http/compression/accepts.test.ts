import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepts, prefersPage } from './accepts.ts';

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

test('browsers prefer a page, programs JSON', () => {
  for (const [header, isPage] of [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['application/json;q=0.9, text/html', true],
    ['text/html;q=0.5, application/json;q=0.5', false],
    ['text/html;q=0.9, application/json', false],
    ['application/json, text/plain, */*', false],
    ['text/html;q=0', false],
    ['*/*', false],
    [undefined, false],
  ] as const) {
    assert.equal(prefersPage(header), isPage, String(header));
  }
});
