import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { inviteOwner } from '../../src/accounts/links.ts';
import type { Clock } from '../../src/clock.ts';
import type { Store } from '../../src/store/open.ts';
import { deleteMembership, findOwnerByEmail } from '../../src/store/owners/owners.ts';
import type { Role } from '../../src/vocabulary.ts';

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

interface UploadFile {
  readonly name: string;
  readonly content: string | Buffer;
}

/** A browser without scripts: it keeps cookies and sends each form with its CSRF token. */
export class Visitor {
  readonly #baseUrl: string;
  /** The loopback address that it connects from; undefined for the default. */
  readonly #from: string | undefined;
  readonly cookies = new Map<string, string>();
  /** The CSRF token of the last page. */
  token = '';

  constructor(baseUrl: string, from?: string) {
    this.#baseUrl = baseUrl;
    this.#from = from;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Page> {
    return this.#send(path, { headers });
  }

  head(path: string): Promise<Page> {
    return this.#send(path, { method: 'HEAD', headers: {} });
  }

  /** @param headers by default those that a browser sends with a form from the same site */
  post(
    path: string,
    fields: Fields = {},
    headers: Readonly<Record<string, string>> = { origin: this.#baseUrl },
  ): Promise<Page> {
    const pairs = Array.isArray(fields) ? fields : Object.entries(fields);
    const body = new URLSearchParams([['token', this.token], ...pairs]);
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.#send(path, { method: 'POST', headers: { ...type, ...headers } }, String(body));
  }

  /** Proves again, with the password, who the visitor is. */
  async confirm(): Promise<void> {
    await this.get('/app/confirm');
    const { status, text } = await this.post('/app/confirm', { 'proof-password': password });
    assert.equal(status, 303, text);
  }

  /** Sends a form with a file, as a browser does. */
  upload(path: string, file: UploadFile, token = this.token): Promise<Page> {
    const { name, content } = file;
    const boundary = `----${randomUUID()}`;
    const part = (header: string) =>
      `--${boundary}\r\ncontent-disposition: form-data; ${header}\r\n`;
    const body = Buffer.concat([
      Buffer.from(`${part('name="token"')}\r\n${token}\r\n`),
      Buffer.from(`${part(`name="file"; filename="${name}"`)}content-type: text/csv\r\n\r\n`),
      Buffer.from(content),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    return this.postBody(path, `multipart/form-data; boundary=${boundary}`, body);
  }

  /** Sends any body as a form, whether a browser would or not. */
  postBody(path: string, contentType: string, body: Buffer): Promise<Page> {
    const headers = {
      'content-type': contentType,
      'content-length': String(body.length),
      origin: this.#baseUrl,
    };
    return this.#send(path, { method: 'POST', headers }, body);
  }

  /** A copy with the same cookies: a second tab, another network or a thief. */
  copy(from = this.#from): Visitor {
    return this.at(this.#baseUrl, from);
  }

  /** A copy with the same cookies, at another instance. */
  at(baseUrl: string, from = this.#from): Visitor {
    const other = new Visitor(baseUrl, from);
    for (const [name, value] of this.cookies) other.cookies.set(name, value);
    other.token = this.token;
    return other;
  }

  async #send(
    path: string,
    { method = 'GET', headers }: { method?: string; headers: Readonly<Record<string, string>> },
    body?: string | Buffer,
  ): Promise<Page> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const sent = request(this.#baseUrl + path, {
      method,
      headers: { accept: 'text/html,*/*;q=0.8', ...headers, cookie },
      ...(this.#from !== undefined && { localAddress: this.#from }),
    }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const received = new Headers();
    for (const [name, values = []] of Object.entries(response.headersDistinct)) {
      for (const value of values) received.append(name, value);
    }
    for (const line of received.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await readText(response);
    this.token = /name="token" value="([^"]+)"/.exec(text)?.[1] ?? this.token;
    const { statusCode: status = 0 } = response;
    return { status, headers: received, text, location: received.get('location') };
  }
}

export const password = 'correct horse battery';

export function newEmail(): string {
  return `owner-${randomUUID()}@example.com`;
}

/** A random loopback address, so that no other test connects from it. */
export function newAddress(): string {
  const number = randomInt(2 ** 16, 2 ** 24 - 1);
  return `127.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
}

/** Invites an owner, accepts the invitation and returns the signed-in browser. */
export async function signedInOwner(
  { store, clock, service, shop }: Place,
  {
    email = newEmail(),
    shopId = shop.id,
    role = 'owner',
  }: { readonly email?: string; readonly shopId?: number; readonly role?: Role } = {},
) {
  const { path } = await inviteOwner(store.write, clock, { shopId, email, role });
  const visitor = new Visitor(service.baseUrl);
  assert.equal((await visitor.get(path)).status, 200);
  const accepted = await visitor.post(path, { password });
  assert.equal(accepted.status, 303, accepted.text);
  return { email, visitor };
}

/** Removes somebody from a shop, without an entry in the audit log. @returns whether they had access */
export async function removeOwner(store: Store, email: string, shopId: number): Promise<boolean> {
  const { ownerId } = (await findOwnerByEmail(store.write, email)) ?? {};
  if (ownerId === undefined) return false;
  return store.write.begin((tx) => deleteMembership(tx, ownerId, shopId));
}

export const isSignedIn = async (visitor: Visitor): Promise<boolean> =>
  (await visitor.get('/app/account')).status === 200;

/** The id that a form gives a new key. */
export const keyIdIn = ({ text }: Pick<Page, 'text'>): string =>
  /name="id" value="(key_[0-9a-f]{16})"/.exec(text)?.[1] ?? '';

/** Signs an owner in with a new browser. */
export async function signIn(
  baseUrl: string,
  email: string,
  enteredPassword: string = password,
  from?: string,
) {
  const visitor = new Visitor(baseUrl, from);
  await visitor.get('/app/sign-in');
  const page = await visitor.post('/app/sign-in', { email, password: enteredPassword });
  return { visitor, page };
}
