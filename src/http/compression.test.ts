import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { compress, encodingFor, prepareAnswer, accepts, prefersPage } from './compression.ts';

const accepting = (value?: string) => ({
  headers: value === undefined ? {} : { 'accept-encoding': value },
});
const answer = { status: 200, headers: { 'content-type': 'text/css' }, body: 'a{}'.repeat(1000) };

test('chooses an encoding that the client names, Brotli first', () => {
  for (const [header, expected] of [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate, compress', undefined],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br; q=0.000 , gzip;q=0.001', 'gzip'],
    ['gzip;q=0', undefined],
    ['brotli', undefined],
  ] as const) {
    assert.equal(encodingFor(accepting(header)), expected, String(header));
  }
});

test('compresses what the client can read, and says what the answer depends on', async () => {
  const prepared = prepareAnswer(answer.headers, answer.body);
  for (const shrink of [
    prepared,
    (request: ReturnType<typeof accepting>) => compress(request, answer),
  ]) {
    const br = await shrink(accepting('br'));
    assert.equal(brotliDecompressSync(br.body as Buffer).toString(), answer.body);
    const gzipped = await shrink(accepting('gzip'));
    assert.equal(gunzipSync(gzipped.body as Buffer).toString(), answer.body);
    const plain = await shrink(accepting());
    assert.equal(plain.body, answer.body);
    assert.deepEqual(
      [br, gzipped, plain].map(({ headers }) => [headers['content-encoding'], headers['vary']]),
      [
        ['br', 'accept-encoding'],
        ['gzip', 'accept-encoding'],
        [undefined, 'accept-encoding'],
      ],
    );
  }
  assert.equal(prepared(accepting('br')).body, prepared(accepting('br')).body);
});

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
