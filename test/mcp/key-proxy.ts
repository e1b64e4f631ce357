import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

export interface KeyProxy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Passes every request on with a key, for clients that have no way to send one. Where a request
 * names the proxy as its host or origin, the service's own is named instead; others stay as they are.
 */
export async function startKeyProxy(targetUrl: string, key: string): Promise<KeyProxy> {
  const target = new URL(targetUrl);
  const server = createServer((incoming, outgoing) => {
    const { port } = server.address() as AddressInfo;
    const own = `127.0.0.1:${port}`;
    const { host, origin } = incoming.headers;
    const headers = {
      ...incoming.headers,
      authorization: `Bearer ${key}`,
      ...(host === own && { host: target.host }),
      ...(origin === `http://${own}` && { origin: target.origin }),
    };
    const onward = request(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        pipeline(answer, outgoing, () => {});
      },
    );
    onward.once('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
