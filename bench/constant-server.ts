import { type ServerResponse, createServer } from 'node:http';

/** The baseline: a bare node:http server that gives every request the same headers and body, once it has read its own. */
const body = process.env['BODY'] ?? '';
const headers = JSON.parse(process.env['HEADERS'] ?? '{}');

const answer = (response: ServerResponse) => {
  response.writeHead(200, headers);
  response.end(body);
};

const server = createServer((request, response) => {
  if (request.method === 'GET') return void answer(response);
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    answer(response);
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object')
    process.stdout.write(`listens on http://127.0.0.1:${address?.port}\n`);
});
