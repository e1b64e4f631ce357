import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../log/log.ts';
import { contentType } from './metrics.ts';

// A named import would load all exports of the module, including a WebSocket client, which makes
// requests to the service take a sixth more CPU time.
const { createServer } = process.getBuiltinModule('node:http');

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

interface MetricsServerParts {
  readonly host: string;
  /** 0 lets the operating system choose. */
  readonly port: number;
  readonly log: Log;
  expose(): Promise<string>;
}

/**
 * Serves GET /metrics on a separate port, which need not be reachable from outside.
 * @throws the system's error if it cannot listen on the port
 */
export async function startMetricsServer(parts: MetricsServerParts): Promise<MetricsServer> {
  const server = createServer((request, response) => void answer(request, response, parts));
  server.headersTimeout = 5_000;
  server.requestTimeout = 5_000;
  // Not shared with other workers: each has its own port.
  server.listen({ host: parts.host, port: parts.port, exclusive: true });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  { method = '', url = '' }: IncomingMessage,
  response: ServerResponse,
  { expose, log }: MetricsServerParts,
): Promise<void> {
  response.setHeader('x-content-type-options', 'nosniff');
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead || url.split('?', 1)[0] !== '/metrics') {
    return void response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found.\n');
  }
  try {
    const text = await expose();
    response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' }).end(text);
  } catch (error) {
    log.error({ err: error }, 'metrics failed');
    response.writeHead(500, { 'content-type': 'text/plain' }).end('The metrics failed.\n');
  }
}
