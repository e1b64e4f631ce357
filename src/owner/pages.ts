import type { FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/client-network.ts';
import type { KeyUsage } from '../access/keys/key-usage.ts';
import type { Clock } from '../clock.ts';
import type { Answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import { html } from '../http/html.ts';
import type { Route } from '../http/shell.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/open.ts';
import { listShopIdsOfOwner } from '../store/owners/owners.ts';
import { type Shop, findShop } from '../store/shops.ts';
import { page, redirect } from './ui/answers.ts';
import { deviceDays } from '../accounts/devices.ts';
import { layout } from './ui/layout.ts';
import { TooBusy } from '../accounts/passwords.ts';
import { newSecret } from '../accounts/secrets.ts';
import { isFormToken } from './ui/form-token.ts';
import {
  type Session,
  type SignInSecrets,
  openSession,
  sessionHours,
} from '../accounts/sessions.ts';
import {
  type CookieName,
  type Visit,
  cookieName,
  heldSecret,
  isOwnForm,
  readCookies,
  setCookie,
} from './visit.ts';

export interface OwnerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The service's public address. */
  baseUrl(): string;
  /** Whether that was configured, rather than being the address listened on. */
  readonly isPublic: boolean;
  /** What this process knows of the use of keys, before it is stored. */
  readonly usage: Pick<KeyUsage, 'lastUsedAt'>;
}

type OwnerVisit = Visit & { readonly session: Session; readonly shops: readonly Shop[] };
export type ShopVisit = OwnerVisit & { readonly shop: Shop };

const maxFormBytes = 16 * 1024;
/** How long browsers keep cookies. */
const cookieSeconds: Readonly<Record<CookieName, number>> = {
  session: sessionHours.max * 3600,
  form: sessionHours.idle * 3600,
  device: deviceDays * 86_400,
};
type Form = URLSearchParams;
type Handler<V> = (visit: V) => Promise<Answer>;
type FormHandler<V> = (visit: V, form: Form) => Promise<Answer>;

/** Who lets visitors in: makes routes out of pages, by who may see them. */
export interface Pages {
  anyone(url: string, handle: Handler<Visit>): Route;
  anyonesForm(url: string, handle: FormHandler<Visit>): Route;
  /** Others are sent to sign in. */
  owners(url: string, handle: Handler<OwnerVisit>): Route;
  ownersForm(url: string, handle: FormHandler<OwnerVisit>): Route;
  /** Of the shop in the path (`:shopId`): to whom it does not belong, there is no such page. */
  shops(url: string, handle: Handler<ShopVisit>): Route;
  shopsForm(url: string, handle: FormHandler<ShopVisit>): Route;
  /** The cookies by which a browser is signed in and remembered. */
  signInCookies(secrets: SignInSecrets): string[];
  /** The same for signing out; the browser is still remembered. */
  signOutCookies(): string[];
}

export function createPages(parts: OwnerParts): Pages {
  const { store, clock, log } = parts;
  const isSecure = () => parts.baseUrl().startsWith('https:');
  const cookie = (name: CookieName, secret: string | undefined) =>
    setCookie(name, secret, { isSecure: isSecure(), maxAgeSeconds: cookieSeconds[name] });

  const enter = async (request: FastifyRequest): Promise<Visit & { isNew: boolean }> => {
    const cookies = readCookies(request.headers.cookie);
    const held = (name: CookieName) => heldSecret(cookies.get(cookieName(name, isSecure())));
    const [sessionSecret, formSecret] = [held('session'), held('form')];
    const session =
      sessionSecret === undefined
        ? undefined
        : await openSession(store.write, clock, sessionSecret);
    return {
      request,
      params: request.params as Record<string, string>,
      query: new URL(request.url, 'http://localhost').searchParams,
      session,
      formSecret: session?.secret ?? formSecret ?? newSecret(),
      isNew: !session && formSecret === undefined,
      address: clientNetwork(request.ip),
      device: held('device'),
    };
  };

  /** What is thrown is logged, and answered with a page instead of the envelope. */
  const guarded =
    (handle: (request: FastifyRequest) => Promise<Answer>) =>
    async (request: FastifyRequest): Promise<Answer> => {
      try {
        return await handle(request);
      } catch (error) {
        if (error instanceof TooBusy) return busyPage();
        log.error({ requestId: request.id, err: error }, 'request failed');
        return failurePage(request.id);
      }
    };

  const get = (url: string, handle: Handler<Visit>): Route => ({
    method: 'GET',
    url,
    handle: guarded(async (request) => {
      const visit = await enter(request);
      const answer = await handle(visit);
      if (!visit.isNew) return answer;
      return { ...answer, cookies: [cookie('form', visit.formSecret), ...(answer.cookies ?? [])] };
    }),
  });

  const post = (url: string, handle: FormHandler<Visit>): Route => ({
    method: 'POST',
    url,
    handle: guarded(async (request) => {
      const { isPublic } = parts;
      if (!isOwnForm(request, { baseUrl: parts.baseUrl(), isPublic })) return foreignPage();
      const body = await readBody(request, {
        contentType: 'application/x-www-form-urlencoded',
        maxBytes: maxFormBytes,
      });
      if ('refusal' in body) return unreadablePage(body.refusal);
      const form = new URLSearchParams(body.bytes.toString('utf8'));
      const visit = await enter(request);
      if (!isFormToken(visit.formSecret, form.get('token') ?? '')) return stalePage();
      return handle(visit, form);
    }),
  });

  /** Sends to sign in whoever is not. */
  const asOwner =
    <Rest extends unknown[]>(handle: (visit: OwnerVisit, ...rest: Rest) => Promise<Answer>) =>
    async (visit: Visit, ...rest: Rest): Promise<Answer> => {
      const { session } = visit;
      if (!session) return redirect('/app/sign-in');
      return handle(
        { ...visit, session, shops: await listShopsOf(store, session.ownerId) },
        ...rest,
      );
    };
  const asShop = <Rest extends unknown[]>(
    handle: (visit: ShopVisit, ...rest: Rest) => Promise<Answer>,
  ) =>
    asOwner(async (visit, ...rest: Rest) => {
      const { shops } = visit;
      const shop = shops.find(({ id }) => String(id) === visit.params['shopId']);
      return shop ? handle({ ...visit, shop }, ...rest) : notFoundPage();
    });

  return {
    anyone: get,
    anyonesForm: post,
    owners: (url, handle) => get(url, asOwner(handle)),
    ownersForm: (url, handle) => post(url, asOwner(handle)),
    shops: (url, handle) => get(url, asShop(handle)),
    shopsForm: (url, handle) => post(url, asShop(handle)),
    signInCookies: ({ session, device }) => [cookie('session', session), cookie('device', device)],
    signOutCookies: () => [cookie('session', undefined)],
  };
}

export async function listShopsOf(store: Store, ownerId: string): Promise<Shop[]> {
  const ids = await listShopIdsOfOwner(store.write, ownerId);
  const shops = await Promise.all(ids.map((id) => findShop(store.primary.keys, id)));
  return shops.filter((shop) => shop !== undefined);
}

const home = html`<a href="/app">Go to your shops</a>`;

function sentence(title: string, text: string, status: number): Answer {
  return page(
    layout(undefined, {
      title,
      content: html`<p>${text}</p>
        <p>${home}</p>`,
    }),
    status,
  );
}

/** What is answered below /app where there is nothing for this visitor. */
export function notFoundPage(): Answer {
  return sentence('Not found', 'There is no such page.', 404);
}

function foreignPage(): Answer {
  return sentence('Not sent', 'This form was not sent by a page of this service.', 403);
}

function stalePage(): Answer {
  return sentence(
    'Nothing was done',
    'The page with this form was too old, or cookies are off. Open it anew, then try again.',
    403,
  );
}

function unreadablePage({ status, headers }: Answer): Answer {
  const answer = sentence('Not read', 'This form could not be read. Open it anew.', status);
  const { connection } = headers;
  return connection === undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, connection } };
}

function busyPage(): Answer {
  return sentence('Busy', 'Too many people sign in right now. Try again in a minute.', 503);
}

function failurePage(requestId: string): Answer {
  const text = `Something failed on our side. Try again; if it stays so, name ${requestId} to whoever runs this service.`;
  return sentence('Something went wrong', text, 500);
}
