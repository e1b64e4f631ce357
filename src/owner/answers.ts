import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Answer } from '../http/answer.ts';
import { designTokens } from '../http/design-tokens.ts';
import type { Html } from '../http/html.ts';

export interface Asset {
  readonly kind: 'css' | 'js';
  /** Changes with the content, so that browsers may keep it for good. */
  readonly path: string;
  readonly answer: Answer;
}

/** @param before what the file's text follows */
function readAsset(name: string, kind: Asset['kind'], before = ''): Asset {
  const body = before + readFileSync(new URL(`./${name}.${kind}`, import.meta.url), 'utf8');
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

/** What every page loads. */
export const frameAssets = [
  readAsset('style', 'css', designTokens),
  readAsset('tables', 'css'),
  readAsset('frame', 'js'),
  readAsset('copy', 'js'),
] as const;
/** What the dashboard loads besides. */
export const dashboardAssets = [readAsset('dashboard', 'css'), readAsset('charts', 'js')] as const;

export const assets: readonly Asset[] = [...frameAssets, ...dashboardAssets];

const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  // For the empty icon, which keeps browsers from asking for another.
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** What every answer under /app carries. */
const guarded = {
  'cache-control': 'private, no-store',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  // Not `no-referrer`: forms would then be sent without an origin to check.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

export function page(
  body: Html,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...guarded, ...headers },
    body: body.toString(),
  };
}

/** To a page of ours, by GET: what was done is then not done again by reloading. */
export function redirect(location: `/app${string}`, cookies: readonly string[] = []): Answer {
  return { status: 303, headers: { location, ...guarded }, cookies, body: '' };
}
