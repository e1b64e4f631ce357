import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { readBody } from './body.ts';

test('a body of many small chunks leaves turns of the event loop to others', async (t) => {
  let inThisTurn = 0;
  let mostInATurn = 0;
  const server = createServer(async (raw, response) => {
    raw.on('data', () => {
      if (inThisTurn++ === 0) setImmediate(() => (inThisTurn = 0));
      mostInATurn = Math.max(mostInATurn, inThisTurn);
    });
    const body = await readBody({ raw } as FastifyRequest);
    response.end('bytes' in body ? String(body.bytes) : 'refused');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const headers = [
    'host: x',
    'content-type: application/json',
    'connection: close',
    'transfer-encoding: chunked',
  ];
  const chunks = Array.from({ length: 100_000 }, (_, index) => `1\r\n${index % 10}\r\n`);
  socket.write(`POST / HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${chunks.join('')}0\r\n\r\n`);
  const answer = await text(socket);
  assert.equal(answer.endsWith(`\r\n\r\n${'0123456789'.repeat(10_000)}`), true);
  assert.ok(mostInATurn > 1 && mostInATurn <= 4096, String(mostInATurn));
});
