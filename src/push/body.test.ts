import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FixedClock } from '../clock.ts';
import { readRows, Turns, outlineOf } from './body.ts';

const turns = new Turns(new FixedClock(0));
const read = async (text: string) => {
  const rows = await readRows(Buffer.from(text), turns);
  return 'refusal' in rows ? rows.refusal.status : rows;
};

test('reads objects from lines and arrays, and names what is none by its place', async () => {
  assert.deepEqual(await read('{"a":1}\n\n[2]\n{"a":\n3'), {
    rows: [{ number: 1, value: { a: 1 } }],
    refused: [
      { line: 3, reason: 'the line is not a JSON object' },
      { line: 4, reason: 'the line is not JSON' },
      { line: 5, reason: 'the line is not a JSON object' },
    ],
  });
  assert.deepEqual(await read('[\n"text",{"a":1},\n[2],null]'), {
    rows: [{ number: 2, value: { a: 1 } }],
    refused: [
      { line: 1, reason: 'record 1 is not a JSON object' },
      { line: 3, reason: 'record 3 is not a JSON object' },
      { line: 4, reason: 'record 4 is not a JSON object' },
    ],
  });
  assert.deepEqual(await read('{\n"a":1}'), {
    rows: [{ number: 1, value: { a: 1 } }],
    refused: [],
  });
});

test('refuses a body without records', async () => {
  for (const text of ['[]', '', ' \n']) assert.equal(await read(text), 400);
});

/** How often JSON is parsed while a body is read. */
async function countParses(t: TestContext, text: string) {
  const { mock } = t.mock.method(JSON, 'parse');
  const rows = await readRows(Buffer.from(text), turns);
  const count = mock.callCount();
  mock.restore();
  return { count, rows };
}

test('counts lines before it parses them', async (t) => {
  for (const line of ['x', '{', '{}', '1', '\r\nx']) {
    const { count, rows } = await countParses(t, `${line}\n`.repeat(1001));
    // As a whole at most, since it could be one document.
    assert.ok(count <= 1, line);
    assert.ok('refusal' in rows);
    assert.equal(rows.refusal.status, 413);
    assert.match(
      rows.refusal.body,
      /The body has more than 1000 records; send at most 1000 in one request\./,
    );
  }
  const { count, rows } = await countParses(t, `x\n\n`.repeat(1000));
  assert.equal(count, 1001);
  assert.ok('rows' in rows);
  assert.equal(rows.refused.at(-1)?.line, 1999);
});

test('counts the entries of an array before it parses them', async (t) => {
  assert.equal((await countParses(t, `[${'1,'.repeat(1000)}1]`)).count, 0);
  for (const entry of ['1', '{}', '[]']) {
    const list = (length: number) => `[${Array(length).fill(entry).join(',')}]`;
    assert.equal(await read(list(1001)), 413);
    assert.notEqual(await read(list(1000)), 413);
  }
});

test('parses nothing that is nested too deeply', async (t) => {
  const deep = '['.repeat(201) + ']'.repeat(201);
  const { count, rows } = await countParses(t, deep);
  assert.equal(count, 0);
  assert.ok('refusal' in rows);
  assert.match(rows.refusal.body, /begins as a JSON array, but is nested deeper than 200 levels\./);
  assert.deepEqual(await read(`{"a":1}\n{"b":${deep}}`), {
    rows: [{ number: 1, value: { a: 1 } }],
    refused: [{ line: 2, reason: 'the line is nested deeper than 200 levels' }],
  });
});

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
