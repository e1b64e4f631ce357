import { type Html, html } from '../html.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
}

/**
 * What a fieldset holds that chooses between contents, of which CSS shows one: radio buttons, so that it takes no
 * script.
 * @param name unique on the page
 * @param legend for screen readers
 */
export function tabChoices(name: string, legend: string, choices: readonly Choice[]): Html {
  return html`<legend class="visually-hidden">${legend}</legend>
    ${choices.map(
      ({ value, label }, index) =>
        html`<label
          ><input
            type="radio"
            name="${name}"
            value="${value}"
            autocomplete="off"
            ${index === 0 ? html`checked` : undefined}
          /><span>${label}</span></label
        >`,
    )}`;
}
