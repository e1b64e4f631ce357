// Lets customers in who are entitled: node gate.ts, then GET http://127.0.0.1:3000/?customer=501
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Retention, RetentionError } from '@retention/client';

const { RETENTION_URL: baseUrl = '', RETENTION_API_KEY: key = '', PORT = '3000' } = process.env;
const retention = new Retention({ baseUrl, key });

const server = createServer(async (request, response) => {
  const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
  try {
    // From memory for a minute, else within two seconds; for an hour while the service is away.
    const isEntitled = await retention.entitled(Number(searchParams.get('customer')));
    response.writeHead(isEntitled ? 200 : 402).end(isEntitled ? 'Welcome\n' : 'Please subscribe\n');
  } catch (error) {
    if (error instanceof TypeError) response.writeHead(400).end('Which customer?\n');
    else if (error instanceof RetentionError) response.writeHead(503).end('Try again soon\n');
    else throw error;
  }
});
server.listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`Listening on port ${(server.address() as AddressInfo).port}\n`);
});
