import assert from 'node:assert/strict';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { until } from '../../test/support/until.ts';
import { createLog } from '../log/log.ts';
import { refuse } from './answer.ts';
import { createShell } from './shell.ts';
import { UnverifiedBodies } from './unverified-bodies.ts';

const kib = 1024;

interface Sender {
  readonly socket: Socket;
  answer: string;
}

/** Receives bodies of 64 KiB at most; those that end in `!` are signed. */
async function listen(
  t: TestContext,
  { hasSecretNames = true, arrivalMilliseconds = 600_000 } = {},
) {
  const bodies = new UnverifiedBodies({
    contentType: undefined,
    maxBytes: 64 * kib,
    totalBytes: 256 * kib,
    hasSecretNames,
    arrivalMilliseconds,
    refuse: (headers) => refuse(429, 'There is no room.', headers),
  });
  const app = createShell({
    log: createLog('silent'),
    trustedProxies: ['127.0.0.1'],
    routes: [
      {
        method: 'POST',
        url: '/:sender',
        async handle(request) {
          const { sender = '' } = request.params as Record<string, string>;
          const body = await bodies.read(request, sender, (bytes) => bytes.at(-1) === 0x21);
          if (!body) return refuse(401, 'It is not signed.');
          if ('refusal' in body) return body.refusal;
          return { status: 200, headers: {}, body: `${body.bytes.length} bytes` };
        },
      },
    ],
    unrouted: (_path, answer) => answer,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const senders: Sender[] = [];
  t.after(async () => {
    for (const { socket } of senders) socket.destroy();
    await app.close();
  });

  /** Begins a body. */
  function begin(sender: string, network: string, part: string): Sender {
    const socket = connect(port, '127.0.0.1');
    const begun = { socket, answer: '' };
    socket.on('data', (bytes) => void (begun.answer += String(bytes)));
    socket.on('error', () => {});
    socket.setNoDelay();
    const lines = ['Host: localhost', `X-Forwarded-For: ${network}`, 'Transfer-Encoding: chunked'];
    socket.write([`POST /${sender} HTTP/1.1`, ...lines, '', part].join('\r\n'));
    senders.push(begun);
    return begun;
  }
  const statusOf = ({ answer }: Sender) => Number(answer.split(' ')[1]);
  /** Sends a body in two parts, and returns the answer's status. */
  async function send(sender: string, network: string, last = '!'): Promise<number> {
    const begun = begin(sender, network, chunk(20 * kib));
    begun.socket.write(`1\r\n${last}\r\n0\r\n\r\n`);
    await until(() => begun.answer.includes('\r\n\r\n'));
    return statusOf(begun);
  }
  /** Begins bodies of 64 KiB until one is refused; returns how many are held. */
  async function fill(sender: string, network: string): Promise<number> {
    for (let count = 0; ; count += 1) {
      const before = bodies.heldBytes;
      const begun = begin(sender, network, chunk(64 * kib));
      await until(() => begun.answer !== '' || bodies.heldBytes >= before + 64 * kib);
      if (begun.answer !== '') {
        assert.equal(statusOf(begun), 429);
        return count;
      }
    }
  }
  return { bodies, begin, send, fill, statusOf, senders };
}

function chunk(length: number): string {
  return `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`;
}

test('a body takes as much memory as it has, however small its chunks are', async (t) => {
  const { bodies, begin } = await listen(t);
  const sender = begin('a', '192.0.2.1', '1\r\nx\r\n'.repeat(32_704));
  await until(() => bodies.heldBytes >= 32 * kib);
  assert.equal(bodies.heldBytes, 32 * kib);
  sender.socket.write('1\r\n!\r\n0\r\n\r\n');
  await until(() => sender.answer.endsWith('32705 bytes'));
  assert.equal(bodies.heldBytes, 0);
});

test('one network takes a quarter, and all that are unknown take half', async (t) => {
  const { bodies, send, fill } = await listen(t);
  assert.equal(await fill('a', '192.0.2.1'), 1);
  assert.equal(await send('b', '192.0.2.1'), 429);
  assert.equal(await send('b', '192.0.2.2'), 200);
  assert.equal(await fill('a', '192.0.2.3'), 1);
  assert.equal(bodies.heldBytes, 128 * kib);
  assert.equal(await send('c', '192.0.2.4'), 429);
});

test('a sender whose last signature was right has room in the other half, in its network and elsewhere', async (t) => {
  const { send, fill } = await listen(t);
  for (const sender of ['known', 'other']) assert.equal(await send(sender, '192.0.2.1'), 200);
  await fill('a', '192.0.2.1');
  await fill('b', '192.0.2.2');
  assert.equal(await send('known', '192.0.2.1'), 200);
  assert.equal(await send('known', '192.0.2.9'), 200);
  // What one takes of that half is limited, in its network and elsewhere.
  assert.equal(await fill('known', '192.0.2.1'), 1);
  assert.equal(await send('known', '192.0.2.1'), 429);
  assert.equal(await fill('other', '192.0.2.8'), 1);
  assert.equal(await send('other', '192.0.2.7'), 429);
});

test('a wrong signature ends that for its network only', async (t) => {
  const { send, fill } = await listen(t);
  for (const network of ['192.0.2.1', '192.0.2.2']) assert.equal(await send('a', network), 200);
  assert.equal(await send('a', '192.0.2.2', '?'), 401);
  await fill('b', '192.0.2.3');
  await fill('b', '192.0.2.4');
  assert.deepEqual([await send('a', '192.0.2.1'), await send('a', '192.0.2.1')], [200, 200]);
  assert.equal(await send('a', '192.0.2.2', '?'), 401);
  assert.equal(await send('a', '192.0.2.2'), 429);
});

test('where names are public, a network is known by what it signed', async (t) => {
  const { send, fill } = await listen(t, { hasSecretNames: false });
  assert.equal(await send('a', '192.0.2.1'), 200);
  await fill('c', '192.0.2.3');
  await fill('c', '192.0.2.4');
  assert.equal(await send('b', '192.0.2.1'), 200);
  assert.equal(await send('a', '192.0.2.9'), 429);
});

test('a body that does not arrive in time is refused, and leaves its room to others', async (t) => {
  const { bodies, begin, statusOf } = await listen(t, { arrivalMilliseconds: 50 });
  const sender = begin('a', '192.0.2.1', chunk(10));
  await until(() => sender.answer.includes('\r\n\r\n'));
  assert.equal(statusOf(sender), 408);
  assert.match(sender.answer, /did not arrive within 0\.05 seconds; send less at once\./);
  assert.match(sender.answer, /\r\nconnection: close\r\n/);
  assert.equal(bodies.heldBytes, 0);
});

test('a sender that hangs up leaves its room to others', async (t) => {
  const { bodies, fill, senders } = await listen(t);
  await fill('a', '192.0.2.1');
  assert.equal(bodies.heldBytes, 64 * kib);
  for (const { socket } of senders) socket.destroy();
  await until(() => bodies.heldBytes === 0);
});
