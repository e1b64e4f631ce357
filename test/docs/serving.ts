import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { guidePath, guides } from '../../src/docs/guides.ts';
import { restV1 } from '../../src/operations/versions.ts';
import { endpointName } from '../../src/reference/reference.ts';

/** The paths of all pages, in the order of the navigation. */
export const pagePaths: readonly string[] = Object.entries(guides).flatMap(([heading, listed]) => [
  ...listed.map((guide) => guidePath(guide)),
  ...(heading === 'Guides' ? referencePaths() : []),
]);

function referencePaths(): string[] {
  const endpoints = restV1.operations.map((each) => `/docs/reference/${endpointName(each)}`);
  return ['/docs/reference', ...endpoints];
}

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
