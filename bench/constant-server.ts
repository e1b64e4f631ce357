import { createServer } from 'node:http';

/** The baseline: a bare node:http server that gives every request the same headers and body. */
const body = process.env['BODY'] ?? '';
const headers = JSON.parse(process.env['HEADERS'] ?? '{}');

const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object')
    process.stdout.write(`listens on http://127.0.0.1:${address?.port}\n`);
});
