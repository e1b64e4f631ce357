import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type Socket, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { until } from '../support/until.ts';
import { openAnyStore, startTestService } from '../support/world.ts';
import { secret, sendWebhook } from './world.ts';

const domain = 'sample-shop.myshopify.com';

interface Sender {
  readonly socket: Socket;
  answer: string;
}

describe('bodies of webhooks that are not verified yet', { timeout: 600_000 }, () => {
  let store: Store;
  let service: Service;
  const senders: Sender[] = [];
  before(async () => {
    store = openAnyStore();
    service = await startTestService(store, {
      shopify: { webhookSecrets: ['the next secret', secret] },
      listen: { trustedProxies: ['127.0.0.1'] },
    });
  });
  after(async () => {
    for (const { socket } of senders) socket.destroy();
    await service.close();
    await store.close();
  });

  /** Begins a webhook. */
  function begin(
    network: string,
    { signature = 'x', framing = 'Transfer-Encoding: chunked' } = {},
  ) {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    const sender: Sender = { socket, answer: '' };
    socket.on('data', (chunk) => void (sender.answer += String(chunk)));
    socket.on('error', () => {});
    socket.setNoDelay();
    const lines = [
      'POST /webhooks/shopify HTTP/1.1',
      'Host: localhost',
      `X-Forwarded-For: ${network}`,
      'Content-Type: application/json',
      'X-Shopify-Topic: orders/create',
      'X-Shopify-Shop-Domain: another-shop.myshopify.com',
      `X-Shopify-Hmac-Sha256: ${signature}`,
    ];
    socket.write([...lines, framing, '\r\n'].join('\r\n'));
    senders.push(sender);
    return sender;
  }
  /** Sends a webhook that is too long to arrive with its headers. @returns the status */
  async function send(network: string): Promise<number> {
    const body = { id: 1, text: 'x'.repeat(200_000) };
    const headers = { 'x-forwarded-for': network };
    return (await sendWebhook(service.baseUrl, domain, 'orders/create', body, { headers })).status;
  }
  const hangUp = async () => {
    for (const { socket } of senders.splice(0)) socket.destroy();
    // The memory for what they had sent is released.
    await until(
      () => send('192.0.2.9'),
      (status) => status === 200,
    );
  };

  test('are verified however they are split into chunks', async () => {
    const body = Buffer.from(JSON.stringify({ id: 1, title: 'Kaffee für Ünal' }));
    const signature = createHmac('sha256', secret).update(body).digest('base64');
    for (const bytes of [body, Buffer.concat([body, Buffer.from(' ')])]) {
      const sender = begin('192.0.2.1', { signature });
      for (const byte of bytes) sender.socket.write(Buffer.from([0x31, 13, 10, byte, 13, 10]));
      sender.socket.write('0\r\n\r\n');
      await until(() => sender.answer.includes('}'));
      const status = bytes === body ? '200 OK' : '401 Unauthorized';
      assert.equal(sender.answer.split('\r\n', 1)[0], `HTTP/1.1 ${status}`);
    }
    await hangUp();
  });

  /** Begins bodies, unsigned and unfinished, until one is refused. */
  async function flood(network: string): Promise<Sender> {
    const begun: Sender[] = [];
    const isRefused = ({ answer }: Sender) => answer.startsWith('HTTP/1.1 503');
    await until(() => {
      const sender = begin(network, { framing: 'Content-Length: 262144' });
      sender.socket.write('x'.repeat(250_000));
      begun.push(sender);
      return begun.some(isRefused);
    });
    return begun.find(isRefused) as Sender;
  }

  test('are limited for each network; beyond that the platform is asked to retry', async () => {
    const { answer } = await flood('192.0.2.1');
    assert.match(answer, /\r\nretry-after: 60\r\n/i);
    assert.match(answer, /\r\nconnection: close\r\n/i);
    assert.match(answer, /\r\n\r\n\{"success":false,"message":"Try again later\."\}$/);
    assert.equal(await send('192.0.2.2'), 200);
    await hangUp();
  });

  test('leave room for networks whose last signature was right, and shops in them', async () => {
    const known = ['203.0.113.1', '203.0.113.2'];
    for (const network of known) assert.equal(await send(network), 200);
    for (const network of ['198.51.100.1', '198.51.100.2', ...known]) {
      await flood(network);
      assert.equal(await send('203.0.113.2'), 200);
    }
    await hangUp();
  });

  test('in one-byte chunks leave room for others', async () => {
    const sender = begin('192.0.2.1');
    sender.socket.write('1\r\nx\r\n'.repeat(16_352));
    assert.equal(await send('192.0.2.1'), 200);
    assert.equal(sender.answer, '');
    await hangUp();
  });
});
