import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createLog } from '../log/log.ts';
import { createShell } from './shell.ts';
import { trustProxy } from './trusted-proxies.ts';

/** The protocol, host and address that the service sees for a request from loopback. */
async function seenAs(
  trustedProxies: readonly string[] | number,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const app = createShell({
    log: createLog('silent'),
    trustedProxies,
    routes: [
      {
        method: 'GET',
        url: '/',
        handle: ({ ip, protocol, host }) => ({
          status: 200,
          headers: {},
          body: `${protocol}://${host} ${ip}`,
        }),
      },
    ],
    unrouted: (_path, answer) => answer,
  });
  try {
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers });
    return (await response.text()).replace(String(port), 'PORT');
  } finally {
    await app.close();
  }
}

const forwarded = {
  'x-forwarded-for': '198.51.100.1, 203.0.113.7, 10.0.0.5',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'retention.example',
};
const direct = 'http://127.0.0.1:PORT 127.0.0.1';

const cases: [what: string, trusted: readonly string[] | number, seen: string][] = [
  ['no proxy', [], direct],
  ['zero hops', 0, direct],
  ['another proxy', ['192.0.2.1', '2001:db8::/32'], direct],
  ['one hop', 1, 'https://retention.example 10.0.0.5'],
  ['two hops', 2, 'https://retention.example 203.0.113.7'],
  ['more hops than there are', 9, 'https://retention.example 198.51.100.1'],
  ['the nearest proxy', ['127.0.0.1'], 'https://retention.example 10.0.0.5'],
  ['both proxies', ['127.0.0.0/8', '10.0.0.0/8'], 'https://retention.example 203.0.113.7'],
];
for (const [what, trusted, seen] of cases) {
  test(`sees ${seen} if it trusts ${what}`, async () => {
    assert.equal(await seenAs(trusted, forwarded), seen);
    assert.equal(await seenAs(trusted, {}), direct);
  });
}

test('counts hops only if the peer is in a private network', () => {
  const trusts = trustProxy(2) as (address: string, hop: number) => boolean;
  for (const peer of [
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '::ffff:172.16.0.1',
    '192.168.1.1',
    'fd00::1',
  ]) {
    assert.ok(trusts(peer, 0), peer);
  }
  for (const peer of ['203.0.113.7', '::ffff:203.0.113.7', '172.32.0.1', '2001:db8::1', '']) {
    assert.ok(!trusts(peer, 0), peer);
  }
  assert.ok(trusts('203.0.113.7', 1));
  assert.ok(!trusts('10.0.0.1', 2));
});
