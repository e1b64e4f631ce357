import { html } from '../html.ts';

/** A loop that has nearly closed around a point: who is kept comes round again. */
const loop = 'M20.2 8.4A9 9 0 1 0 21 12.6';
const head = 'm16.4 9.2 4.4-.3.5-4.4';

/** The mark of the service, in the colour of the text beside it. */
export const mark = html`<svg
  class="mark"
  viewBox="0 0 24 24"
  width="24"
  height="24"
  fill="none"
  stroke="currentColor"
  stroke-width="2.5"
  stroke-linecap="round"
  stroke-linejoin="round"
  aria-hidden="true"
  focusable="false"
>
  <path d="${loop}" />
  <path d="${head}" />
  <circle cx="12" cy="12" r="2.5" fill="currentColor" />
</svg>`;

/** Readable on light and dark backgrounds. */
const colour = '#2f7de1';
/** The mark as a picture of its own. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="${colour}" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"><path d="${loop}"/><path d="${head}"/><circle cx="12" cy="12" r="2.5" fill="${colour}"/></svg>`;

/** The mark as the icon of a page; inside the page, so that browsers request no file for it. */
export const iconLink = html`<link
  rel="icon"
  type="image/svg+xml"
  href="data:image/svg+xml,${encodeURIComponent(icon)}"
/>`;
