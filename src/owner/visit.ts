import type { FastifyRequest } from 'fastify';
import type { Shop } from '../store/shops.ts';
import type { Session } from '../accounts/sessions.ts';

/** Whoever asks for a page, with what is known of them. */
export interface Visit {
  readonly request: FastifyRequest;
  /** What follows `:` in the path of the route. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly session: Session | undefined;
  /** Whose owner is signed in, on pages for owners. */
  readonly shops?: readonly Shop[];
  /** What the token in forms follows from. */
  readonly formSecret: string;
  /** The network address that attempts are counted by. */
  readonly address: string;
  /** The token of a browser in which somebody has signed in before, or that claims to be one. */
  readonly device: string | undefined;
}

/** Cookies by name, as the browser sent them. */
export function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  return new Map(pairs.map(([name = '', value = '']) => [name, value]));
}

/** What a cookie holds, if it has the form of one of our secrets. */
export function heldSecret(value: string | undefined): string | undefined {
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

export type CookieName = 'session' | 'form' | 'device';

/** Names with `__Host-` are ones that no other host, and no page in clear text, can set. */
export function cookieName(name: CookieName, isSecure: boolean): string {
  return isSecure ? `__Host-retention-${name}` : `retention-${name}`;
}

/** @param secret undefined takes the cookie away */
export function setCookie(
  name: CookieName,
  secret: string | undefined,
  { isSecure, maxAgeSeconds }: { isSecure: boolean; maxAgeSeconds: number },
): string {
  const age = secret === undefined ? 0 : maxAgeSeconds;
  return [
    `${cookieName(name, isSecure)}=${secret ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure ? ['Secure'] : []),
    `Max-Age=${age}`,
  ].join('; ');
}

/** Whether a form was sent by a page of ours, as far as the browser says. */
export function isOwnForm(
  { headers, protocol, host }: FastifyRequest,
  { baseUrl, isPublic }: { readonly baseUrl: string; readonly isPublic: boolean },
): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin } = headers;
  if (origin === undefined) return site === 'same-origin';
  if (origin === new URL(baseUrl).origin) return true;
  // Without a public address the service may be asked for under any name of the machine.
  return !isPublic && host !== '' && origin === `${protocol}://${host}`;
}
