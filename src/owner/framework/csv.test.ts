import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Shop } from '../../store/shops.ts';
import { type Cell, csvFile, pagedRows } from './csv.ts';

const shop = { id: 7, name: 'Käffee & "Kuchen"' } as Shop;
const now = Date.parse('2026-11-20T12:00:00Z');

/** With the byte order mark, which decoders leave out. */
const text = async (body: Readable) => (await buffer(body)).toString('utf8');

function fileOf(rows: readonly (readonly Cell[])[], name = shop.name) {
  async function* pages() {
    yield rows;
  }
  const heads = ['One', 'Two'];
  return csvFile({ shop: { ...shop, name }, noun: 'things', now, heads, rows: pages() });
}

test('quotes what would break a line, and leaves numbers as they are', async () => {
  const { body } = fileOf([
    ['a "b"', 'c,d'],
    ['e\nf', null],
    [-1.5, 1e15],
    ['g;h', 'i\tj'],
  ]);
  assert.equal(
    await text(body),
    '\uFEFFOne,Two\r\n"a ""b""","c,d"\r\n"e\nf",\r\n-1.5,1000000000000000\r\n"g;h","i\tj"\r\n',
  );
});

test('defuses text that a spreadsheet would run', async () => {
  for (const [cell, shown] of [
    ['=1+1', "'=1+1"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['  =1', "'  =1"],
    ['\t=1', `"'\t=1"`],
    ['\tx', `"'\tx"`],
    ['\rx', `"'\rx"`],
    ['\nx', `"'\nx"`],
    ['=1;2', `"'=1;2"`],
    ['a;=1', '"a;=1"'],
    ['＝1', "'＝1"],
    ['a=1', 'a=1'],
  ] as const) {
    const { body } = fileOf([[cell, 'x']]);
    assert.equal(await text(body), `\uFEFFOne,Two\r\n${shown},x\r\n`);
  }
});

test('names the file after the shop, what is in it and the day', () => {
  for (const [name, slug] of [
    [shop.name, 'kaffee-kuchen'],
    ['"; filename=evil.exe\r\n', 'filename-evil-exe'],
    ['コーヒー', 'shop-7'],
  ] as const) {
    assert.equal(
      fileOf([], name).headers['content-disposition'],
      `attachment; filename="${slug}-things-2026-11-20.csv"`,
    );
  }
});

test('reads the first page at once, and each other once the one before was taken', async () => {
  const read: (string | undefined)[] = [];
  const pages = await pagedRows(
    async (after?: string) => {
      read.push(after);
      return { after, next: after === undefined ? 'b' : after === 'b' ? 'c' : undefined };
    },
    ({ after }) => [[after ?? 'a']],
  );
  assert.deepEqual(read, [undefined]);
  const rows = pages[Symbol.asyncIterator]();
  assert.deepEqual((await rows.next()).value, [['a']]);
  assert.deepEqual(read, [undefined]);
  assert.deepEqual((await rows.next()).value, [['b']]);
  await rows.return?.();
  assert.deepEqual(read, [undefined, 'b']);
});
