import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong with an answer of the service. */
type Fault = (answer: Buffer, response: ServerResponse) => void;

const refusal = JSON.stringify({ success: false, message: 'Injected.' });

export const faults: Readonly<Record<string, Fault>> = {
  'a reset connection': (_, { socket }) => void socket?.resetAndDestroy(),
  'a truncated body': (answer, response) => {
    response.writeHead(200, { 'content-length': answer.length });
    response.write(answer.subarray(0, answer.length / 2), () => response.destroy());
  },
  'a truncated body of unknown length': (answer, response) => {
    response.useChunkedEncodingByDefault = false;
    response.removeHeader('content-length');
    response.writeHead(200, { connection: 'close' });
    response.end(answer.subarray(0, answer.length / 2));
  },
  'an internal error': (_, response) => void response.writeHead(500).end(refusal),
  'a page of a proxy': (_, response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'),
  'a busy service': (_, response) =>
    void response.writeHead(429, { 'retry-after': '0' }).end(refusal),
};

/** The answer does not come. */
export const silence: Fault = () => {};

/** A proxy of a service that spoils answers. */
export async function startFaultyProxy(target: string) {
  const proxy = {
    baseUrl: '',
    /** Spoils the next answers, each in its way. */
    faults: [] as (Fault | undefined)[],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const forward = async ({ url, headers }: IncomingMessage, response: ServerResponse) => {
    const answer = await fetch(target + url, {
      headers: { authorization: headers.authorization ?? '' },
    });
    const body = Buffer.from(await answer.arrayBuffer());
    const fault = proxy.faults.shift();
    if (fault) return fault(body, response);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
  };
  const server = createServer((request, response) => {
    forward(request, response).catch(() => request.socket.resetAndDestroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
