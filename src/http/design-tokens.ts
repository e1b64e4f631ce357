import { readFileSync } from 'node:fs';

/** Colours, sizes and fonts of all pages, light and dark: custom properties of CSS. */
export const designTokens = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
