import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { inviteOwner } from '../../src/owner/links.ts';
import type { Clock } from '../../src/clock.ts';
import type { Store } from '../../src/store/open.ts';

/** What signing in needs of a world. */
interface Place {
  readonly store: Store;
  readonly clock: Clock;
  readonly service: { readonly baseUrl: string };
  readonly shop: { readonly id: number };
}

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it redirects to. */
  readonly location: string | null;
}

type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** A browser without scripts: keeps cookies, and sends forms with the token that they had. */
export class Visitor {
  readonly #baseUrl: string;
  readonly cookies = new Map<string, string>();
  /** Of the page that was seen last. */
  token = '';

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.#send(path, { headers });
  }

  /** @param headers instead of those that tell a form of ours */
  post(
    path: string,
    fields: Fields = {},
    headers: Readonly<Record<string, string>> = { origin: this.#baseUrl },
  ): Promise<Page> {
    const pairs = Array.isArray(fields) ? fields : Object.entries(fields);
    const body = new URLSearchParams([['token', this.token], ...pairs]);
    return this.#send(path, { method: 'POST', headers, body });
  }

  /** The same browser in a second tab, or as somebody who copied its cookies. */
  copy(): Visitor {
    const other = new Visitor(this.#baseUrl);
    for (const [name, value] of this.cookies) other.cookies.set(name, value);
    other.token = this.token;
    return other;
  }

  async #send(path: string, init: RequestInit): Promise<Page> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(this.#baseUrl + path, {
      ...init,
      redirect: 'manual',
      headers: { ...(init.headers as Record<string, string>), cookie },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    this.token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? this.token;
    const { status, headers } = response;
    return { status, headers, text, location: headers.get('location') };
  }
}

export const password = 'correct horse battery';

export function newEmail(): string {
  return `owner-${randomUUID()}@example.com`;
}

/** An owner of a shop who has followed their invitation, and is signed in. */
export async function signedInOwner(
  { store, clock, service, shop }: Place,
  { email = newEmail(), shopId = shop.id } = {},
) {
  const { path } = await inviteOwner(store.write, clock, { shopId, email });
  const visitor = new Visitor(service.baseUrl);
  assert.equal((await visitor.get(path)).status, 200);
  const accepted = await visitor.post(path, { password });
  assert.equal(accepted.status, 303, accepted.text);
  return { email, visitor };
}

/** Another browser, in which an owner signs in. */
export async function signIn(baseUrl: string, email: string, word: string = password) {
  const visitor = new Visitor(baseUrl);
  await visitor.get('/app/sign-in');
  const page = await visitor.post('/app/sign-in', { email, password: word });
  return { visitor, page };
}
