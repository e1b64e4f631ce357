import { readFileSync } from 'node:fs';
import { type Html, html } from '../http/html.ts';
import {
  contentSecurityPolicy,
  iconLink,
  mark,
  createAsset,
  pageStyle,
} from '../http/look/look.ts';
import { guides } from './guides.ts';
import type { Article, Section } from './markdown.ts';

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy("'none'"),
  'referrer-policy': 'no-referrer',
} as const;

interface Link {
  readonly path: string;
  readonly title: string;
}

interface PageParts extends Link {
  readonly about: string;
  readonly article: Article;
  /** The Developers pages of the owner who is signed in. */
  readonly consolePath?: string | undefined;
}

/** The pages by the headings of the navigation; the first group has none. */
const navigation: readonly (readonly [string, readonly Link[]])[] = [
  ['', [{ path: '/docs', title: 'API reference' }]],
  ...Object.entries(guides).map(
    ([title, pages]) =>
      [title, pages.map((page) => ({ path: `/docs/${page.name}`, title: page.title }))] as const,
  ),
];
const sequence = navigation.flatMap(([, pages]) => pages);

/** Renders a complete page. */
export function layout({ path, title, about, article, consolePath }: PageParts): Html {
  const place = sequence.findIndex((each) => each.path === path);
  const contents = article.sections.filter(({ depth }) => depth === 2 || depth === 3);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Retention Data API</title>
        <meta name="description" content="${about}" />
        ${iconLink}
        <link rel="alternate" type="text/markdown" href="${path}.md" />
        <link rel="stylesheet" href="${styleSheet.path}" />
        <script type="module" src="${script.path}"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header class="top">
          <a class="brand" href="/docs" aria-label="Retention docs"
            >${mark}<span>Retention <span>docs</span></span></a
          >
          ${searchField}
          ${
            consolePath === undefined
              ? html`<a class="console" href="/app">Sign in</a>`
              : html`<a class="console" href="${consolePath}">Console</a>`
          }
        </header>
        <div class="frame">
          <details class="menu">
            <summary>All pages</summary>
            <nav aria-label="All pages">${pageLinks(path)}</nav>
          </details>
          <nav class="pages" aria-label="Documentation">${pageLinks(path)}</nav>
          <main id="content" tabindex="-1">
            ${
              contents.length > 1 &&
              html`<details class="contents">
                <summary>On this page</summary>
                ${contentLinks(contents)}
              </details>`
            }
            <article>${article.content}</article>
            <footer>
              <p class="source"><a href="${path}.md">This page as Markdown</a></p>
              <nav class="sequence" aria-label="Previous and next page">
                ${place > 0 && neighbour('prev', sequence[place - 1])}
                ${place !== -1 && neighbour('next', sequence[place + 1])}
              </nav>
            </footer>
          </main>
          <nav class="contents" aria-label="On this page">
            ${
              contents.length > 1 &&
              html`<p>On this page</p>
                ${contentLinks(contents)}`
            }
          </nav>
        </div>
      </body>
    </html> `;
}

/** Takes its place from the start, so that nothing moves when the script shows it. */
const searchField = html`<search class="search" data-index="/docs/search.json">
  <input
    type="search"
    id="search"
    aria-label="Search the documentation"
    placeholder="Search"
    autocomplete="off"
    spellcheck="false"
  />
  <div class="found" hidden>
    <p role="status"></p>
    <ul></ul>
  </div>
</search>`;

function pageLinks(current: string): Html {
  return html`${navigation.map(
    ([title, pages]) =>
      html`${title !== '' && html`<p>${title}</p>`}
        <ul>
          ${pages.map(
            (page) =>
              html`<li>
                <a href="${page.path}" ${page.path === current && html`aria-current="page"`}
                  >${page.title}</a
                >
              </li>`,
          )}
        </ul>`,
  )}`;
}

function contentLinks(sections: readonly Section[]): Html {
  return html`<ul>
    ${sections.map(
      ({ id, depth, title }) => html`<li class="depth-${depth}"><a href="#${id}">${title}</a></li>`,
    )}
  </ul>`;
}

function neighbour(rel: 'prev' | 'next', page: Link | undefined): Html | undefined {
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
  read('../http/look/copy.js') + read('docs.js'),
);
