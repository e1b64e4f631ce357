import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCsv } from '../../../src/mapping/csv.ts';
import { readJsonList } from '../../../src/mapping/json-list.ts';
import type { Row } from '../../../src/mapping/rows.ts';

/** The bytes in chunks of one size, so that chunk borders can fall anywhere. */
async function* pieces(content: string | Buffer, size = 1_000_000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function show(rows: AsyncIterable<Row[]>, columns: readonly string[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const some of rows) {
    for (const row of some) {
      found.push([
        row.line,
        ...('problem' in row ? [row.problem] : columns.map((column) => row.values.get(column))),
      ]);
    }
  }
  return found;
}

const csv = { delimiter: ',', quote: '"', header: true, skipLines: 0 } as const;
const read = (content: string | Buffer, format: object = {}, size?: number, columns = ['a', 'b']) =>
  show(readCsv('f.csv', pieces(content, size), { ...csv, ...format }, columns), columns);

test('CSV: reads quotes, delimiters and line breaks in values, in chunks of any size', async () => {
  const lines = ['a,b,c', '1,"x, ""y""",', '"2', '', '2","z', '3"', '', '', ' 4 ,5" disc,'];
  const expected = (end: string) => [
    [2, '1', 'x, "y"'],
    [3, `2${end}${end}2`, `z${end}3`],
    [9, ' 4 ', '5" disc'],
  ];
  for (const end of ['\n', '\r\n']) {
    const text = lines.join(end).replace(`"z${end}3"`, `"z${end}3",`);
    for (const content of [text, `\uFEFF${text}`, `${text}${end}`]) {
      for (const size of [1, 2, 3, 7, 1000]) {
        assert.deepEqual(await read(content, {}, size), expected(end));
      }
    }
  }
});

test('CSV: reads other delimiters and quotes, and files without a header', async () => {
  assert.deepEqual(await read("a;b\n'1;2';3\n", { delimiter: ';', quote: "'" }), [[2, '1;2', '3']]);
  assert.deepEqual(await read('1\t2\n', { delimiter: '\t', header: ['a', 'b'] }), [[1, '1', '2']]);
  assert.deepEqual(await read(''), []);
  assert.deepEqual(await read('a,b\n'), []);
});

test('CSV: leaves out lines above the table and one for Excel, in chunks of any size', async () => {
  const table = 'a,b\n1,2\n,\n3,4\n';
  const rows = (above: number) => [
    [above + 2, '1', '2'],
    [above + 4, '3', '4'],
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    const skipping = (skipLines: number, above: string) =>
      read(`${above}${table}`, { skipLines }, size);
    assert.deepEqual(await skipping(0, 'sep=,\r\n'), rows(1));
    assert.deepEqual(await skipping(1, '\uFEFFsep=,\n'), rows(1));
    assert.deepEqual(await skipping(3, 'sep=,\nA "title\n\n'), rows(3));
    assert.deepEqual(await skipping(2, `${'x'.repeat(50)}\n"y\n`), rows(2));
    assert.deepEqual(await skipping(9, ''), []);
  }
  // More than a row may have.
  assert.deepEqual(
    await read(`${'x'.repeat(5_000_000)}\n${table}`, { skipLines: 1 }, 60_000),
    rows(1),
  );
});

test('CSV: reports rows with too few or too many values, and refuses invalid UTF-8', async () => {
  const problem = (count: number) =>
    `the row has ${count} values, but there are 2 columns; does an unquoted value contain the delimiter?`;
  assert.deepEqual(await read('a,b\n1\n2,3\n4,5,6\n'), [
    [2, problem(1)],
    [3, '2', '3'],
    [4, problem(3)],
  ]);
  const latin = Buffer.from('a,b\n1,Zo\xeb\n', 'latin1');
  await assert.rejects(read(latin), TypeError);
  assert.deepEqual(await read(latin, {}, 10, ['a']), [[2, '1']]);
});

test('CSV: fails for a missing or duplicate column, and for an unclosed quote', async () => {
  const fails = (content: string, message: string) =>
    assert.rejects(read(content), { name: 'CommandError', message });
  await fails(
    'a,c\n1,2\n',
    'f.csv has no column "b", which the mapping names. Its columns are "a", "c".',
  );
  await fails(
    'Plantedfirst,5\n',
    'f.csv has no column "a", "b", which the mapping names. If its first row does not name the columns, list them in input.header.',
  );
  await fails('a,b,a\n', 'f.csv has more than one column "a"; give each its own name.');
  const endless = (line: number) =>
    `f.csv:${line}: the row that starts here does not end; is a closing quote missing, or another character used for quotes? Earlier records may have been stored.`;
  await fails('a,b\n1,2\n3,"4\n5,6\n', endless(3));
  const rows = readCsv('f.csv', pieces('a,b\n1,2\n3,"4'), csv, ['a']);
  assert.equal((await rows.next()).value?.length, 1);
  await assert.rejects(rows.next(), { message: endless(3) });
  const wide = `a${',x'.repeat(1_048_575)}\n1\n`;
  await fails(
    wide,
    'f.csv has 1,048,576 columns, and at most 20,000 are read; is the delimiter right?',
  );
  await fails(
    `${Array.from({ length: 300 }, (_, index) => `c${index}`).join(',')},a\n`,
    `f.csv has no column "b", which the mapping names. Its columns are ${Array.from({ length: 50 }, (_, index) => `"c${index}"`).join(', ')}, and others.`,
  );
  // Far longer than a row may be: reading stops before the end of the file.
  await fails(
    `a,b\n1,2\n3,"${'x\n'.repeat(6_000_000)}`,
    'f.csv:3: the row that starts here is longer than 4194304 bytes; if it should not be, a closing quote is missing, or another character is used for quotes. Earlier records may have been stored.',
  );
});

const list = (content: string, path: readonly string[] = [], size?: number) =>
  show(readJsonList('f.json', pieces(content, size), path), ['id', 'at.0.name']);

test('JSON: reads a list at any path, with line numbers, in chunks of any size', async () => {
  const document = `{ "note": "a [ \\" { b", "other": [{"data": [9]}], "page": {"data": 1, "x": []},
  "data": { "data": [
    {"id": 1, "at": [{"name": "x]"}]},
    {"id": "two",
     "at": []}, 3,

    {"id": null}, {bad}
  ] }, "after": [4] }`;
  const expected = [
    [3, 1, 'x]'],
    [4, 'two', undefined],
    [5, 'is not a JSON object'],
    [7, null, undefined],
    [7, 'is not JSON'],
  ];
  for (const size of [1, 2, 5, 17, 1000]) {
    assert.deepEqual(await list(document, ['data', 'data'], size), expected);
  }
  assert.deepEqual(await list('[{"id":1}\n,{"id":2}]'), [
    [1, 1, undefined],
    [2, 2, undefined],
  ]);
  assert.deepEqual(await list('[]'), []);
});

test('JSON: fails for a missing list, and for one that does not end', async () => {
  await assert.rejects(list('{"items":[]}', ['data']), {
    name: 'CommandError',
    message: 'f.json has no list data, which the mapping names.',
  });
  await assert.rejects(list('{"data":[]}'), {
    message: 'f.json is not a list. If the list is inside it, name its path in input.list.',
  });
  await assert.rejects(list('[{"id":1},{"id"'), {
    message:
      'f.json ends inside the list. Earlier records may have been stored; import the whole file again.',
  });
  await assert.rejects(list(`[{"id":"${'x'.repeat(5_000_000)}`), {
    message:
      'f.json:1: the entry that starts here is longer than 4194304 bytes. Earlier records may have been stored.',
  });
  // Brackets are counted, not kept: these would be too many for one array.
  async function* brackets() {
    const chunk = Buffer.alloc(1_000_000, '[');
    for (let count = 0; count < 140; count += 1) yield chunk;
  }
  await assert.rejects(show(readJsonList('f.json', brackets(), ['data']), []), {
    message: 'f.json has no list data, which the mapping names.',
  });
  await assert.rejects(list('{"data":'.repeat(1_000_000), ['data', 'data']), {
    message: 'f.json has no list data.data, which the mapping names.',
  });
  const deep = `{"a":${'['.repeat(1000)}${']'.repeat(1000)},"data":[{"id":1}]}`;
  assert.deepEqual(await list(`]}${deep}`, ['data']), [[1, 1, undefined]]);
});
