import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Answer } from '../../http/answer.ts';
import { designTokens } from '../../http/design-tokens.ts';

export interface Asset {
  readonly kind: 'css' | 'js';
  /** Changes with the content, so that browsers may keep it for good. */
  readonly path: string;
  readonly answer: Answer;
}

/**
 * Reads a style sheet or a script once, at start.
 * @param file relative to the module that asks, whose URL is `base`
 * @param before text that the file's own follows
 */
export function readAsset(file: string, base: string, before = ''): Asset {
  const { name, ext } = path.parse(file);
  const kind = ext === '.js' ? 'js' : 'css';
  const body = before + readFileSync(new URL(file, base), 'utf8');
  return {
    kind,
    path: `/app/${name}-${hash('sha256', body).slice(0, 12)}.${kind}`,
    answer: {
      status: 200,
      headers: {
        'content-type': `text/${kind === 'js' ? 'javascript' : 'css'}; charset=utf-8`,
        'cache-control': 'public, max-age=31536000, immutable',
      },
      body,
    },
  };
}

/** Loaded by every page. */
export const frameAssets: readonly Asset[] = [
  readAsset('style.css', import.meta.url, designTokens),
  readAsset('tables.css', import.meta.url),
  readAsset('frame.js', import.meta.url),
  readAsset('copy.js', import.meta.url),
];
