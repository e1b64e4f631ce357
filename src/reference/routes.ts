import { json } from '../http/answer.ts';
import type { Route } from '../http/shell.ts';
import { restBasePath } from '../operations/rest-path.ts';
import { renderLlmsText } from './llms.ts';
import { buildOpenApi } from './openapi.ts';
import { referencePageCsp, renderReferencePage } from './page.ts';

const cached = { 'cache-control': 'public, max-age=300' };

/**
 * The machine-readable contract, and what is made from it for people and for models; none of them
 * needs a key.
 * @param baseUrl the public address, which may be known only once the server listens
 */
export function referenceRoutes(baseUrl: () => string): Route[] {
  const document = once(() => buildOpenApi({ serverUrl: baseUrl() }));
  const text = once(() => JSON.stringify(document()));
  const page = once(() => renderReferencePage(document()));
  const llms = once(() => renderLlmsText(document()));

  return [
    {
      method: 'GET',
      url: `${restBasePath}/openapi.json`,
      handle: () => ({ status: 200, headers: { ...json, ...cached }, body: text() }),
    },
    {
      method: 'GET',
      url: '/docs',
      handle: () => ({
        status: 200,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': referencePageCsp,
          'referrer-policy': 'no-referrer',
          ...cached,
        },
        body: page(),
      }),
    },
    {
      method: 'GET',
      url: '/llms.txt',
      handle: () => ({
        status: 200,
        headers: { 'content-type': 'text/plain; charset=utf-8', ...cached },
        body: llms(),
      }),
    },
  ];
}

/** Makes a value when it is first asked for, and keeps it. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
