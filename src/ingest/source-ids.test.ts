import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveId, isOpaqueId } from './source-ids.ts';

test('recognises only the documented formats of opaque ids', () => {
  const opaque = [
    'cus_NffrFeUfNV2Hib',
    'sub_1MowQVLkdIwHu7ixeRlqHVzs',
    'sub_sched_1Mr3YcLkdIwHu7ixjop3qtff',
    'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
    'c6cd6c3e-5a0c-4c9b-8d5e-0f1a2b3c4d5e',
    'C6CD6C3E-5A0C-4C9B-8D5E-0F1A2B3C4D5E',
    'gid://shopify/Customer/501',
    'gid://shopify/SubscriptionLine/c6cd6c3e-5a0c-4c9b-8d5e-0f1a2b3c4d5e',
  ];
  assert.deepEqual(opaque.filter(isOpaqueId), opaque);
  const others = [
    'jane@example.com',
    'Jane Doe',
    'jane_doe',
    'mr_doe1985',
    'cus_jane@example.com',
    'cus_Jane Doe',
    'cus_',
    `cus_${'a'.repeat(101)}`,
    '+44 20 7946 0958',
    '501',
    'c6cd6c3e5a0c4c9b8d5e0f1a2b3c4d5e',
    'gid://shopify/Customer/jane',
    'gid://shopify/Customer/501?name=jane',
    'https://example.com/cus_1',
    ' cus_1',
    'cus_1\n',
    'cus_1,cus_2',
    '',
  ];
  assert.deepEqual(others.filter(isOpaqueId), []);
});

test('derives ids by the documented formula: 2^52 + the first 52 bits of SHA-256 of KIND:TEXT', () => {
  // printf %s customer:cus_1 | sha256sum | cut -c 1-13
  assert.equal(deriveId('customer', 'cus_1'), 2 ** 52 + 0xd1994e727349c);
});
