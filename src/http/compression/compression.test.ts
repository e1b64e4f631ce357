import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { compress, encodingFor } from './compression.ts';
import { prepareAnswer } from './prepared.ts';

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
