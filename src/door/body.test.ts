import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from './body.ts';

const read = (text: string) => {
  const rows = readRows(Buffer.from(text));
  return 'refusal' in rows ? rows.refusal.status : rows;
};

test('reads objects from lines and arrays, and names what is none by its place', () => {
  assert.deepEqual(read('{"a":1}\n\n[2]\n{"a":\n3'), {
    rows: [{ number: 1, value: { a: 1 } }],
    refused: [
      { line: 3, reason: 'the line is not a JSON object' },
      { line: 4, reason: 'the line is not JSON' },
      { line: 5, reason: 'the line is not a JSON object' },
    ],
  });
  assert.deepEqual(read('[\n"text",{"a":1},\n[2],null]'), {
    rows: [{ number: 2, value: { a: 1 } }],
    refused: [
      { line: 1, reason: 'record 1 is not a JSON object' },
      { line: 3, reason: 'record 3 is not a JSON object' },
      { line: 4, reason: 'record 4 is not a JSON object' },
    ],
  });
  assert.deepEqual(read('{\n"a":1}'), { rows: [{ number: 1, value: { a: 1 } }], refused: [] });
});

test('refuses a body without records', () => {
  for (const text of ['[]', '', ' \n']) assert.equal(read(text), 400);
});
