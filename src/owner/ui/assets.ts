import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { designTokens } from '../../http/design-tokens.ts';

export interface Asset {
  readonly kind: 'css' | 'js';
  /** Contains a hash of the content, so that browsers may cache it permanently. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Reads a style sheet or a script, once at startup.
 * @param file relative to `base`
 * @param base URL of the calling module
 * @param before text to put before the file's content
 */
export function readAsset(file: string, base: string, before = ''): Asset {
  const { name, ext } = path.parse(file);
  const kind = ext === '.js' ? 'js' : 'css';
  const body = before + readFileSync(new URL(file, base), 'utf8');
  return {
    kind,
    path: `/app/${name}-${hash('sha256', body).slice(0, 12)}.${kind}`,
    headers: {
      'content-type': `text/${kind === 'js' ? 'javascript' : 'css'}; charset=utf-8`,
      'cache-control': 'public, max-age=31536000, immutable',
    },
    body,
  };
}

/** Loaded by every page. */
export const frameAssets: readonly Asset[] = [
  readAsset('style.css', import.meta.url, designTokens),
  readAsset('tables.css', import.meta.url),
  readAsset('frame.js', import.meta.url),
  readAsset('../../http/copy.js', import.meta.url),
  readAsset('search.js', import.meta.url),
];
