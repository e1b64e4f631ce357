import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownOrigins } from './origins.ts';

const origins = (baseUrl: string, address: string, port: number) => [
  ...ownOrigins(baseUrl, { address, port }),
];

test('accepts every local name with the service’s port on loopback', () => {
  const all = ['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787'];
  assert.deepEqual(origins('http://127.0.0.1:8787', '127.0.0.1', 8787), all);
  assert.deepEqual(origins('http://[::1]:8787', '::1', 8787).toSorted(), all.toSorted());
  assert.deepEqual(origins('https://api.example/x', '127.0.0.53', 8787), [
    'https://api.example',
    'http://localhost:8787',
    'http://127.0.0.1:8787',
    'http://[::1]:8787',
  ]);
});

test('omits the default port, as browsers do', () => {
  assert.deepEqual(origins('http://127.0.0.1:80', '127.0.0.1', 80), [
    'http://127.0.0.1',
    'http://localhost',
    'http://[::1]',
  ]);
});

test('accepts only the public URL if other machines can connect', () => {
  for (const address of ['0.0.0.0', '::', '192.168.1.5', '10.127.0.1', 'fe80::1']) {
    assert.deepEqual(origins('https://api.example', address, 8787), ['https://api.example']);
  }
});
