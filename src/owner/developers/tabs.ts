import { type Html, html } from '../../http/html.ts';

interface Tab {
  readonly label: string;
  readonly content: Html;
}

/** Shows one of several contents. Radio buttons and CSS, so that it works without scripts. */
export function tabs(name: string, legend: string, choices: readonly Tab[]): Html {
  return html`<div class="tabs">
    <fieldset>
      <legend class="visually-hidden">${legend}</legend>
      ${choices.map(
        ({ label }, index) =>
          html`<label
            ><input
              type="radio"
              name="${name}"
              value="${index}"
              autocomplete="off"
              ${index === 0 ? html`checked` : undefined}
            /><span>${label}</span></label
          >`,
      )}
    </fieldset>
    ${choices.map(({ content }) => html`<div>${content}</div>`)}
  </div>`;
}
