import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCsv } from '../../../src/mapping/csv.ts';
import { readJsonList } from '../../../src/mapping/json-list.ts';
import type { Row } from '../../../src/mapping/rows.ts';

/** The bytes in pieces of some size, so that every place is once a border. */
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

const csv = { delimiter: ',', quote: '"', header: true } as const;
const read = (content: string | Buffer, format: object = {}, size?: number, columns = ['a', 'b']) =>
  show(readCsv('f.csv', pieces(content, size), { ...csv, ...format }, columns), columns);

test('CSV: quotes, delimiters and lines inside of values, blank lines, however the file is cut', async () => {
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

test('CSV: other delimiters and quotes, and files that do not name their columns', async () => {
  assert.deepEqual(await read("a;b\n'1;2';3\n", { delimiter: ';', quote: "'" }), [[2, '1;2', '3']]);
  assert.deepEqual(await read('1\t2\n', { delimiter: '\t', header: ['a', 'b'] }), [[1, '1', '2']]);
  assert.deepEqual(await read(''), []);
  assert.deepEqual(await read('a,b\n'), []);
});

test('CSV: a row with too few or too many values, and one that is not UTF-8', async () => {
  const problem = (count: number) =>
    `the row has ${count} values, and there are 2 columns; is a value with a delimiter in it not quoted?`;
  assert.deepEqual(await read('a,b\n1\n2,3\n4,5,6\n'), [
    [2, problem(1)],
    [3, '2', '3'],
    [4, problem(3)],
  ]);
  const latin = Buffer.from('a,b\n1,Zo\xeb\n', 'latin1');
  await assert.rejects(read(latin), TypeError);
  assert.deepEqual(await read(latin, {}, 10, ['a']), [[2, '1']]);
});

test('CSV: a missing column, one that is there twice, and a quote that does not end', async () => {
  const fails = (content: string, message: string) =>
    assert.rejects(read(content), { name: 'CommandError', message });
  await fails(
    'a,c\n1,2\n',
    'f.csv has no column "b", which the mapping names. Its columns are "a", "c".',
  );
  await fails(
    'Plantedfirst,5\n',
    'f.csv has no column "a", "b", which the mapping names. Is its first row the names of the columns? Else name them in input.header.',
  );
  await fails('a,b,a\n', 'f.csv has more than one column "a"; give each its own name.');
  const endless = (line: number) =>
    `f.csv:${line}: a row begins here that does not end; is a quote missing, or the mapping's quote another one? Records from before it may be stored.`;
  await fails('a,b\n1,2\n3,"4\n5,6\n', endless(3));
  const rows = readCsv('f.csv', pieces('a,b\n1,2\n3,"4'), csv, ['a']);
  assert.equal((await rows.next()).value?.length, 1);
  await assert.rejects(rows.next(), { message: endless(3) });
  // Far more than a row may have: it is not read to the end of the file.
  await fails(`a,b\n1,2\n3,"${'x\n'.repeat(6_000_000)}`, endless(3));
});

const list = (content: string, path: readonly string[] = [], size?: number) =>
  show(readJsonList('f.json', pieces(content, size), path), ['id', 'at.0.name']);

test('JSON: the entries of a list wherever it is, by their lines, however the file is cut', async () => {
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

test('JSON: no such list, or one that does not end', async () => {
  await assert.rejects(list('{"items":[]}', ['data']), {
    name: 'CommandError',
    message: 'f.json has no such list. The mapping names data.',
  });
  await assert.rejects(list('{"data":[]}'), {
    message: 'f.json has no such list. It must be a list itself.',
  });
  await assert.rejects(list('[{"id":1},{"id"'), {
    message:
      'f.json ends before its list does. Records from before the break may be stored; import the whole file again.',
  });
  await assert.rejects(list(`[{"id":"${'x'.repeat(5_000_000)}`), {
    message:
      'f.json:1: an entry begins here that is longer than 4194304 bytes. Records from before it may be stored.',
  });
});
