import type { Answer } from '../../http/answer.ts';
import type { Html } from '../../http/html.ts';
import { contentSecurityPolicy } from '../../http/look/look.ts';

/** Headers of every page under /app. */
export const pageHeaders = {
  'cache-control': 'private, no-store',
  'content-security-policy': contentSecurityPolicy("'self'"),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  // Not `no-referrer`: browsers would then send forms without the Origin header that we check.
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
    headers: { 'content-type': 'text/html; charset=utf-8', ...pageHeaders, ...headers },
    body: body.toString(),
  };
}

/** Redirects to another page by GET, so that reloading it does not repeat the action. */
export function redirect(location: `/app${string}`, cookies: readonly string[] = []): Answer {
  return { status: 303, headers: { location, ...pageHeaders }, cookies, body: '' };
}

/** The page to open after signing in: only one below /app, so that a link cannot lead to another site. */
export function returnPath(asked: string | null): `/app${string}` {
  const base = 'http://localhost';
  const url = URL.parse(asked ?? '', base);
  return url?.origin === base && url.pathname.startsWith('/app/')
    ? `/app${url.pathname.slice('/app'.length)}${url.search}`
    : '/app';
}
