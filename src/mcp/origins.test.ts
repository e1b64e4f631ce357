import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownOrigins } from './origins.ts';

const origins = (baseUrl: string, address: string, port: number) => [
  ...ownOrigins(baseUrl, { address, port }),
];

test('on loopback, every local name with the own port is its own', () => {
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

test('browsers leave the standard port out', () => {
  assert.deepEqual(origins('http://127.0.0.1:80', '127.0.0.1', 80), [
    'http://127.0.0.1',
    'http://localhost',
    'http://[::1]',
  ]);
});

test('where others reach it, only the public address is its own', () => {
  for (const address of ['0.0.0.0', '::', '192.168.1.5', '10.127.0.1', 'fe80::1']) {
    assert.deepEqual(origins('https://api.example', address, 8787), ['https://api.example']);
  }
});
