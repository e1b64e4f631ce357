import { type Html, html } from '../../http/html.ts';
import { inputField } from './fields.ts';
import type { Shop } from '../../store/shops.ts';

export const searchPath = '/search';

/** One field for pages, actions and records; a script shows the results while typing. */
export function searchForm(
  { id }: Pick<Shop, 'id'>,
  asked: string,
  results: Html | undefined,
): Html {
  return html`<form
    class="search"
    role="search"
    method="get"
    action="/app/shops/${id}${searchPath}"
  >
    ${inputField(
      {
        id: 'search-field',
        name: 'q',
        label: 'Search by number or id, or go to a page',
        hint: 'Our number, or the id at the source, such as cus_… or gid://…',
        value: asked,
      },
      html`type="search" spellcheck="false" autocapitalize="none" autocomplete="off" maxlength="200"`,
    )}
    <button>Search</button>
    <div class="results" aria-live="polite">${results}</div>
  </form>`;
}

/** Opened by a script, with Ctrl+K or ⌘K, or by the link in the frame. */
export function searchDialog(shop: Pick<Shop, 'id'>): Html {
  return html`<dialog class="search" aria-label="Search">
    ${searchForm(shop, '', undefined)}
    <form method="dialog"><button class="plain">Close</button></form>
  </dialog>`;
}
