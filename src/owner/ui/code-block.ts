import { type Html, html } from '../../http/html.ts';

/**
 * Code with a button that copies it.
 * @param id unique on the page
 * @param label names it for screen readers
 */
export function codeBlock(id: string, label: string, code: string): Html {
  return html`<pre tabindex="0" aria-label="${label}"><code id="${id}">${code}</code></pre>
    <p class="copy">
      <button type="button" class="plain" data-copies="${id}" hidden>Copy</button>
    </p>`;
}
