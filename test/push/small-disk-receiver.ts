import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { receiveFile } from '../../src/push/upload/receive.ts';

/* A process of its own, since the small disk is mounted only for it: receives one file, and prints what happened. */
const [folder = ''] = process.argv.slice(2);
const server = createServer(async (request, response) => {
  const place = path.join(folder, 'file');
  const { kind, ...rest } = await receiveFile(request, {
    maxBytes: 10_000_000,
    isToken: () => true,
    admit: async () => place,
    replaced: new AbortController().signal,
  });
  const isFull = 'isFull' in rest && rest.isFull;
  response.end(JSON.stringify({ kind, isFull, left: readdirSync(folder) }));
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
const form = new FormData();
form.set('token', 'any');
form.set('file', new Blob(['x'.repeat(1_000_000)]), 'a.csv');
const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: form });
process.stdout.write(await answer.text());
server.closeAllConnections();
server.close();
