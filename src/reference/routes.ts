import { json } from '../http/answer.ts';
import type { Route } from '../http/shell.ts';
import type { RestVersion } from '../operations/versions.ts';
import { renderLlmsText } from './llms.ts';
import { buildOpenApi } from './openapi.ts';
import { referencePageCsp, renderReferencePage } from './page.ts';

const cached = { 'cache-control': 'public, max-age=300' };

const plainHeaders = { 'content-type': 'text/plain; charset=utf-8', ...cached };
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': referencePageCsp,
  'referrer-policy': 'no-referrer',
  ...cached,
};

/**
 * Serves the OpenAPI document, the reference page and llms.txt, all without a key.
 * @param versions the current one first; its page is at /docs, those of the others are below it
 * @param baseUrl the public URL, which may be known only once the server listens
 */
export function referenceRoutes(versions: readonly RestVersion[], baseUrl: () => string): Route[] {
  return versions.flatMap((version, index) => {
    const document = once(() => buildOpenApi({ serverUrl: baseUrl(), version }));
    const text = once(() => JSON.stringify(document()));
    const page = once(() => renderReferencePage(document(), version));
    const llms = once(() => renderLlmsText(document(), version));
    const isCurrent = index === 0;
    return [
      route(`${version.basePath}/openapi.json`, { ...json, ...cached }, text),
      route(isCurrent ? '/docs' : `/docs/${version.name}`, pageHeaders, page),
      ...(isCurrent ? [route('/llms.txt', plainHeaders, llms)] : []),
    ];
  });
}

function route(url: string, headers: Readonly<Record<string, string>>, body: () => string): Route {
  return { method: 'GET', url, handle: () => ({ status: 200, headers, body: body() }) };
}

/** Computes a value on first use, and caches it. */
function once<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= compute());
}
