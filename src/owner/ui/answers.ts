import type { Answer } from '../../http/answer.ts';
import type { Html } from '../../http/html.ts';

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
