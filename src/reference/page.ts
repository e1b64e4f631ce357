import type { RestVersion } from '../operations/versions.ts';
import type { OpenApiDocument } from './document.ts';
import { type Html, html, style } from '../http/html.ts';
import { introduction } from './introduction.ts';
import { bodyOf, renderOperation } from './page-operation.ts';
import { anchorOf, fieldTable, fieldsOf, prose } from './page-parts.ts';
import { pageStyle } from './page-style.ts';

const sheet = style(pageStyle);

/** The content security policy of the page: it allows only the page's own style. */
export const referencePageCsp = [
  "default-src 'none'",
  `style-src ${sheet.source}`,
  // For the empty icon, which keeps browsers from requesting /favicon.ico.
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders the reference for people: one page without scripts or other resources. */
export function renderReferencePage(document: OpenApiDocument, version: RestVersion): string {
  const { info, components } = document;
  const serverUrl = document.servers[0].url;
  const sections = introduction(serverUrl, version);
  const paths = Object.entries(document.paths);
  const aliasesOf = (path: string) =>
    paths.flatMap(([alias, { get }]) =>
      'x-alias-of' in get && get['x-alias-of'] === path ? [alias] : [],
    );
  const endpoints = paths.flatMap(([path, { get: operation }]) =>
    'x-alias-of' in operation
      ? []
      : [
          {
            path,
            operation,
            aliases: aliasesOf(path),
            body: bodyOf(operation, components.schemas),
          },
        ],
  );
  // The schemas of whole responses are shown with their endpoints instead.
  const bodies = new Set(endpoints.map(({ body }) => body.name));
  const shapes = Object.entries(components.schemas).filter(([name]) => !bodies.has(name));

  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title}: reference</title>
        <meta name="description" content="${info.summary}" />
        <link rel="icon" href="data:," />
        ${sheet.element}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <div class="frame">
          <nav aria-label="On this page">
            ${linkList('Using the API', [
              ...sections.map(({ id, title }): Link => [id, title]),
              ['headers', 'Response headers'],
            ])}
            ${linkList(
              'Endpoints',
              endpoints.map(({ operation }): Link => [operation.operationId, operation.summary]),
            )}
            ${linkList(
              'Shapes',
              shapes.map(([name]): Link => [anchorOf(name), name]),
            )}
          </nav>
          <main id="content" tabindex="-1">
            <h1>${info.title}</h1>
            <p class="lead">
              ${info.summary} Version ${info.version}. For machines:
              <a href="${serverUrl}${version.basePath}/openapi.json">openapi.json</a>.
            </p>
            ${sections.map(
              ({ id, title, blocks }) =>
                html` <section class="text" aria-labelledby="${id}">
                  <h2 id="${id}">${title}</h2>
                  ${blocks.map((block) => (typeof block === 'string' ? html`<p>${prose(block)}</p>` : proseTable(title, block)))}
                </section>`,
            )}
            <section class="text" aria-labelledby="headers">
              <h2 id="headers">Response headers</h2>
              ${fieldTable(
                'Response headers',
                Object.entries(components.headers).map(
                  ([name, { schema, description, example }]) => ({
                    name,
                    schema: {
                      type: schema.type ?? '',
                      description: `${description} Example: \`${example}\``,
                    },
                  }),
                ),
              )}
            </section>
            <section aria-labelledby="endpoints">
              <h2 id="endpoints">Endpoints</h2>
              ${endpoints.map((endpoint) => renderOperation(serverUrl, endpoint))}
            </section>
            <section aria-labelledby="shapes">
              <h2 id="shapes">Shapes</h2>
              ${shapes.map(
                ([name, schema]) =>
                  html` <article
                    class="shape"
                    id="${anchorOf(name)}"
                    aria-labelledby="${anchorOf(name)}-title"
                  >
                    <h3 id="${anchorOf(name)}-title">${name}</h3>
                    ${schema.description === undefined ? undefined : html`<p>${prose(schema.description)}</p>`}
                    ${fieldTable(`Fields of ${name}`, fieldsOf(schema))}
                  </article>`,
              )}
            </section>
          </main>
        </div>
      </body>
    </html> `;
  return page.toString();
}

type Link = readonly [id: string, text: string];

function linkList(title: string, links: readonly Link[]): Html {
  return html`<p>${title}</p>
    <ul>
      ${links.map(([id, text]) => html`<li><a href="#${id}">${text}</a></li>`)}
    </ul>`;
}

function proseTable(
  title: string,
  { head, rows }: { head: readonly string[]; rows: readonly (readonly string[])[] },
): Html {
  return html`<table aria-label="${title}">
    <thead>
      <tr>
        ${head.map((cell) => html`<th scope="col">${prose(cell)}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${row.map((cell) => html`<td>${prose(cell)}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}
