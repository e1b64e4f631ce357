import { readFileSync } from 'node:fs';

/** CSS custom properties for the colours, sizes and fonts of all pages, light and dark. */
export const designTokens = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
