import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Asset, createAsset, pageStyle } from '../../http/look/look.ts';

/**
 * Reads a style sheet or a script, once at startup.
 * @param file relative to `base`
 * @param base URL of the calling module
 * @param before text to put before the file's content
 */
export function readAsset(file: string, base: string, before = ''): Asset {
  const text = before + readFileSync(new URL(file, base), 'utf8');
  return createAsset('/app', path.basename(file), text);
}

/** Loaded by every page. */
export const frameAssets: readonly Asset[] = [
  readAsset('style.css', import.meta.url, pageStyle),
  readAsset('tables.css', import.meta.url),
  readAsset('../view/picker.css', import.meta.url),
  readAsset('../segments/segments.css', import.meta.url),
  readAsset('frame.js', import.meta.url),
  readAsset('../../http/look/copy.js', import.meta.url),
  readAsset('search.js', import.meta.url),
];
