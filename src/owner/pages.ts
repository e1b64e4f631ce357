import type { FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/client-network.ts';
import type { Caller } from '../access/gate.ts';
import type { Calls } from '../access/keys/calls.ts';
import type { Clock } from '../clock.ts';
import type { Uploads } from '../door/upload/uploads.ts';
import { type Answer, type AnswerBody, notFoundForPrograms } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import { prefersPage } from '../http/compression/accepts.ts';
import { compress } from '../http/compression/compression.ts';
import type { Route } from '../http/shell.ts';
import {
  busyPage,
  crossSitePage,
  expiredFormPage,
  failurePage,
  notFoundPage,
  unreadablePage,
} from './message-pages.ts';
import { redirect, returnPath } from './ui/answers.ts';
import type { Log } from '../log/log.ts';
import { SegmentTooLarge } from '../metrics/segments/time-limit.ts';
import { segmentTooLargePage } from './segments/too-large-page.ts';
import type { Operation } from '../operations/define.ts';
import type { Store } from '../store/open.ts';
import { listShopIdsOfOwner } from '../store/owners/owners.ts';
import { type Shop, findShop } from '../store/shops.ts';
import { deviceDays } from '../accounts/devices.ts';
import type { PlatformsConfig } from '../platforms/open.ts';
import type { Pauses } from '../platforms/pauses.ts';
import { TooBusy } from '../accounts/passwords.ts';
import { newSecret } from '../accounts/secrets.ts';
import { isFormToken } from './ui/form-token.ts';
import {
  type Accounts,
  type OwnerSession,
  type SignInSecrets,
  openSession,
  sessionHours,
} from '../accounts/sessions.ts';
import {
  type CookieName,
  type Visit,
  cookieName,
  parseSecret,
  isOwnForm,
  readCookies,
  setCookie,
} from './visit.ts';

export interface OwnerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly accounts: Accounts;
  /** The service's public URL. */
  baseUrl(): string;
  /** Whether the public URL was configured; if not, it is the address that the service listens on. */
  readonly isPublic: boolean;
  /** How platforms are configured. */
  readonly platforms: PlatformsConfig;
  /** Between attempts to ask a platform; undefined outside of tests. */
  readonly pauses: Pauses | undefined;
  readonly uploads: Uploads;
  /** Whether digests and alerts are sent. */
  readonly sendsMail: boolean;
  /** What this process knows of requests with keys. */
  readonly calls: Pick<Calls, 'lastUsedAt' | 'note' | 'storeRequests'>;
  /** Asks an operation as a request with the key would, counted against its limit. */
  askWithKey(
    operation: Operation,
    key: Caller,
    texts: Readonly<Record<string, string>>,
    requestId: string,
  ): Promise<Answer<string | Buffer>>;
}

export type OwnerVisit = Visit & {
  readonly session: OwnerSession;
  readonly shops: readonly Shop[];
};
export type ShopVisit = OwnerVisit & { readonly shop: Shop };

const maxFormBytes = 16 * 1024;
/** Lifetimes of the cookies. */
const cookieSeconds: Readonly<Record<CookieName, number>> = {
  session: sessionHours.max * 3600,
  form: sessionHours.idle * 3600,
  device: deviceDays * 86_400,
};
type Form = URLSearchParams;
type Handler<V> = (visit: V) => Promise<Answer<AnswerBody>>;
type FormHandler<V> = (visit: V, form: Form) => Promise<Answer<AnswerBody>>;

type UploadHandler = (visit: ShopVisit, isToken: (token: string) => boolean) => Promise<Answer>;

/** Creates routes for pages, by who may see them. */
export interface Pages {
  publicPage(url: string, handle: Handler<Visit>): Route;
  publicForm(url: string, handle: FormHandler<Visit>): Route;
  /** Redirects other visitors to the sign-in page. */
  ownerPage(url: string, handle: Handler<OwnerVisit>): Route;
  ownerForm(url: string, handle: FormHandler<OwnerVisit>): Route;
  /** A page of the shop in the path (`:shopId`); visitors without access get a 404. */
  shopPage(url: string, handle: Handler<ShopVisit>): Route;
  shopForm(url: string, handle: FormHandler<ShopVisit>): Route;
  /** A form with a file. The handler reads the body, and checks its token. */
  shopUpload(url: string, handle: UploadHandler): Route;
  /**
   * A POST request that needs neither a session nor a form's token, because what it may do is in its path: mail
   * programs send it.
   */
  oneClick(
    url: string,
    handle: (visit: Pick<Visit, 'params' | 'address'>) => Promise<Answer>,
  ): Route;
  /** For paths without a page. */
  lostPage(url: string): Route;
  /** Cookies that sign a browser in and make it a known device. */
  signInCookies(secrets: SignInSecrets): string[];
  /** Cookies for signing out; the browser stays a known device. */
  signOutCookies(): string[];
}

