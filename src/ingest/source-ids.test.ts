import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveCustomerId, deriveId, isOpaqueId } from './source-ids.ts';

test('recognises only the documented formats of opaque ids', () => {
  const uuid = 'c6cd6c3e-5a0c-4c9b-8d5e-0f1a2b3c4d5e';
  const opaque: [kind: string, text: string][] = [
    ['customer', 'cus_NffrFeUfNV2Hib'],
    ['subscription', 'sub_1MowQVLkdIwHu7ixeRlqHVzs'],
    ['subscription', 'sub_sched_1Mr3YcLkdIwHu7ixjop3qtff'],
    ['customer', 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4'],
    ['payment', 'pi_3MtwBwLkdIwHu7ix28a3tqPa'],
    ['refund', 're_1Nispe2eZvKYlo2Cd31jOCgZ'],
    ['cancellation', uuid],
    ['plan', uuid.toUpperCase()],
    ['customer', 'gid://shopify/Customer/501'],
    ['subscription', `gid://shopify/SubscriptionLine/${uuid}`],
  ];
  assert.deepEqual(
    opaque.filter((each) => !isOpaqueId(...each)),
    [],
  );
  const others: [kind: string, text: string][] = [
    ...[
      'jane@example.com',
      'Jane Doe',
      'jane_doe',
      'mr_doe1985',
      'pro_maria',
      're_anna',
      'cus_jane@example.com',
      'cus_Jane Doe',
      'cus_',
      'cus_a_b',
      `cus_${'a'.repeat(101)}`,
      '+44 20 7946 0958',
      '501',
      uuid.replaceAll('-', ''),
      'gid://shopify/Customer/jane',
      'gid://shopify/Customer/501?name=jane',
      'https://example.com/cus_1',
      ' cus_1',
      'cus_1\n',
      'cus_1,cus_2',
      '',
    ].map((text): [string, string] => ['customer', text]),
    ['subscription', 'cus_1'],
    ['cancellation', 'sub_1'],
    ['product', 'prod_1'],
    ['toString', uuid],
  ];
  assert.deepEqual(
    others.filter((each) => isOpaqueId(...each)),
    [],
  );
});

test('derives ids by the documented formula: 2^52 + the first 52 bits of SHA-256 of KIND:TEXT', () => {
  // printf %s customer:cus_1 | sha256sum | cut -c 1-13
  assert.equal(deriveId('customer', 'cus_1'), 2 ** 52 + 0xd1994e727349c);
});

test('derives ids of addresses under a key: 2^52 + the first 52 bits of HMAC-SHA-256 of customer:ADDRESS', () => {
  const key = '0f'.repeat(32);
  // printf %s customer:ann@example.com | openssl dgst -sha256 -mac HMAC -macopt hexkey:0f0f…
  const id = 2 ** 52 + 0x718c8ac043f37;
  const spellings = [
    'mailto:ann@example.com',
    'Ann <ann@example.com>',
    '"A, B" <MAILTO:ann@example.com> ',
  ];
  for (const text of ['ann@example.com', ' Ann@Example.COM\t', ...spellings]) {
    assert.equal(deriveCustomerId(key, text), id, text);
  }
  for (const text of ['j\u00F6rg@example.com', 'JO\u0308RG@example.com']) {
    assert.equal(deriveCustomerId(key, text), 2 ** 52 + 0x3735bcd47c45d, text);
  }
  assert.notEqual(deriveCustomerId('0e'.repeat(32), 'ann@example.com'), id);
  assert.notEqual(deriveId('customer', 'ann@example.com'), id);
});
