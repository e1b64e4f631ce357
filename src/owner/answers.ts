import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Answer } from '../http/answer.ts';
import type { Html } from '../http/html.ts';

const css = readFileSync(new URL('./style.css', import.meta.url), 'utf8');
/** Changes with the sheet, so that browsers may keep one for good. */
export const stylePath = `/app/style-${hash('sha256', css).slice(0, 12)}.css`;

const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
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
  'x-content-type-options': 'nosniff',
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
export function redirect(
  location: `/app${string}`,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status: 303, headers: { location, ...guarded, ...headers }, body: '' };
}

export function styleSheet(): Answer {
  return {
    status: 200,
    headers: {
      'content-type': 'text/css; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
    },
    body: css,
  };
}
