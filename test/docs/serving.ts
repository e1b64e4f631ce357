import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { guides } from '../../src/docs/guides.ts';

/** The paths of all pages, in the order of the navigation. */
export const pagePaths = [
  '/docs',
  ...Object.values(guides)
    .flat()
    .map(({ name }) => `/docs/${name}`),
];

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Sends a request without the headers that `fetch` adds, and returns the body as it was sent. */
export async function receive(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<Received> {
  const sent = request(url, { method, headers }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers: received } = response;
  return { status, headers: received, bytes: await buffer(response) };
}
