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

describe('bodies of webhooks that are not verified yet', { timeout: 60_000 }, () => {
  let store: Store;
  let service: Service;
  const senders: Sender[] = [];
  before(async () => {
    store = openAnyStore();
    service = await startTestService(store, {
      shopify: { webhookSecrets: ['the next secret', secret] },
    });
  });
  after(async () => {
    for (const { socket } of senders) socket.destroy();
    await service.close();
    await store.close();
  });

  const head = (signature: string, ...lines: string[]) =>
    [
      'POST /webhooks/shopify HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'X-Shopify-Topic: orders/create',
      `X-Shopify-Hmac-Sha256: ${signature}`,
      ...lines,
      '\r\n',
    ].join('\r\n');

  function open(): Sender {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    const sender: Sender = { socket, answer: '' };
    socket.on('data', (chunk) => void (sender.answer += String(chunk)));
    socket.on('error', () => {});
    senders.push(sender);
    return sender;
  }
  const send = async () =>
    (await sendWebhook(service.baseUrl, domain, 'orders/create', { id: 1 })).status;
  const refused = () =>
    senders.filter(({ answer }) => answer.startsWith('HTTP/1.1 503 Service Unavailable\r\n'));
  const hangUp = async () => {
    for (const { socket } of senders.splice(0)) socket.destroy();
    // The memory for what they had sent is released.
    await until(send, (status) => status === 200);
  };

  test('are verified however they are split into chunks', async () => {
    const body = Buffer.from(JSON.stringify({ id: 1, title: 'Kaffee für Ünal' }));
    const signature = createHmac('sha256', secret).update(body).digest('base64');
    for (const bytes of [body, Buffer.concat([body, Buffer.from(' ')])]) {
      const sender = open();
      sender.socket.setNoDelay();
      sender.socket.write(head(signature, 'Transfer-Encoding: chunked'));
      for (const byte of bytes) sender.socket.write(Buffer.from([0x31, 13, 10, byte, 13, 10]));
      sender.socket.write('0\r\n\r\n');
      await until(() => sender.answer.includes('}'));
      const status = bytes === body ? '200 OK' : '401 Unauthorized';
      assert.equal(sender.answer.split('\r\n', 1)[0], `HTTP/1.1 ${status}`);
    }
    await hangUp();
  });

  test('take up to 8 MiB in total; beyond that Shopify is asked to retry', async () => {
    const part = 'x'.repeat(250_000);
    for (let each = 0; each < 50; each += 1) {
      open().socket.write(head('x', 'Content-Length: 262144') + part);
    }
    // Of 12.5 MB no more than 8 MiB is held.
    await until(() => refused().length >= 17);
    for (const { answer } of refused()) {
      assert.match(answer, /\r\nretry-after: 60\r\n/i);
      assert.match(answer, /\r\nconnection: close\r\n/i);
      assert.match(answer, /\r\n\r\n\{"success":false,"message":"Try again later\."\}$/);
    }
    const others = senders.filter((sender) => !refused().includes(sender));
    assert.ok(others.length > 0);
    await hangUp();
  });

  test('cannot exceed the limit by arriving in tiny chunks', async () => {
    // 120,000 chunks of one byte: little on the wire, much in memory.
    const parts = '1\r\nx\r\n'.repeat(120_000);
    const { socket } = open();
    socket.write(head('x', 'Transfer-Encoding: chunked') + parts);
    await until(() => refused().length === 1);
    await hangUp();
  });
});
