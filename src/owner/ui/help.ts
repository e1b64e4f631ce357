import { type Html, html } from '../../http/html.ts';
import { readAsset } from './assets.ts';

/** What pages with definitions load. */
export const helpAssets = [readAsset('help.css', import.meta.url)];

/**
 * A “?” that opens what something means.
 * @param id unique on the page
 */
export function help(id: string, name: string, definition: string): Html {
  return html`<button
      class="help"
      type="button"
      popovertarget="definition-${id}"
      aria-label="${name}: definition"
    >
      ?
    </button>
    <span class="definition" id="definition-${id}" popover>${definition}</span>`;
}
