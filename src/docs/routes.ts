import type { FastifyRequest } from 'fastify';
import { compress, prefersPage, prepareAnswer } from '../http/compression.ts';
import { type Answer, json, notFoundForPrograms } from '../http/answer.ts';
import { type Html, html } from '../http/html.ts';
import type { Route } from '../http/shell.ts';
import type { RestVersion } from '../operations/versions.ts';
import { languageCookies, languageOf } from '../reference/languages.ts';
import { renderLlmsText } from '../reference/llms.ts';
import { buildOpenApi } from '../reference/openapi.ts';
import { renderFeed } from './feed.ts';
import { allGuides, guidePath } from './guides.ts';
import { layout, pageHeaders, script, searchPath, styleSheet } from './layout.ts';
import { type DocsPage, navigationOf, referenceOf } from './pages.ts';
import { type Found, createSearch, findSimilar } from './search.ts';

interface DocsParts {
  /** The current one first; its reference is at /docs/reference, those of the others are beside it. */
  readonly versions: readonly RestVersion[];
  /** The public URL, which may be known only once the server listens. */
  baseUrl(): string;
  /** The path of the Developers pages, if an owner sent the request. */
  findConsole(request: FastifyRequest): Promise<string | undefined>;
}

const cached = { 'cache-control': 'public, max-age=300' };
const textHeaders = { 'content-type': 'text/plain; charset=utf-8', ...cached };
const markdownHeaders = { 'content-type': 'text/markdown; charset=utf-8', ...cached };
const feedHeaders = { 'content-type': 'application/atom+xml; charset=utf-8', ...cached };
const feedPath = '/docs/changelog.atom';

/** Serves the documentation, the OpenAPI documents and llms.txt, all without a key. */
export function docsRoutes({ versions, baseUrl, findConsole }: DocsParts): Route[] {
  const contracts = versions.map((version) => ({
    version,
    document: once(() => buildOpenApi({ serverUrl: baseUrl(), version })),
  }));
  const [reference = [], ...earlier] = contracts.map((contract, index) =>
    referenceOf(contract, index === 0 ? '/docs/reference' : `/docs/${contract.version.name}`),
  );
  const navigation = navigationOf(baseUrl, reference);
  const current = [...navigation.values()].flat();
  // The first page only lists the others.
  const search = createSearch(current.slice(1));
  const changelog = current.find(({ path }) => path === '/docs/changelog') as DocsPage;

  const pageRoute = (page: DocsPage): Route => {
    const links = html`<link rel="alternate" type="text/markdown" href="${page.path}.md" /> ${
        page === changelog &&
        html`<link
          rel="alternate"
          type="application/atom+xml"
          title="Releases"
          href="${feedPath}"
        />`
      }`;
    const render = (own: Parameters<DocsPage['article']>[0], consolePath?: string) =>
      layout({ ...page, navigation, links, article: page.article(own), consolePath });
    const answer = once(() =>
      prepareAnswer({ ...pageHeaders, ...cached, vary: 'cookie' }, render(undefined)),
    );
    return {
      method: 'GET',
      url: page.path,
      handle: async (request) => {
        const [consolePath, language] = [await findConsole(request), languageOf(request)];
        if (consolePath === undefined && language === undefined) return answer()(request);
        // Owners, and visitors who chose a language, get a page of their own.
        return compress(request, {
          status: 200,
          headers: { ...pageHeaders, 'cache-control': 'private, no-store' },
          cookies: languageCookies(request),
          body: render(language, consolePath),
        });
      },
    };
  };

  /** A page that is not one of the documents. */
  const otherPage = (status: number, title: string, content: Html, searched?: string): Answer => ({
    status,
    headers: { ...pageHeaders, 'cache-control': 'no-store', vary: 'accept' },
    body: layout({
      path: searchPath,
      title,
      about: title,
      navigation,
      links: html`<meta name="robots" content="noindex" />`,
      article: {
        content: html`<h1 id="top">${title}</h1>
          ${content}`,
        sections: [],
      },
      ...(searched !== undefined && { searched }),
    }),
  });

  return [
    rootRoute,
    styleSheet.route,
    script.route,
    ...contracts.map(({ version, document }) =>
      route(`${version.basePath}/openapi.json`, { ...json, ...cached }, () =>
        JSON.stringify(document()),
      ),
    ),
    ...contracts.slice(0, 1).map(({ version, document }) =>
      route('/llms.txt', textHeaders, () =>
        renderLlmsText(
          document(),
          version,
          allGuides.map((guide) => ({ ...guide, path: guidePath(guide, '.md') })),
        ),
      ),
    ),
    ...[...current, ...earlier.flat()].flatMap((page) => [
      pageRoute(page),
      route(`${page.path}.md`, markdownHeaders, () => page.text('.md')),
    ]),
    route(feedPath, feedHeaders, () => renderFeed(changelog, baseUrl(), feedPath)),
    {
      method: 'GET',
      url: searchPath,
      handle(request) {
        const text = searchedIn(request);
        const { total, found } = search(text);
        const title = text === '' ? 'Search' : `${countOf(total)} for “${text}”`;
        return compress(request, otherPage(200, title, resultList(found), text));
      },
    },
    {
      method: 'GET',
      url: `${searchPath}.json`,
      handle: (request) => {
        const body = JSON.stringify(search(searchedIn(request)));
        return compress(request, { status: 200, headers: { ...json, ...cached }, body });
      },
    },
    {
      method: 'GET',
      url: '/docs/*',
      handle({ url, headers }) {
        if (!prefersPage(headers.accept)) return notFoundForPrograms();
        const path = url.replace(/\?.*$/, '');
        return otherPage(404, 'Page not found', notFoundText(findSimilar(path, current)));
      },
    },
  ];
}

const maxSearchLength = 100;

function searchedIn({ url }: FastifyRequest): string {
  const text = new URLSearchParams(url.split('?', 2)[1]).get('q') ?? '';
  return text.trim().slice(0, maxSearchLength);
}

const countOf = (total: number) =>
  total === 0 ? 'No results' : `${total} ${total === 1 ? 'result' : 'results'}`;

function resultList(found: readonly Found[]): Html {
  if (found.length === 0) return html`<p>Try fewer or other words.</p>`;
  const items = found.map(
    ({ href, page, title, excerpt }) =>
      html`<li>
        <a href="${href}">${page === title ? title : `${title} · ${page}`}</a><br />${excerpt}
      </li>`,
  );
  return html`<ul class="results">
    ${items}
  </ul>`;
}

function notFoundText(similar: readonly DocsPage[]): Html {
  const links = similar.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>`);
  return html`<p>
      The documentation has no page at this address. Search for it above, or begin at
      <a href="/docs">the list of all pages</a>. Your shops are at <a href="/app">/app</a>.
    </p>
    ${
      links.length > 0 &&
      html`<p>Pages with a similar address:</p>
        <ul>
          ${links}
        </ul>`
    }`;
}

/** Leads people to the documentation; there is nothing else here. */
const rootRoute: Route = {
  method: 'GET',
  url: '/',
  handle: ({ headers }) => {
    if (!prefersPage(headers.accept)) return notFoundForPrograms();
    return { status: 302, headers: { location: '/docs', vary: 'accept' }, body: '' };
  },
};

function route(url: string, headers: Readonly<Record<string, string>>, body: () => string): Route {
  const answer = once(() => prepareAnswer(headers, body()));
  return { method: 'GET', url, handle: (request) => answer()(request) };
}

/** Computes a value on first use, and caches it. */
function once<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= compute());
}
