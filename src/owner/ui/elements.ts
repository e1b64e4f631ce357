import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { highlight } from '../../http/look/highlight.ts';
import { tabChoices } from '../../http/look/look.ts';
import { type MemberShop, type Site, opens, shopPath } from '../site.ts';

/** The id of a page's alert, for the fields that it is about. */
export const problemId = 'problem';

/** An error message, announced by screen readers. */
export function alert(message: HtmlValue): Html | undefined {
  return message === undefined
    ? undefined
    : html`<p class="alert" id="${problemId}" role="alert">${message}</p>`;
}

/** Where data comes from, for pages without any. */
export function sourcesLink(visit: { readonly site: Site; readonly shop: MemberShop }): Html {
  return opens(visit, '/sources')
    ? html`<a class="button" href="${shopPath(visit.shop, '/sources')}">Go to Sources</a>`
    : html`An owner or a developer of ${visit.shop.name} can bring its data here.`;
}

/** What a link or button is about, for screen readers: the rest of its label. */
export const hiddenRest = (text: string) => html`<span class="visually-hidden"> ${text}</span>`;

/** A message about a completed action. */
export function notice(message: HtmlValue): Html | undefined {
  return message === undefined ? undefined : html`<p class="notice" role="status">${message}</p>`;
}

/**
 * A “?” that opens what something means.
 * @param id unique on the page, outside forms: their buttons would need a type
 */
export function help(id: string, name: string, definition: string): Html {
  return html`<button class="help" popovertarget="about-${id}" aria-label="${name}: definition">
      ?
    </button>
    <span class="definition" id="about-${id}" popover>${definition}</span>`;
}

/**
 * Code with a button that copies it.
 * @param id unique on the page
 * @param label names it for screen readers
 * @param language as Markdown names it
 */
export function codeBlock(id: string, label: string, code: string, language = ''): Html {
  const shown = highlight(code, language);
  return html`<pre tabindex="0" aria-label="${label}"><code id="${id}">${shown}</code></pre>
    <p class="copy">
      <button type="button" class="plain" data-copies="${id}" hidden>Copy</button>
    </p>`;
}

interface Tab {
  /** The label by default. */
  readonly value?: string;
  readonly label: string;
  readonly content: Html;
}

/** Shows one of several contents, the first unless another is chosen. CSS does it, so that it takes no script. */
export function tabs(name: string, legend: string, choices: readonly Tab[], chosen?: string): Html {
  return html`<div class="tabs">
    <fieldset>
      ${tabChoices(
        name,
        legend,
        choices.map(({ label, value = label }) => ({ value, label })),
        chosen,
      )}
    </fieldset>
    ${choices.map(({ content }) => html`<div>${content}</div>`)}
  </div>`;
}
