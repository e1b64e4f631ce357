import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClientStream, message, queryMessage, syncMessage, type Incoming } from './wire.ts';

function startup(version: number, ...texts: string[]): Buffer {
  const body = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const packet = Buffer.alloc(8 + body.length);
  packet.writeInt32BE(packet.length, 0);
  packet.writeInt32BE(version, 4);
  body.copy(packet, 8);
  return packet;
}

const hello = startup(196608, 'user', 'ada', 'default_transaction_read_only', 'on', '');
const parse = (name: string, sql: string): Buffer =>
  message('P', `${name}\0${sql}\0`, Buffer.alloc(2));
const flush = message('H');

function opened(): ClientStream {
  const stream = new ClientStream();
  stream.push(hello);
  return stream;
}

function units(incoming: Incoming[]): string[] {
  return incoming.map((item) => {
    assert.equal(item.kind, 'unit');
    const bytes = Buffer.concat(item.unit.parts);
    assert.equal(bytes.length, item.unit.size);
    return bytes.toString('latin1');
  });
}

test('distinguishes startup packets', () => {
  const stream = new ClientStream();
  const packets = [startup(80877104), startup(80877103), hello];
  assert.deepEqual(stream.push(Buffer.concat(packets)), [
    { kind: 'encryptionRequest' },
    { kind: 'encryptionRequest' },
    {
      kind: 'startup',
      parameters: new Map([
        ['user', 'ada'],
        ['default_transaction_read_only', 'on'],
      ]),
    },
  ]);
  const cancelling = new ClientStream();
  assert.deepEqual(cancelling.push(startup(80877102, 'pid+key')), [{ kind: 'cancelRequest' }]);
});

test('a unit ends at a query, sync or flush, and keeps every byte', () => {
  const described = Buffer.concat([parse('a', 'SELECT 1'), message('D', 'Sa\0'), flush]);
  const executed = Buffer.concat([message('B', '\0a\0'), message('E', '\0'), syncMessage]);
  const asked = queryMessage('SELECT 2');
  const expected = [described, executed, asked].map((unit) => unit.toString('latin1'));
  const sent = Buffer.concat([described, executed, asked]);
  assert.deepEqual(units(opened().push(sent)), expected);

  const stream = new ClientStream();
  const bytewise = [...hello, ...sent].flatMap((byte) => stream.push(Buffer.from([byte])));
  assert.equal(bytewise.shift()?.kind, 'startup');
  assert.deepEqual(units(bytewise), expected);
});

test('assembles a large message in small chunks only once', () => {
  const stream = opened();
  const large = queryMessage('x'.repeat(32 * 1024 * 1024));
  const incoming: Incoming[] = [];
  for (let at = 0; at < large.length; at += 4096) {
    incoming.push(...stream.push(large.subarray(at, at + 4096)));
  }
  const [unit] = incoming;
  assert.equal(incoming.length, 1);
  assert.ok(unit?.kind === 'unit' && Buffer.concat(unit.unit.parts).equals(large));
});

test('tracks names of parsed and closed statements', () => {
  const closePortal = message('C', 'Pportal\0');
  const closeStatement = message('C', 'Sa\0');
  const sent = [parse('a', 'SELECT 1'), parse('', 'SELECT 2'), closePortal, closeStatement];
  const [item] = opened().push(Buffer.concat([...sent, syncMessage]));
  assert.ok(item?.kind === 'unit');
  assert.deepEqual(item.unit.statements, [
    { name: 'a', open: true },
    { name: 'a', open: false },
  ]);
});

test('replaces COPY FROM STDIN with a statement that fails', () => {
  const refusal = '"COPY FROM STDIN is not available in the embedded database"';
  const sent = [parse('c', 'copy t from stdin'), syncMessage, queryMessage('COPY t FROM STDIN')];
  assert.deepEqual(units(opened().push(Buffer.concat(sent))), [
    Buffer.concat([parse('c', refusal), syncMessage]).toString('latin1'),
    queryMessage(refusal).toString('latin1'),
  ]);
});

test('ignores everything after a termination or violation', () => {
  const cases: [Buffer, Incoming][] = [
    [message('X'), { kind: 'terminate' }],
    [message('?'), { kind: 'violation', message: 'invalid message type 63' }],
    [Buffer.from([0x51, 0, 0, 0, 3]), { kind: 'violation', message: 'invalid message of 3 bytes' }],
    [
      Buffer.from([0x51, 0x7f, 0xff, 0xff, 0xff]),
      { kind: 'violation', message: 'invalid message of 2147483647 bytes' },
    ],
  ];
  for (const [bytes, expected] of cases) {
    const stream = opened();
    assert.deepEqual(stream.push(bytes), [expected]);
    assert.deepEqual(stream.push(syncMessage), []);
  }
  const violation = { kind: 'violation', message: 'invalid protocol version 2' };
  assert.deepEqual(new ClientStream().push(startup(131072)), [violation]);
});