export function createPages(parts: OwnerParts): Pages {
  const { store, log } = parts;
  const isSecure = () => parts.baseUrl().startsWith('https:');
  const cookie = (name: CookieName, secret: string | undefined) =>
    setCookie(name, secret, { isSecure: isSecure(), maxAgeSeconds: cookieSeconds[name] });

  const openVisit = async (request: FastifyRequest): Promise<Visit & { isNew: boolean }> => {
    const cookies = readCookies(request.headers.cookie);
    const secretOf = (name: CookieName) => parseSecret(cookies.get(cookieName(name, isSecure())));
    const [sessionSecret, formSecret] = [secretOf('session'), secretOf('form')];
    const address = clientNetwork(request.ip);
    const session =
      sessionSecret === undefined
        ? undefined
        : await openSession(parts.accounts, sessionSecret, address);
    return {
      request,
      params: request.params as Record<string, string>,
      query: new URL(request.url, 'http://localhost').searchParams,
      session,
      formSecret: session?.secret ?? formSecret ?? newSecret(),
      isNew: !session && formSecret === undefined,
      address,
      device: secretOf('device'),
    };
  };

  /** Logs errors, and responds with a page instead of the API's envelope. */
  const withErrorPages =
    (handle: (request: FastifyRequest) => Promise<Answer<AnswerBody>>) =>
    async (request: FastifyRequest): Promise<Answer<AnswerBody>> => {
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
    handle: withErrorPages(async (request) => {
      const visit = await openVisit(request);
      const answer = await compress(request, await handle(visit));
      if (!visit.isNew) return answer;
      return { ...answer, cookies: [cookie('form', visit.formSecret), ...(answer.cookies ?? [])] };
    }),
  });

  const post = (url: string, handle: FormHandler<Visit>): Route => ({
    method: 'POST',
    url,
    handle: withErrorPages(async (request) => {
      const { isPublic } = parts;
      if (!isOwnForm(request, { baseUrl: parts.baseUrl(), isPublic })) return crossSitePage();
      const body = await readBody(request, {
        contentType: 'application/x-www-form-urlencoded',
        maxBytes: maxFormBytes,
      });
      if ('refusal' in body) return unreadablePage(body.refusal);
      const form = new URLSearchParams(body.bytes.toString('utf8'));
      const visit = await openVisit(request);
      if (!isFormToken(visit.formSecret, form.get('token') ?? '')) return expiredFormPage();
      return handle(visit, form);
    }),
  });

  const upload = (url: string, handle: Handler<Visit>): Route => ({
    method: 'POST',
    url,
    isSlow: true,
    handle: withErrorPages(async (request) => {
      const { isPublic } = parts;
      if (!isOwnForm(request, { baseUrl: parts.baseUrl(), isPublic })) return crossSitePage();
      return handle(await openVisit(request));
    }),
  });

  /** Redirects visitors who are not signed in. */
  const asOwner =
    <Rest extends unknown[]>(
      handle: (visit: OwnerVisit, ...rest: Rest) => Promise<Answer<AnswerBody>>,
    ) =>
    async (visit: Visit, ...rest: Rest): Promise<Answer<AnswerBody>> => {
      const { session } = visit;
      if (!session) return redirect(signInPath(visit));
      return handle(
        { ...visit, session, shops: await listShopsOf(store, session.ownerId) },
        ...rest,
      );
    };
  const asShop = <Rest extends unknown[]>(
    handle: (visit: ShopVisit, ...rest: Rest) => Promise<Answer<AnswerBody>>,
  ) =>
    asOwner(async (visit, ...rest: Rest) => {
      const shop = findShopOf(visit);
      if (!shop) return notFoundPage(visit);
      try {
        return await handle({ ...visit, shop }, ...rest);
      } catch (error) {
        if (error instanceof SegmentTooLarge) return segmentTooLargePage({ ...visit, shop }, error);
        throw error;
      }
    });

  return {
    publicPage: get,
    publicForm: post,
    ownerPage: (url, handle) => get(url, asOwner(handle)),
    ownerForm: (url, handle) => post(url, asOwner(handle)),
    shopPage: (url, handle) => get(url, asShop(handle)),
    shopForm: (url, handle) => post(url, asShop(handle)),
    shopUpload: (url, handle) =>
      upload(
        url,
        asShop((visit) => handle(visit, (token) => isFormToken(visit.formSecret, token))),
      ),
    oneClick: (url, handle) => ({
      method: 'POST',
      url,
      handle: withErrorPages(async (request) => {
        const body = await readBody(request, {
          contentType: 'application/x-www-form-urlencoded',
          maxBytes: maxFormBytes,
        });
        return 'refusal' in body
          ? unreadablePage(body.refusal)
          : handle({
              params: request.params as Visit['params'],
              address: clientNetwork(request.ip),
            });
      }),
    }),
    lostPage(url) {
      const page = get(url, async (visit) => {
        const { session, request } = visit;
        const [path = '', ...query] = request.url.split('?');
        if (path.endsWith('/')) {
          return redirect([path.slice(0, -1), ...query].join('?') as '/app');
        }
        const shops = session ? await listShopsOf(store, session.ownerId) : [];
        const shop = findShopOf({ ...visit, shops });
        return notFoundPage({ ...visit, shops, ...(shop && { shop }) });
      });
      return {
        ...page,
        handle: (request) =>
          prefersPage(request.headers.accept) ? page.handle(request) : notFoundForPrograms(),
      };
    },
    signInCookies: ({ session, device }) => [cookie('session', session), cookie('device', device)],
    signOutCookies: () => [cookie('session', undefined)],
  };
}

/** The shop in the path, if it is one of the owner's. */
function findShopOf({ shops, params }: Pick<OwnerVisit, 'shops' | 'params'>): Shop | undefined {
  return shops.find(({ id }) => String(id) === params['shopId']);
}

/** Where to sign in, and then open the page that was asked for. */
function signInPath({ request: { method, url } }: Visit): `/app${string}` {
  const next = returnPath(method === 'POST' ? null : url);
  return next === '/app' ? '/app/sign-in' : `/app/sign-in?${new URLSearchParams({ next })}`;
}

export async function listShopsOf(store: Store, ownerId: string): Promise<Shop[]> {
  const ids = await listShopIdsOfOwner(store.write, ownerId);
  const shops = await Promise.all(ids.map((id) => findShop(store.primary.keys, id)));
  return shops.filter((shop) => shop !== undefined);
}
