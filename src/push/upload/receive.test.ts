import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { type Received, receiveFile, ArrivingFiles } from './receive.ts';

const part = (header: string, content: string) =>
  `--X\r\nContent-Disposition: form-data; ${header}\r\n\r\n${content}`;
const token = (value = 'right') => `${part('name="token"', value)}\r\n`;
const file = (content: string) => part('name="file"; filename="a.csv"', content);

/** A body that arrives piece by piece, and what comes of it. */
async function startReceiving(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-test-'));
  const place = path.join(folder, 'file');
  const replacing = new AbortController();
  let received: Received | undefined;
  let isAdmitted = false;
  let isClosed = false;
  let arrived = 0;
  const admit = async () => {
    isAdmitted = true;
    return place;
  };
  const handle = async (request: IncomingMessage) => {
    request.on('data', (chunk: Buffer) => (arrived += chunk.length));
    request.once('close', () => (isClosed = true));
    received = await receiveFile(request, {
      maxBytes: 10_000_000,
      isToken: (value) => value === 'right',
      admit,
      replaced: replacing.signal,
    });
  };
  const server = createServer((request) => void handle(request)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=X\r\nContent-Length: 9000000\r\n\r\n',
  );
  t.after(() => {
    socket.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return {
    replacing,
    left: () => readdirSync(folder),
    isAdmitted: () => isAdmitted,
    isClosed: () => isClosed,
    isReceived: () => received !== undefined,
    /** Resolves once the server has got it. */
    async send(text: string) {
      const before = arrived;
      socket.write(text);
      await until(async () => arrived === before + Buffer.byteLength(text));
    },
    saved: (bytes: number) =>
      until(async () => readdirSync(folder).length > 0 && statSync(place).size >= bytes),
    async kind() {
      await until(async () => received !== undefined);
      return received?.kind;
    },
  };
}

for (const [title, body] of [
  ['is wrong', token('wrong') + file('a')],
  ['comes after another field', part('name="note"', 'a\r\n') + token()],
  ['comes after the file', `${file('a')}\r\n${token()}`],
  ['is missing', file('a')],
  ['does not come within the first 64 KiB', `${'x'.repeat(70_000)}`],
] as const) {
  test(`a body whose token ${title} is refused before its end, and takes no place`, async (t) => {
    const { send, kind, isAdmitted, left } = await startReceiving(t);
    await send(body);
    await send('x'.repeat(10));
    assert.equal(await kind(), 'foreign');
    assert.ok(!isAdmitted());
    assert.deepEqual(left(), []);
  });
}

// One test, since Node.js's mocked timers of a second one in the same process lose some of theirs.
test('a sender that is too slow is given up, and one that is refused soon cut off', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });

  const silent = await startReceiving(t);
  await silent.send('--X\r\n');
  t.mock.timers.tick(19_999);
  await silent.send('a');
  assert.ok(!silent.isReceived());
  t.mock.timers.tick(1);
  assert.equal(await silent.kind(), 'tooSlow');

  // 1 KiB a second over each minute will do: nothing at first, then all of it at once.
  const { send, saved, kind, isReceived, left } = await startReceiving(t);
  await send(token() + file(''));
  for (let minute = 1; minute <= 3; minute += 1) {
    t.mock.timers.tick(59_999);
    await send('x'.repeat(61_440));
    // The last characters may be the beginning of a boundary.
    await saved(minute * 61_440 - 100);
    t.mock.timers.tick(1);
    assert.ok(!isReceived());
  }
  for (let second = 1; second <= 60; second += 1) {
    await send('x');
    t.mock.timers.tick(1000);
  }
  assert.equal(await kind(), 'tooSlow');
  assert.deepEqual(left(), []);

  const refused = await startReceiving(t);
  await refused.send(token('wrong') + file('a'));
  assert.equal(await refused.kind(), 'foreign');
  await refused.send('x'.repeat(500_000));
  t.mock.timers.tick(9_999);
  await refused.send('x'.repeat(500_000));
  assert.ok(!refused.isClosed());
  t.mock.timers.tick(1);
  await until(async () => refused.isClosed());
});

test('a file that is replaced while it arrives ends, and leaves nothing', async (t) => {
  const { send, saved, replacing, kind, left } = await startReceiving(t);
  await send(token() + file('x'.repeat(100_000)));
  await saved(50_000);
  replacing.abort();
  assert.equal(await kind(), 'replaced');
  assert.deepEqual(left(), []);
});

/** Adds files named by owner and shop, such as "a1". @returns what came of each, and which were replaced */
function add(...names: string[]) {
  const arriving = new ArrivingFiles();
  const replaced: string[] = [];
  const refused = names.map((name) => {
    const arrival = { ownerId: name.slice(0, 1), replace: () => replaced.push(name) };
    return arriving.add(Number(name.slice(1)), arrival)?.kind ?? 'arriving';
  });
  return { refused, replaced };
}

test('a later file of a shop replaces the one that is arriving, whichever owner sends it', () => {
  const { refused, replaced } = add('a1', 'a1', 'b1', 'b1');
  assert.deepEqual(refused, ['arriving', 'arriving', 'arriving', 'arriving']);
  assert.deepEqual(replaced, ['a1', 'a1', 'b1']);
});

test('an owner has two files arriving, in different shops, and others have room', () => {
  const { refused, replaced } = add('a1', 'a2', 'a3', 'a4', 'b5', 'a2', 'a3');
  assert.deepEqual(
    refused.join(' '),
    'arriving arriving ownersLimit ownersLimit arriving arriving ownersLimit',
  );
  assert.deepEqual(replaced, ['a2']);
});

test('of 16 places, 8 are kept for owners who have no file arriving', () => {
  const owners = [...'abcdefgh'];
  const full = [...'ijklmnop'];
  const first = owners.map((owner, index) => `${owner}${index}`);
  const second = owners.map((owner, index) => `${owner}${index + 100}`);
  const others = full.map((owner, index) => `${owner}${index + 200}`);
  const { refused, replaced } = add(...first, ...second, ...others, 'q300', 'a0', 'p207');
  assert.deepEqual(refused, [
    ...Array<string>(8).fill('arriving'),
    ...Array<string>(8).fill('serversLimit'),
    ...Array<string>(8).fill('arriving'),
    'serversLimit',
    'arriving',
    'arriving',
  ]);
  assert.deepEqual(replaced, ['a0', 'p207']);
});

test('a file that has ended makes room, but not for the one that took its place', () => {
  const arriving = new ArrivingFiles();
  const [first, second, third] = ['a', 'b', 'a'].map((ownerId) => ({ ownerId, replace() {} }));
  assert.ok(first && second && third);
  arriving.add(1, first);
  arriving.add(1, second);
  arriving.remove(1, first);
  for (const shop of [2, 3]) assert.equal(arriving.add(shop, { ...first }), undefined);
  // The shop's own is still there.
  let isReplaced = false;
  second.replace = () => void (isReplaced = true);
  assert.equal(arriving.add(1, { ownerId: 'c', replace() {} }), undefined);
  assert.ok(isReplaced);
  assert.deepEqual(arriving.add(4, third), { kind: 'ownersLimit' });
});
