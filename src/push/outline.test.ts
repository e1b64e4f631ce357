import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outlineOf } from './outline.ts';

test('counts the entries of the outermost list, and stops at texts that are too deep', () => {
  const cases: [text: string, commas: number, isTooDeep?: boolean][] = [
    ['', 0],
    ['1', 0],
    ['[]', 0],
    ['[1,2,3]', 2],
    ['[[1,2],{"a":1,"b":2}]', 1],
    [String.raw`["a,b","\",","\\","[[["]`, 3],
    ['["not closed,', 0],
    ['{"a":1,"b":[1,2]}', 1],
    [`${'['.repeat(200)}${']'.repeat(200)}`, 0],
    [`${'['.repeat(201)}${']'.repeat(201)}`, 0, true],
    [`[1,${'{"a":'.repeat(200)}`, 1, true],
    [`["${'['.repeat(300)}"]`, 0],
    ['[]'.repeat(300), 0],
  ];
  for (const [text, commas, isTooDeep = false] of cases) {
    assert.deepEqual(outlineOf(text), { isTooDeep, commas }, text);
  }
});
