import { type Html, html } from '../../http/html.ts';
import { type OwnerPage, type OwnerParts, shopPage } from '../pages.ts';
import { page } from '../ui/answers.ts';
import { layout } from '../ui/layout.ts';
import { searchForm } from '../ui/search.ts';
import { type Result, findPages, findRecords } from './find.ts';

/** The search of a shop's pages and records. */
export function searchPages(parts: OwnerParts): OwnerPage[] {
  return [
    shopPage('/search', {
      async show(visit) {
        const { shop, query } = visit;
        const asked = (query.get('q') ?? '').trim().slice(0, 200);
        const records = await findRecords(parts, visit, asked);
        const results = resultList(asked, [...records, ...findPages(visit, asked)]);
        const content = searchForm(shop, asked, results);
        return page(layout(visit, { title: 'Search', content }));
      },
    }),
  ];
}

function resultList(asked: string, results: readonly Result[]): Html {
  if (results.length === 0) {
    return html`<p>
      Nothing found for “${asked}”. You can search for pages and actions by their names, and for
      customers, subscriptions, plans and cancel-flow sessions by our number or the id at the
      source. Customers’ names and email addresses are not stored here, so they cannot be found.
    </p>`;
  }
  const count = results.length === 1 ? '1 result' : `${results.length} results`;
  return html`<p class="quiet">${count}</p>
    <ul>
      ${results.map(
        ({ label, hint, path, form }) =>
          html`<li>
            ${
              form
                ? html`<button class="plain" form="${form}">${label}</button>`
                : html`<a href="${path}"
                    >${label} ${hint && html`<span class="quiet">${hint}</span>`}</a
                  >`
            }
          </li>`,
      )}
    </ul>`;
}
