import assert from 'node:assert/strict';
import { type Socket, connect } from 'node:net';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { pushSources } from '../../src/push/sources.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { createShop, startTestService } from '../support/world.ts';
import { type TestSource, createSource, credentialsKeys, signed } from './world.ts';

const record = JSON.stringify({
  type: 'cancellation',
  id: 7001,
  detectedReason: 'too_expensive',
  createdAt: '2026-01-17T10:58:00Z',
});
// Too long to arrive with its headers.
const text = `${record}\n${' '.repeat(200_000)}`;
const noSecret = { secret: `whsec_${Buffer.alloc(32).toString('base64')}` };

interface Sender {
  readonly socket: Socket;
  answer: string;
}

onOneOwnDatabase('bodies of pushed requests that are not verified yet', (open) => {
  // What a client owes for look-ups of unknown sources is never paid off.
  const clock: Clock = { ...systemClock, monotonic: () => 0 };
  let store: Store;
  let service: Service;
  let source: TestSource;
  const senders: Sender[] = [];
  before(async () => {
    store = open();
    source = await createSource(store, await createShop(store));
    service = await startTestService(store, {
      clock,
      credentialsKeys,
      listen: { trustedProxies: ['127.0.0.1'] },
    });
  });
  after(async () => {
    for (const { socket } of senders) socket.destroy();
    await service.close();
    await store.close();
  });

  /** Begins a request. */
  function begin(
    { sourceId, secret }: TestSource,
    network: string,
    { body = '', framing = 'Transfer-Encoding: chunked', part = '' },
  ): Sender {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    const sender = { socket, answer: '' };
    socket.on('data', (chunk) => void (sender.answer += String(chunk)));
    socket.on('error', () => {});
    const headers = Object.entries(signed({ secret }, body)).map((each) => each.join(': '));
    const lines = ['Host: localhost', `X-Forwarded-For: ${network}`, framing, ...headers];
    socket.write(`POST /ingest/v1/${sourceId}/records HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    socket.write(part);
    senders.push(sender);
    return sender;
  }
  const answered = async (sender: Sender): Promise<string> => {
    await until(() => sender.answer.includes('"}'));
    return sender.answer.replace(/(?<=x-request-id: )\S+|(?<=date: )[^\r]+/gi, '…');
  };
  /** Pushes a record, and returns the answer's status. */
  async function push(from: TestSource, network: string): Promise<number> {
    const framing = `Content-Length: ${text.length}`;
    return statusOf(await answered(begin(from, network, { body: text, framing, part: text })));
  }
  const statusOf = (answer: string) => Number(answer.split(' ')[1]);
  /** Fills what a network may have held with bodies for a source, unsigned and unfinished. */
  async function flood(to: TestSource, network: string): Promise<void> {
    const part = `${(1_000_000).toString(16)}\r\n${'x'.repeat(1_000_000)}\r\n`;
    const begun: Sender[] = [];
    await until(() => {
      begun.push(begin({ ...to, ...noSecret }, network, { part }));
      return begun.some(({ answer }) => statusOf(answer) === 429);
    });
  }

  test('are not received for an unknown source, whose answer is that of a wrong signature', async () => {
    const unknown = { sourceId: pushSources.newId(), ...noSecret };
    const early = begin(unknown, '192.0.2.1', {});
    const wrong = begin({ ...source, ...noSecret }, '192.0.2.1', { part: '1\r\nx\r\n0\r\n\r\n' });
    const answer = await answered(early);
    assert.equal(statusOf(answer), 401);
    assert.equal(answer, await answered(wrong));
  });

  test('in one-byte chunks leave room for others', async () => {
    const part = '1\r\nx\r\n'.repeat(32_704);
    const other = await createSource(store, await createShop(store));
    const held = begin({ ...other, ...noSecret }, '192.0.2.1', { part });
    begin({ sourceId: pushSources.newId(), ...noSecret }, '192.0.2.1', { part });
    assert.equal(await push(source, '192.0.2.1'), 202);
    assert.equal(held.answer, '');
  });

  test('of many networks leave room for sources whose last signature was right', async () => {
    assert.equal(await push(source, '192.0.2.1'), 202);
    const other = await createSource(store, await createShop(store));
    for (const network of ['192.0.2.1', '198.51.100.1', '198.51.100.2']) {
      await flood(other, network);
      assert.equal(await push(source, '192.0.2.1'), 202);
      assert.equal(await push(source, '192.0.2.77'), 202);
    }
  });

  test('are received although a network has looked for too many unknown sources', async () => {
    const network = '203.0.113.9';
    const other = await createSource(store, await createShop(store));
    assert.equal(await push(source, network), 202);
    for (let count = 0; count < 100; count += 1) {
      const unknown = { sourceId: pushSources.newId(), ...noSecret };
      assert.equal(statusOf(await answered(begin(unknown, network, {}))), 401);
    }
    assert.equal(await push(other, network), 401);
    assert.equal(await push(source, network), 202);
  });
});
