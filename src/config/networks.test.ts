import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contains, isNetwork, networkProblem, splitNetworks } from './networks.ts';

const cases: readonly [network: string, address: string, isIn: boolean][] = [
  ['203.0.113.0/24', '203.0.113.255', true],
  ['203.0.113.0/24', '203.0.114.0', false],
  // Written with an address in it instead of the first one.
  ['203.0.113.77/24', '203.0.113.1', true],
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['203.0.113.0/24', '::ffff:203.0.113.9', true],
  ['203.0.113.0/24', '::ffff:cb00:7109', true],
  ['2001:db8:1::/48', '2001:db8:1:ffff::1', true],
  ['2001:DB8:1::/48', '2001:0db8:0001:0000::1', true],
  ['2001:db8:1::/48', '2001:db8:2::1', false],
  ['2001:db8::1', '2001:db8::1', true],
  ['2001:db8::1', '2001:db8::2', false],
  ['fe80::/10', 'fe80::1%eth0', true],
  ['203.0.113.0/24', '2001:db8::1', false],
  ['2001:db8::/32', '203.0.113.7', false],
  ['0.0.0.0/1', 'unknown', false],
  ['0.0.0.0/1', '', false],
];
for (const [network, address, isIn] of cases) {
  test(`${network} ${isIn ? 'contains' : 'does not contain'} "${address}"`, () => {
    assert.equal(isNetwork(network), true);
    assert.equal(contains([network], address), isIn);
    // Beside others.
    assert.equal(contains(['198.51.100.0/24', network, '2001:db8:9::/48'], address), isIn);
  });
}

test('typed networks are separated by commas, spaces and lines', () => {
  const typed = ' 203.0.113.0/24,2001:db8::/32\n\t198.51.100.7 ,203.0.113.0/24 ';
  const networks = ['203.0.113.0/24', '2001:db8::/32', '198.51.100.7'];
  assert.deepEqual(splitNetworks(typed), networks);
  assert.equal(networkProblem(typed), undefined);
});

test('nothing at all is no network, but commas alone are a mistake', () => {
  for (const typed of ['', ' \t']) {
    assert.deepEqual(splitNetworks(typed), []);
    assert.equal(networkProblem(typed), undefined);
  }
  for (const typed of [',', ',,,', ' , ']) {
    assert.match(networkProblem(typed) ?? '', /^Give a network such as 203\.0\.113\.0\/24/);
  }
});

for (const wrong of [
  '203.0.113.0/33',
  '203.0.113.0/',
  '203.0.113',
  '0.0.0.0/0',
  '::/0',
  '2001:db8::/129',
  'office',
  'fe80::1%eth0',
  '203.0.113.0/24/8',
]) {
  test(`${wrong} is no network`, () => {
    const problem = networkProblem(`198.51.100.7,${wrong}`);
    assert.ok(problem?.startsWith(`“${wrong}” is not an IP address or network`));
  });
}

test('a key may have at most 50 networks', () => {
  const networks = Array.from({ length: 51 }, (_, index) => `203.0.113.${index}`);
  assert.equal(networkProblem(networks.slice(1).join(',')), undefined);
  assert.equal(networkProblem(networks.join(',')), 'Give at most 50 networks.');
});
