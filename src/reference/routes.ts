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
 * The machine-readable contract, and what is made from it for people and for models; none of them
 * needs a key.
 * @param versions the current one first; its page is at /docs, that of another one below it
 * @param baseUrl the public address, which may be known only once the server listens
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

/** Makes a value when it is first asked for, and keeps it. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
