import { readFileSync } from 'node:fs';
import { type Html, html } from '../http/html.ts';
import {
  contentSecurityPolicy,
  endOfPage,
  iconLink,
  mark,
  createAsset,
  pageStyle,
  waitForEnd,
} from '../http/look/look.ts';
import type { Article, Section } from './markdown.ts';
import type { DocsPage, Navigation } from './pages.ts';

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy("'self'"),
  'referrer-policy': 'no-referrer',
} as const;

interface PageParts {
  readonly path: string;
  readonly title: string;
  readonly about: string;
  readonly article: Article;
  readonly navigation: Navigation;
  /** What else there is in its head, such as its text as Markdown. */
  readonly links?: Html;
  /** The Developers pages of the owner who is signed in. */
  readonly consolePath?: string | undefined;
  /** What was searched for. */
  readonly searched?: string;
}

/** Renders a complete page. */
export function layout(parts: PageParts): string {
  const { path, title, about, article, navigation, consolePath } = parts;
  const sequence = [...navigation.values()].flat();
  const place = sequence.findIndex((each) => each.path === path);
  const links = pageLinks(navigation, path);
  const isHome = path === '/docs';
  const contents = article.sections.filter(({ depth }) => !isHome && (depth === 2 || depth === 3));
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Retention Data API</title>
        <meta name="description" content="${about}" />
        ${iconLink} ${waitForEnd} ${parts.links}
        <link rel="stylesheet" href="${styleSheet.path}" />
        <script type="module" src="${script.path}"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header class="top">
          <a class="brand" href="/docs" aria-label="Retention docs"
            >${mark}<span>Retention <span>docs</span></span></a
          >
          ${searchForm(parts.searched)}
          ${
            consolePath === undefined
              ? html`<a class="console" href="/app">Sign in</a>`
              : html`<a class="console" href="${consolePath}">Console</a>`
          }
        </header>
        <div class="frame ${isHome && 'home'}">
          <details class="menu">
            <summary>All pages</summary>
            <nav aria-label="All pages">${links}</nav>
          </details>
          <nav class="pages" aria-label="Documentation">${links}</nav>
          <main id="content" tabindex="-1">
            ${
              contents.length > 1 &&
              html`<details class="contents">
                <summary>On this page</summary>
                ${contentLinks(contents)}
              </details>`
            }
            <article>${article.content}</article>
            ${
              place !== -1 &&
              html`<footer>
                <p class="source"><a href="${path}.md">This page as Markdown</a></p>
                <nav class="sequence" aria-label="Previous and next page">
                  ${neighbour('prev', sequence[place - 1])}
                  ${neighbour('next', sequence[place + 1])}
                </nav>
              </footer>`
            }
          </main>
          ${
            contents.length > 1 &&
            html`<nav class="contents" aria-label="On this page">
              <p>On this page</p>
              ${contentLinks(contents)}
            </nav>`
          }
        </div>
        ${endOfPage}
      </body>
    </html> `.toString();
}

/** Finds sections while typing, with its script; without it, on a page of its own. */
function searchForm(searched = ''): Html {
  return html`<search class="search">
    <form action="${searchPath}">
      <input
        type="search"
        id="search"
        name="q"
        value="${searched}"
        aria-label="Search the documentation"
        placeholder="Search"
        autocomplete="off"
        spellcheck="false"
        maxlength="100"
      />
    </form>
    <div class="found" hidden>
      <p role="status"></p>
      <ul></ul>
    </div>
  </search>`;
}

export const searchPath = '/docs/search';

function pageLinks(navigation: Navigation, current: string): Html {
  return html`${[...navigation].map(([heading, pages]) => {
    const items = pages.map(({ path, title }) => {
      const isCurrent = path === current && html`aria-current="page"`;
      return html`<li><a href="${path}" ${isCurrent}>${title}</a></li>`;
    });
    return html`<p>${heading}</p>
      <ul>
        ${items}
      </ul>`;
  })}`;
}

function contentLinks(sections: readonly Section[]): Html {
  return html`<ul>
    ${sections.map(
      ({ id, depth, title }) => html`<li class="depth-${depth}"><a href="#${id}">${title}</a></li>`,
    )}
  </ul>`;
}

function neighbour(rel: 'prev' | 'next', page: DocsPage | undefined): Html | undefined {
  return (
    page &&
    html`<a rel="${rel}" href="${page.path}"
      ><span>${rel === 'prev' ? 'Previous' : 'Next'}</span> ${page.title}</a
    >`
  );
}

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

export const styleSheet = createAsset('/docs', 'docs.css', pageStyle + read('docs.css'));
export const script = createAsset(
  '/docs',
  'docs.js',
  ['../http/look/copy.js', '../http/look/languages.js', 'docs.js'].map(read).join(''),
);
