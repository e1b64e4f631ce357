import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditNetwork, clientNetwork } from './client-network.ts';

const networks: [ip: string | undefined, network: string][] = [
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:51234', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:0001:2::1', '2001:db8:1:2'],
  ['[2001:db8:1:2::1]:51234', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['2001:db8:1:3::1', '2001:db8:1:3'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['203.0.113', 'unknown'],
  [undefined, 'unknown'],
];
for (const [ip, network] of networks) {
  test(`${ip} counts as ${network}`, () => assert.equal(clientNetwork(ip), network));
}

const recorded: [client: string, network: string | null][] = [
  ['203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2', '2001:db8:1::/48'],
  ['0:0:0:0', '0:0:0::/48'],
  ['unknown', null],
];
for (const [client, network] of recorded) {
  test(`of ${client}, ${network} is recorded`, () => assert.equal(auditNetwork(client), network));
}
