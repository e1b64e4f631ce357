import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { stepMinutes } from '../accounts/factors/second-step.ts';
import { type SignInSecrets, deviceDays, sessionHours } from '../accounts/sessions.ts';

type CookieName = 'session' | 'form' | 'device' | 'theme' | 'waiting';

/** How pages look; with `system`, as the browser says. */
export const themes = { system: 'System', light: 'Light', dark: 'Dark' } as const;
export type Theme = keyof typeof themes;

/** Lifetimes of the cookies. */
const cookieSeconds: Readonly<Record<CookieName, number>> = {
  session: sessionHours.max * 3600,
  form: sessionHours.idle * 3600,
  device: deviceDays * 86_400,
  theme: 400 * 86_400,
  waiting: stepMinutes * 60,
};

/**
 * Cookies that sign a browser in and out; either way it stays a known device. Those named `__Host-…` cannot be set by
 * other hosts or without https.
 * @param baseUrl the service's public URL
 */
export function createCookies({ baseUrl }: { baseUrl(): string }) {
  const isSecure = () => baseUrl().startsWith('https:');
  const nameOf = (name: CookieName) => `${isSecure() ? '__Host-' : ''}retention-${name}`;
  const cookie = (name: CookieName, secret: string, maxAgeSeconds = cookieSeconds[name]) => {
    const security = isSecure() ? 'Secure; ' : '';
    return `${nameOf(name)}=${secret}; Path=/; HttpOnly; SameSite=Lax; ${security}Max-Age=${maxAgeSeconds}`;
  };
  return {
    /** The cookies of a request. */
    read({ headers }: Pick<FastifyRequest, 'headers'>) {
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('=', 2));
      const cookies = new Map(pairs.map(([name = '', value = '']) => [name, value]));
      return {
        secretOf: (name: CookieName) => parseSecret(cookies.get(nameOf(name))),
        theme: parseTheme(cookies.get(nameOf('theme'))),
      };
    },
    theme: (theme: Theme) => cookie('theme', theme),
    form: (secret: string) => cookie('form', secret),
    signIn: ({ session, device }: SignInSecrets) => [
      cookie('session', session),
      cookie('device', device),
      cookie('waiting', '', 0),
    ],
    wait: (secret: string) => cookie('waiting', secret),
    signOut: () => [cookie('session', '', 0)],
  };
}

export const parseTheme = (value = '') =>
  Object.hasOwn(themes, value) ? (value as Theme) : 'system';

/** The value of a cookie, if it has the format of our secrets. */
export const parseSecret = (value = '') => (/^[\w-]{43}$/.test(value) ? value : undefined);

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

const bytes = 32;

const expected = (cookie: string) => createHmac('sha256', cookie).update('form').digest();

const mask = (secret: Buffer, by: Buffer) =>
  Buffer.from(secret.map((byte, index) => byte ^ (by[index] ?? 0)));

/**
 * The CSRF token of a page's forms, derived from a cookie. Different on each page, so that the sizes of
 * compressed pages reveal nothing about it.
 */
export function formToken(cookie: string): string {
  const random = randomBytes(bytes);
  return Buffer.concat([random, mask(expected(cookie), random)]).toString('base64url');
}

export function isFormToken(cookie: string, token: string): boolean {
  const given = Buffer.from(token, 'base64url');
  if (given.length !== 2 * bytes) return false;
  const actual = mask(given.subarray(bytes), given.subarray(0, bytes));
  return timingSafeEqual(expected(cookie), actual);
}
