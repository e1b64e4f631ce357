import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { designTokens } from '../http/design-tokens.ts';
import { prepareAnswer } from '../http/compression/prepared.ts';
import type { Route } from '../http/shell.ts';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

export const styleSheet = readAsset('css', designTokens + read('docs.css'));
export const script = readAsset('js', read('../http/copy.js') + read('docs.js'));

interface Asset {
  /** Contains a hash of the content, so that browsers may cache it permanently. */
  readonly path: string;
  readonly route: Route;
}

function readAsset(kind: 'css' | 'js', text: string): Asset {
  const path = `/docs/docs-${hash('sha256', text).slice(0, 12)}.${kind}`;
  const headers = {
    'content-type': `text/${kind === 'js' ? 'javascript' : 'css'}; charset=utf-8`,
    'cache-control': 'public, max-age=31536000, immutable',
  };
  return { path, route: { method: 'GET', url: path, handle: prepareAnswer(headers, text) } };
}
