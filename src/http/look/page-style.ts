import { readFileSync } from 'node:fs';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/**
 * What the style sheets of all pages begin with: custom properties for the colours, sizes and fonts, light and
 * dark, and the rules that do not depend on the page.
 */
export const pageStyle = read('tokens.css') + read('base.css');
