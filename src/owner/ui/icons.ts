import { type Html, html } from '../../http/html.ts';
import { dataUrl } from '../../http/look/look.ts';

/** Line drawings on a 20 × 20 grid. */
const drawings = {
  overview: 'M3 17V9M8 17V4M13 17v-6M18 17V7',
  churn: 'm3 5 5 6 3.5-3.5L17 14M17 9v5h-5',
  cohorts: 'M3 3h14M3 7h14v-4M3 3v14h4.7V3M7.7 12h4.6V3M12.3 7H17',
  revenue: 'M3 6c0 3.3 14 3.3 14 0s-14-3.3-14 0v8c0 3.3 14 3.3 14 0V6M3 10c0 3.3 14 3.3 14 0',
  recovery: 'M3 10a7 7 0 1 0 2-4.9L3 7M3 3v4h4M10 6.5V10l2.5 2',
  subscriptions:
    'M4 8a6.5 6.5 0 0 1 11.5-2L17 8M17 3.5V8h-4.5M16 12a6.5 6.5 0 0 1-11.5 2L3 12M3 16.5V12h4.5',
  cancelFlow: 'M12 3H4v14h8M8.5 10H18M14.5 6.5 18 10l-3.5 3.5',
  sources: 'M6 3v5M14 3v5M4 8h12v2a6 6 0 0 1-12 0zM10 16v2',
  keys: 'm7 5-5 5 5 5M13 5l5 5-5 5',
  team: 'M2 17c.5-7 10-7 10.5 0M7 9a3 3 0 1 1 .1 0M13 3a3 3 0 0 1 0 6m2 3q3 1 3 5',
  audit: 'M5 2.5h7l3 3v12H5zM8 8.5h4m-4 3h4m-4 3h2',
  more: 'M3.5 10h1M9.5 10h1M15.5 10h1',
  search: 'M9 3.5a5.5 5.5 0 1 0 .1 0M13 13l4.5 4.5',
  account: 'M6.5 6.5a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0M3 18c.5-4 3-6 7-6s6.5 2 7 6',
} as const;

export type IconName = keyof typeof drawings;

/** A decorative icon, in the colour of the text beside it. */
export const icon = (name: IconName): Html => html`<i class="icon i-${name}"></i>`;

const draw = (path: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20" fill="none" stroke="black" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"><path d="${path}"/></svg>`;

/** The drawings, in a style sheet, since every page has a dozen of them. */
export const iconStyle = Object.entries(drawings)
  .map(([name, path]) => `.i-${name}{--drawing:url("${dataUrl(draw(path))}")}\n`)
  .join('');
