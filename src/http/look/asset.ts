import { hash } from 'node:crypto';
import path from 'node:path';
import { prepareAnswer } from '../compression/prepared.ts';
import type { Route } from '../shell.ts';

/** A style sheet or a script of pages. */
export interface Asset {
  readonly kind: 'css' | 'js';
  /** Contains a hash of the content, so that browsers may cache it permanently. */
  readonly path: string;
  readonly route: Route;
}

/**
 * @param folder of its address, such as `/app`
 * @param file its name, such as `style.css`
 */
export function createAsset(folder: string, file: string, text: string): Asset {
  const { name, ext } = path.parse(file);
  const kind = ext === '.js' ? 'js' : 'css';
  const url = `${folder}/${name}-${hash('sha256', text).slice(0, 12)}.${kind}`;
  const headers = {
    'content-type': `text/${kind === 'js' ? 'javascript' : 'css'}; charset=utf-8`,
    'cache-control': 'public, max-age=31536000, immutable',
  };
  const handle = prepareAnswer(headers, text);
  return { kind, path: url, route: { method: 'GET', url, isAsset: true, handle } };
}
