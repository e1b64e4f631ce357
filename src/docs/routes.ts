import type { FastifyRequest } from 'fastify';
import { prefersPage, prepareAnswer } from '../http/compression.ts';
import { json, notFoundForPrograms } from '../http/answer.ts';
import type { Route } from '../http/shell.ts';
import type { RestVersion } from '../operations/versions.ts';
import { renderLlmsText } from '../reference/llms.ts';
import { buildOpenApi } from '../reference/openapi.ts';
import { renderReference } from '../reference/reference.ts';
import { script, styleSheet, layout, pageHeaders } from './layout.ts';
import { guides, placeGuide, readGuide } from './guides.ts';
import { type Article, renderArticle } from './markdown.ts';

interface DocsParts {
  /** The current one first; its reference is at /docs, those of the others are below it. */
  readonly versions: readonly RestVersion[];
  /** The public URL, which may be known only once the server listens. */
  baseUrl(): string;
  /** The path of the Developers pages, if an owner sent the request. */
  findConsole(request: FastifyRequest): Promise<string | undefined>;
}

/** A page of the documentation, whose text names the public URL. */
interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly about: string;
  /** @param extension of the pages that it links to */
  text(extension: '' | '.md'): string;
  article(): Article;
}

/** Renders the article on first use; the page and the search read it. */
function docsPage(page: Omit<DocsPage, 'article'>): DocsPage {
  return { ...page, article: once(() => renderArticle(page.text(''))) };
}

const cached = { 'cache-control': 'public, max-age=300' };
const textHeaders = { 'content-type': 'text/plain; charset=utf-8', ...cached };
const markdownHeaders = { 'content-type': 'text/markdown; charset=utf-8', ...cached };

/** Serves the documentation, the OpenAPI documents and llms.txt, all without a key. */
export function docsRoutes({ versions, baseUrl, findConsole }: DocsParts): Route[] {
  const contracts = versions.map((version) => ({
    version,
    document: once(() => buildOpenApi({ serverUrl: baseUrl(), version })),
  }));
  const references = contracts.map(({ version, document }, index) => {
    const isCurrent = index === 0;
    return docsPage({
      path: isCurrent ? '/docs' : `/docs/${version.name}`,
      title: isCurrent ? 'API reference' : `API reference, ${version.name}`,
      about: 'Every endpoint, parameter, field and error',
      text: (extension) =>
        renderReference(document(), version, isCurrent ? startOf(extension) : ''),
    });
  });
  const guidePages = allGuides.map(({ name, title, about, file }) => {
    // Now, so that a missing file is noticed at startup.
    const text = readGuide({ file });
    return docsPage({
      path: `/docs/${name}`,
      title,
      about,
      text: (extension) => placeGuide(text, { file, baseUrl: baseUrl(), extension }),
    });
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
          allGuides.map(({ name, title, about }) => ({ path: `/docs/${name}.md`, title, about })),
        ),
      ),
    ),
    ...[...references, ...guidePages].flatMap((page) => [
      pageRoute(page, findConsole),
      route(`${page.path}.md`, markdownHeaders, () => page.text('.md')),
    ]),
    // Guides first: they explain what the reference states. Other versions would be found as duplicates.
    route('/docs/search.json', { ...json, ...cached }, () =>
      JSON.stringify([...guidePages, ...references.slice(0, 1)].flatMap(indexOf)),
    ),
  ];
}

const allGuides = Object.values(guides).flat();

/** Leads people to the documentation; there is nothing else here. */
const rootRoute: Route = {
  method: 'GET',
  url: '/',
  handle: ({ headers }) => {
    if (!prefersPage(headers.accept)) return notFoundForPrograms();
    return { status: 302, headers: { location: '/docs', vary: 'accept' }, body: '' };
  },
};

/** What to read first, for the top of the reference. */
function startOf(extension: '' | '.md'): string {
  const links = allGuides.map(
    ({ name, title, about }) => `- [${title}](/docs/${name}${extension}): ${about}`,
  );
  return ['## Start here', links.join('\n')].join('\n\n');
}

function pageRoute(page: DocsPage, findConsole: DocsParts['findConsole']): Route {
  const render = (consolePath?: string) =>
    layout({ ...page, article: page.article(), consolePath }).toString();
  // Owners get a page of their own.
  const answer = once(() => prepareAnswer({ ...pageHeaders, ...cached, vary: 'cookie' }, render()));
  return {
    method: 'GET',
    url: page.path,
    handle: async (request) => {
      const consolePath = await findConsole(request);
      if (consolePath === undefined) return answer()(request);
      const headers = { ...pageHeaders, 'cache-control': 'private, no-store' };
      return { status: 200, headers, body: render(consolePath) };
    },
  };
}

/** For the search: address, page, heading and text of each section. */
function indexOf({ path, title, article }: DocsPage): [string, string, string, string][] {
  return article().sections.map((section) => [
    section.depth === 1 ? path : `${path}#${section.id}`,
    title,
    section.title,
    section.text.trim(),
  ]);
}

function route(url: string, headers: Readonly<Record<string, string>>, body: () => string): Route {
  const answer = once(() => prepareAnswer(headers, body()));
  return { method: 'GET', url, handle: (request) => answer()(request) };
}

/** Computes a value on first use, and caches it. */
function once<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= compute());
}
