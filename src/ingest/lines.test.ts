import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstOwnNumber } from '../own-number.ts';
import { type Line, readLines, recordNameOf } from './lines.ts';

const limit = 4 * 1024 * 1024;

async function linesOf(...chunks: (string | Uint8Array)[]): Promise<Line[]> {
  async function* stream() {
    for (const chunk of chunks) yield Buffer.from(chunk as string);
  }
  const lines: Line[] = [];
  for await (const chunk of readLines(stream())) lines.push(...chunk);
  return lines;
}

test('numbers lines as editors do: skips blank lines, but counts them', async () => {
  assert.deepEqual(await linesOf('a\n\nb\n \t\r\nc'), [
    { number: 1, text: 'a' },
    { number: 3, text: 'b' },
    { number: 5, text: 'c' },
  ]);
});

test('accepts CRLF, a byte order mark, and a last line without a line end', async () => {
  const expected = [
    { number: 1, text: 'a' },
    { number: 2, text: 'b' },
  ];
  assert.deepEqual(await linesOf('a\nb'), expected);
  assert.deepEqual(await linesOf('a\nb\n'), expected);
  assert.deepEqual(await linesOf('a\r\nb\r\n'), expected);
  assert.deepEqual(await linesOf('\ufeffa\n b '), expected);
});

test('empty input has no lines', async () => {
  assert.deepEqual(await linesOf(), []);
  assert.deepEqual(await linesOf(''), []);
  assert.deepEqual(await linesOf('\n\r\n\n'), []);
});

test('returns the same lines however the bytes are chunked', async () => {
  const bytes = Buffer.from('{"a":"€"}\n{"b":"😀"}\n\n{"c":"é"}');
  const whole = await linesOf(bytes);
  assert.deepEqual(
    whole.map(({ number, text }) => [number, text]),
    [
      [1, '{"a":"€"}'],
      [2, '{"b":"😀"}'],
      [4, '{"c":"é"}'],
    ],
  );
  for (let size = 1; size <= 5; size += 1) {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
    assert.deepEqual(await linesOf(...pieces), whole, `chunks of ${size}`);
  }
});

test('invalid UTF-8 affects only its own line', async () => {
  const lines = await linesOf('a\n', Uint8Array.of(0x62, 0xff, 0x0a), 'c\n');
  assert.deepEqual(lines, [
    { number: 1, text: 'a' },
    { number: 2, text: 'b\ufffd', problem: 'the line is not UTF-8' },
    { number: 3, text: 'c' },
  ]);
  // A character that is split by a line end.
  const cut = await linesOf(Uint8Array.of(0xe2, 0x82, 0x0a, 0xac));
  assert.deepEqual(
    cut.map(({ problem }) => problem),
    ['the line is not UTF-8', 'the line is not UTF-8'],
  );
});

test('reads lines of up to 4 MiB, and reports longer ones, however chunked', async () => {
  const [longest] = await linesOf('x'.repeat(limit), '\n');
  assert.deepEqual([longest?.text.length, longest?.problem], [limit, undefined]);

  const tooLong = {
    number: 1,
    text: 'x'.repeat(1000),
    problem: 'the line is longer than 4194304 bytes',
  };
  const next = { number: 2, text: 'y' };
  const mebibyte = 'x'.repeat(1024 * 1024);
  assert.deepEqual(await linesOf(`${'x'.repeat(limit + 1)}\ny`), [tooLong, next]);
  assert.deepEqual(await linesOf('x'.repeat(limit), 'x\ny'), [tooLong, next]);
  assert.deepEqual(await linesOf(...Array.from({ length: 20 }, () => mebibyte), '\n', 'y'), [
    tooLong,
    next,
  ]);
  assert.deepEqual(await linesOf('x'.repeat(limit + 1)), [tooLong]);
});

test('yields the lines before a stream error, then throws it', async () => {
  async function* broken() {
    yield Buffer.from('a\nb\nc');
    throw new Error('broken');
  }
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const chunk of readLines(broken())) seen.push(...chunk.map(({ text }) => text));
  }, /broken/);
  assert.deepEqual(seen, ['a', 'b']);
});

test('names a record by an id that the file has, never by a number derived from it', () => {
  const line = { number: 3, text: '' };
  const record = { type: 'subscription', id: firstOwnNumber } as const;
  assert.equal(recordNameOf(line, record), undefined);
  assert.equal(recordNameOf({ ...line, sourceId: 'sub_1' }, record), 'subscription sub_1');
  assert.equal(recordNameOf(line, { ...record, id: 1001 }), 'subscription 1001');
});
