import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../support/postgres.ts';
import { type ServiceOptions, now, openAnyStore, startWorld } from '../support/world.ts';

const path = '/.well-known/security.txt';

async function read(listen: ServiceOptions['listen']) {
  const port = await freePort();
  const world = await startWorld(openAnyStore(), { listen: { ...listen, port } });
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  } finally {
    await world.close();
  }
}

test('security.txt names a contact and expires within a year, where the address is public', async () => {
  const baseUrl = 'https://retention.example';
  const { status, text } = await read({ baseUrl });
  assert.equal(status, 200);
  const [, expires = ''] = /^Expires: (.+)$/m.exec(text) ?? [];
  const days = (Date.parse(expires) - Date.parse(now)) / 86_400_000;
  assert.ok(days > 100 && days < 365, expires);
  assert.deepEqual(text.split('\n'), [
    'Contact: mailto:security@retention.example',
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}${path}`,
    '',
  ]);
  const securityContact = 'https://retention.example/report';
  assert.match((await read({ baseUrl, securityContact })).text, /^Contact: https:\S+\/report$/m);
});

test('there is no security.txt without a public address', async () => {
  assert.equal((await read({})).status, 404);
});
