import { createServer } from 'node:http';

/** The reference: a bare node:http server that answers the same bytes to everything. */
const body = process.env['BODY'] ?? '';
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
};

const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object')
    process.stdout.write(`listens on http://127.0.0.1:${address?.port}\n`);
});
