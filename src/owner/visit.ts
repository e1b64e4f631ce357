import type { FastifyRequest } from 'fastify';
import type { Shop } from '../store/shops.ts';
import type { OwnerSession } from '../accounts/sessions.ts';
import type { PageInfo, Site } from './site.ts';

/** A page request, and what is known about the visitor. */
export interface Visit {
  readonly request: FastifyRequest;
  /** All pages, and the one that is visited; undefined for an address without one. */
  readonly site: Site;
  readonly page: PageInfo | undefined;
  /** The parameters in the route's path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly session: OwnerSession | undefined;
  /** The shops of the signed-in owner, on pages for owners. */
  readonly shops?: readonly Shop[];
  /** The secret that the CSRF token is derived from. */
  readonly formSecret: string;
  /** The client's network, by which sign-in attempts are counted. */
  readonly address: string;
  /** The device cookie: an unverified claim that an owner has signed in with this browser before. */
  readonly device: string | undefined;
}

/** Cookies by name, as the browser sent them. */
export function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim().split('=', 2));
  return new Map(pairs.map(([name = '', value = '']) => [name, value]));
}

/** The value of a cookie, if it has the format of our secrets. */
export function parseSecret(value: string | undefined): string | undefined {
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined;
}

export type CookieName = 'session' | 'form' | 'device';

/** Cookies named `__Host-…` cannot be set by other hosts or without https. */
export function cookieName(name: CookieName, isSecure: boolean): string {
  return isSecure ? `__Host-retention-${name}` : `retention-${name}`;
}

/** @param secret undefined deletes the cookie */
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

/** Whether a form was sent from one of our pages, according to the browser's headers. */
export function isOwnForm(
  { headers, protocol, host }: FastifyRequest,
  { baseUrl, isPublic }: { readonly baseUrl: string; readonly isPublic: boolean },
): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  const { origin } = headers;
  if (origin === undefined) return site === 'same-origin';
  if (origin === new URL(baseUrl).origin) return true;
  // Without a public URL, the service may be reached under any name of the machine.
  return !isPublic && host !== '' && origin === `${protocol}://${host}`;
}
