import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedAddress } from './visit.ts';

test('attempts count by the IPv4 address, and by the first 64 bits of an IPv6 one', () => {
  const counted = {
    '203.0.113.7': '203.0.113.7',
    '::ffff:203.0.113.7': '203.0.113.7',
    '2001:db8:0:7::1': '2001:db8:0:7',
    '2001:0DB8::7:ffff:0:0:2': '2001:db8:0:7',
    '2001:db8:0:8::1': '2001:db8:0:8',
    '2001:db8::': '2001:db8:0:0',
    '::1': '0:0:0:0',
    'fe80::1%eth0': 'fe80:0:0:0',
  };
  for (const [ip, expected] of Object.entries(counted)) assert.equal(countedAddress(ip), expected);
});
