import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string };
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string | undefined;
  readonly name: string;
  /** 1 is INTERNAL, 2 is SERVER. */
  readonly kind: number;
  readonly status: number | undefined;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly resource: Readonly<Record<string, string | number>>;
}

function attributesOf(list: readonly OtlpAttribute[] = []) {
  return Object.fromEntries(
    list.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}

/** Receives traces by OTLP over HTTP, as JSON. */
export async function startCollector() {
  const spans: ReceivedSpan[] = [];
  const requests: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  let text = '';
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      requests.push({ url: request.url ?? '', headers: request.headers });
      text += body;
      for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
        for (const span of scopeSpans.flatMap((scope: { spans: object[] }) => scope.spans)) {
          spans.push({
            ...span,
            status: span.status?.code,
            attributes: attributesOf(span.attributes),
            resource: attributesOf(resource.attributes),
          });
        }
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    /** Everything received so far, unparsed. */
    text: () => text,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
