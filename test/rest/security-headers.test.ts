import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generateKey } from '../../src/access/keys/key-format.ts';
import { freePort } from '../support/postgres.ts';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { bearer, exchange, type RawAnswer } from './raw.ts';

const v1 = '/api/external/v1';

for (const [baseUrl, transport] of [
  ['https://retention.example', 'max-age=31536000'],
  ['http://retention.example', undefined],
  [undefined, undefined],
] as const) {
  describe(`security headers with BASE_URL ${baseUrl}`, () => {
    let world: World;
    let port: number;
    before(async () => {
      port = await freePort();
      world = await startWorld(openAnyStore(), {
        listen: { port, baseUrl },
        telemetry: { metricsPort: 0 },
        shopify: { webhookSecrets: ['a_secret_of_twenty_letters'] },
        tier: 'growth',
      });
    });
    after(() => world.close());

    /** Sends to the listening port, whatever the public URL is. */
    const send = async (bytes: string): Promise<RawAnswer> => {
      const answer = await exchange(`http://127.0.0.1:${port}`, bytes);
      assert.ok(answer, bytes);
      return answer;
    };
    const sendTo = (method: string, path: string, ...headers: string[]) =>
      send(`${[`${method} ${path} HTTP/1.1`, 'Host: a', ...headers].join('\r\n')}\r\n\r\n`);

    test('include nosniff once, and Strict-Transport-Security with https', async () => {
      const key = bearer(world.key);
      const signIn = await sendTo('GET', '/app/sign-in');
      const asset = /href="(\/app\/frame-\w+\.css)"/.exec(signIn.body)?.[1] ?? '';
      const answers = [
        await sendTo('GET', `${v1}/plans`, key),
        await sendTo('HEAD', `${v1}/plans`, key),
        await sendTo('GET', `${v1}/plans`),
        await sendTo('GET', `${v1}/plans`, bearer(generateKey())),
        await sendTo('GET', `${v1}/subscriptions/x`, key),
        await sendTo('GET', `${v1}/entitlements`, key),
        await sendTo('POST', `${v1}/plans`, key),
        await sendTo('GET', '/nothing'),
        await sendTo('GET', `${v1}/openapi.json`),
        await sendTo('GET', '/docs'),
        await sendTo('GET', '/llms.txt'),
        await sendTo('GET', '/healthz'),
        await sendTo('GET', '/readyz'),
        await sendTo('POST', '/api/mcp'),
        await sendTo('POST', '/api/mcp', key, 'Content-Type: text/plain'),
        await sendTo('GET', '/api/mcp'),
        await sendTo('POST', '/webhooks/shopify'),
        signIn,
        await sendTo('GET', asset),
        await sendTo('GET', '/app'),
        await sendTo('GET', '/app/nothing'),
        await sendTo('POST', '/app/sign-in'),
        await send('GET /healthz HTTP/1.1\r\n\r\n'),
        await send('nonsense\r\n\r\n'),
        await send(`FOO ${v1}/plans HTTP/1.1\r\n\r\n`),
        await send('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'),
        await send(`GET / HTTP/1.1\r\nHost: a\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`),
      ];
      assert.equal(
        answers.map(({ status }) => status).join(' '),
        '200 200 401 401 404 400 405 404 200 200 200 200 200 401 415 405 401 200 200 303 404 403 400 400 405 405 431',
      );
      for (const [index, { headers }] of answers.entries()) {
        assert.equal(headers['x-content-type-options'], 'nosniff', `answer ${index}`);
        assert.equal(headers['strict-transport-security'], transport, `answer ${index}`);
      }
    });

    test('include nosniff on the metrics port', async () => {
      for (const path of ['', '/nothing']) {
        const { headers } = await fetch(world.service.metricsUrl + path);
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
      }
    });
  });
}
