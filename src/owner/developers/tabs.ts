import { type Html, html } from '../../http/html.ts';
import { tabChoices } from '../../http/look/look.ts';

interface Tab {
  readonly label: string;
  readonly content: Html;
}

/** Shows one of several contents. Radio buttons and CSS, so that it works without scripts. */
export function tabs(name: string, legend: string, choices: readonly Tab[]): Html {
  return html`<div class="tabs">
    <fieldset>
      ${tabChoices(
        name,
        legend,
        choices.map(({ label }, index) => ({ value: String(index), label })),
      )}
    </fieldset>
    ${choices.map(({ content }) => html`<div>${content}</div>`)}
  </div>`;
}
