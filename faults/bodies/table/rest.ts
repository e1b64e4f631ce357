import { type Body, bodiesOf } from '../body.ts';
import { sendHttp } from '../send.ts';
import { filled, lineBytes } from '../texts.ts';

const base = '/api/external/v1';

interface Get {
  readonly path: string;
  /** The key's by default. */
  readonly headers?: readonly string[];
}

const query = (path: string, part: string | ((index: number) => string), begin = '') => ({
  path: `${base}${path}?${filled(lineBytes, part, { begin, separator: '&' })}`,
});

const manyHeaders = Array.from({ length: 1_800 }, (_, index) => (index % 2 === 0 ? 'x' : ''));

export const restBodies: readonly Body[] = bodiesOf<Get>(
  'REST',
  async ({ baseUrl, key }, { path, headers = ['authorization', `Bearer ${key}`] }) =>
    (await sendHttp(baseUrl, { path, headers })).status,
  [
    ['a page of 100', [200], () => ({ path: `${base}/subscriptions?limit=100` })],
    ['the summary', [200], () => ({ path: `${base}/metrics/summary` })],
    ['thousands of plans', [200], () => ({ path: `${base}/plans` })],
    [
      'a customer of thousands of subscriptions',
      [200],
      () => ({ path: `${base}/entitlements?customerId=501` }),
    ],
    ['a subscription of 250 lines', [200], () => ({ path: `${base}/subscriptions/1` })],
    ['thousands of parameters', [200], () => query('/subscriptions', (index) => `a${index}`)],
    ['one parameter thousands of times', [400], () => query('/subscriptions', 'limit=1')],
    ['thousands of empty parameters', [200], () => query('/subscriptions', '')],
    ['an encoded value', [400], () => query('/subscriptions', '%41', 'status=')],
    ['broken percent signs', [200, 400], () => query('/subscriptions', '%', 'cursor')],
    ['a long cursor', [400], () => query('/subscriptions', 'A'.repeat(100), 'cursor=')],
    [
      'a long customer id',
      [200, 400],
      () => query('/entitlements', '9'.repeat(14_000), 'customerId='),
    ],
    [
      'a long subscription id',
      [404],
      () => ({ path: `${base}/subscriptions/${'9'.repeat(lineBytes)}` }),
    ],
    ['a long unknown path', [404], () => ({ path: `${base}${'/a'.repeat(lineBytes / 2)}` })],
    ['an encoded path', [404], () => ({ path: `${base}/${'%2F'.repeat(lineBytes / 3)}` })],
    [
      'a long key',
      [401],
      () => ({
        path: `${base}/plans`,
        headers: ['authorization', `Bearer ${'a'.repeat(lineBytes)}`],
      }),
    ],
    [
      'spaces before the key',
      [401],
      () => ({
        path: `${base}/plans`,
        headers: ['authorization', `Bearer${' '.repeat(lineBytes)}x y`],
      }),
    ],
    [
      'as many headers as there may be',
      [200],
      ({ key }) => ({
        path: `${base}/plans`,
        headers: ['authorization', `Bearer ${key}`, ...manyHeaders],
      }),
    ],
    [
      'a header that is too long',
      [431],
      () => ({ path: `${base}/plans`, headers: ['x', 'a'.repeat(17_000)] }),
    ],
  ],
);
