import { type Html, html } from '../../http/html.ts';
import { maxNameLength } from '../../vocabulary.ts';
import { describedBy } from './layout.ts';

/**
 * Where an owner names what a form creates.
 * @param isInvalid whether the page's problem is about it
 */
export function nameField(name: string, hint: string, isInvalid: boolean): Html {
  return html`<p class="field">
    <label for="name">Name</label>
    <input
      id="name"
      name="name"
      required
      maxlength="${maxNameLength}"
      autocomplete="off"
      value="${name}"
      ${describedBy('name-hint', isInvalid)}
    />
    <span class="hint" id="name-hint">${hint}</span>
  </p>`;
}

/** @param what the form creates @returns what is wrong with its name, for the owner */
export function nameProblem(name: string, what: string): string | undefined {
  if (name === '') return `Give the ${what} a name, so that you can recognise it later.`;
  return name.length > maxNameLength
    ? `Use at most ${maxNameLength} characters for the name.`
    : undefined;
}
