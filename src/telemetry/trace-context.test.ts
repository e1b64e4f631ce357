import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTraceParent } from './trace-context.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

const valid: [header: string, isSampled: boolean][] = [
  [`00-${traceId}-${spanId}-01`, true],
  [`00-${traceId}-${spanId}-00`, false],
  [`00-${traceId}-${spanId}-03`, true],
  [`00-${traceId}-${spanId}-fe`, false],
  [`01-${traceId}-${spanId}-01`, true],
  [`cc-${traceId}-${spanId}-01-what-the-future-brings`, true],
];
for (const [header, isSampled] of valid) {
  test(`${header} is valid, ${isSampled ? 'sampled' : 'not sampled'}`, () => {
    assert.deepEqual(parseTraceParent(header), { traceId, spanId, isSampled });
  });
}

const invalid: (string | string[] | undefined)[] = [
  undefined,
  '',
  'x',
  [`00-${traceId}-${spanId}-01`],
  `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-`,
  `00-${traceId}-${spanId}-01-more`,
  `01-${traceId}-${spanId}-01more`,
  `00-${traceId}-${spanId}-0`,
  `00-${traceId}-${spanId}-0g`,
  `00-${traceId}-${spanId}`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `00-${traceId.slice(1)}-${spanId}-01`,
  `0-${traceId}-${spanId}-01`,
  ` 00-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01\n`,
  `00-${traceId.slice(0, 31)}"-${spanId}-01`,
];
for (const header of invalid) {
  test(`${JSON.stringify(header)} is invalid`, () => {
    assert.equal(parseTraceParent(header), undefined);
  });
}
