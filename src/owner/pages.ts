import type { FastifyRequest } from 'fastify';
import { auditNetwork, clientNetwork } from '../access/client-network.ts';
import type { Actor } from '../acts.ts';
import type { Caller } from '../access/gate.ts';
import type { Calls } from '../access/keys/request-log.ts';
import type { Clock } from '../clock.ts';
import type { Uploads } from '../push/upload/uploads.ts';
import { type Answer, type AnswerBody, notFoundForPrograms } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import { prefersPage, compress } from '../http/compression.ts';
import type { Route } from '../http/shell.ts';
import {
  busyPage,
  crossSitePage,
  expiredFormPage,
  failurePage,
  notFoundPage,
  unreadablePage,
  segmentTooLargePage,
  signedOutPage,
} from './message-pages.ts';
import { redirect, returnPath } from './ui/page.ts';
import type { Log } from '../log/log.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Outbox } from '../mail/outbox.ts';
import { SegmentTooLarge } from '../metrics/segments/time-limit.ts';
import type { Operation } from '../operations/define.ts';
import type { Store } from '../store/open.ts';
import { listShopIdsOfOwner } from '../store/owners/owners.ts';
import { type Shop, findShop } from '../store/shops.ts';
import {
  type Accounts,
  type OwnerSession,
  newSecret,
  openSession,
  ownerActor,
} from '../accounts/sessions.ts';
import type { PlatformsConfig } from '../platforms/open.ts';
import type { Backoff } from '../platforms/backoff.ts';
import { TooBusy } from '../accounts/passwords.ts';
import { createCookies, isFormToken, isOwnForm } from './cookies.ts';
import type { PageInfo, Right, Visit } from './site.ts';

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
  readonly backoff: Backoff | undefined;
  readonly uploads: Uploads;
  /** Sends digests and alerts; undefined if the service cannot. */
  mailer(): Pick<Mailer, 'send'> | undefined;
  readonly outbox: Pick<Outbox, 'post'>;
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

const defaultFormBytes = 16 * 1024;
interface Visits {
  readonly anyone: Visit;
  readonly owner: OwnerVisit;
  readonly shop: ShopVisit;
}

type Handled = Promise<Answer<AnswerBody>>;

/** Who visits, for the audit log. */
export function actorOf({ session, network }: Pick<OwnerVisit, 'session' | 'network'>): Actor {
  return ownerActor(session.ownerId, session.secret, network);
}

/** A page of the registry, with what it answers. */
interface PageOf<R extends Right> extends PageInfo {
  readonly right: R;
  readonly show?: (visit: Visits[R]) => Handled;
  /** Its form; one without the page's token is refused before. */
  readonly submit?: (visit: Visits[R], form: URLSearchParams) => Handled;
  /** How large its form may be. */
  readonly maxFormBytes?: number;
  /** Its form with a file. It reads the body, and checks the token. */
  readonly receive?: (visit: Visits[R], isToken: (token: string) => boolean) => Handled;
  /**
   * A POST request that needs neither a session nor a form's token, because what it may do is in its path: mail
   * programs send it.
   */
  readonly oneClick?: (visit: Pick<Visit, 'params' | 'address'>) => Handled;
}

export type OwnerPage = PageOf<'anyone'> | PageOf<'owner'> | PageOf<'shop'>;
type Entry<R extends Right> = Omit<PageOf<R>, 'right' | 'path'>;

export function publicPage(path: string, page: Entry<'anyone'>): OwnerPage {
  return { right: 'anyone', path, ...page };
}

/** Leads other visitors to the sign-in page. */
export function ownerPage(path: string, page: Entry<'owner'>): OwnerPage {
  return { right: 'owner', path, ...page };
}

/** A page of the shop in the address; it does not exist for others than the shop's owners. */
export function shopPage(path: string, page: Entry<'shop'>): OwnerPage {
  return { right: 'shop', path, ...page };
}

/** The routes of all pages, each open to those who have its right. */
export function routesOf(parts: OwnerParts, pages: readonly OwnerPage[]): Route[] {
  const { store, log } = parts;
  const cookies = createCookies(parts);

  const openVisit = async (
    request: FastifyRequest,
    page: PageInfo | undefined,
  ): Promise<Visit & { isNew: boolean }> => {
    const { secretOf, theme } = cookies.read(request);
    const [sessionSecret, formSecret] = [secretOf('session'), secretOf('form')];
    const address = clientNetwork(request.ip);
    const session =
      sessionSecret === undefined
        ? undefined
        : await openSession(parts.accounts, sessionSecret, address);
    return {
      request,
      site: pages,
      page,
      params: request.params as Record<string, string>,
      query: new URL(request.url, 'http://localhost').searchParams,
      session,
      formSecret: session?.secret ?? formSecret ?? newSecret(),
      isNew: !session && formSecret === undefined,
      address,
      network: auditNetwork(address),
      device: secretOf('device'),
      theme,
    };
  };

  /** Logs errors, and responds with a page instead of the API's envelope. */
  const withErrorPages =
    (handle: (request: FastifyRequest) => Handled) =>
    async (request: FastifyRequest): Handled => {
      try {
        return await handle(request);
      } catch (error) {
        if (error instanceof TooBusy) return busyPage();
        log.error({ requestId: request.id, err: error }, 'request failed');
        return failurePage(request.id);
      }
    };

  const get = (
    url: string,
    page: PageInfo | undefined,
    handle: (visit: Visit) => Handled,
  ): Route => ({
    method: 'GET',
    url,
    handle: withErrorPages(async (request) => {
      const visit = await openVisit(request, page);
      const answer = await compress(request, await handle(visit));
      if (!visit.isNew) return answer;
      return { ...answer, cookies: [cookies.form(visit.formSecret), ...(answer.cookies ?? [])] };
    }),
  });

  /** A POST request, unless another site's page sent it. */
  const post = (url: string, handle: (request: FastifyRequest) => Handled): Route => ({
    method: 'POST',
    url,
    handle: withErrorPages(async (request) => {
      const { isPublic } = parts;
      return isOwnForm(request, { baseUrl: parts.baseUrl(), isPublic })
        ? handle(request)
        : crossSitePage();
    }),
  });

  type Handler<V, Rest extends unknown[]> = (visit: V, ...rest: Rest) => Handled;
  /** Redirects visitors who are not signed in. */
  const asOwner =
    <Rest extends unknown[]>(handle: Handler<OwnerVisit, Rest>): Handler<Visit, Rest> =>
    async (visit, ...rest) => {
      const { session } = visit;
      if (!session) return redirect(signInPath(visit));
      return handle(
        { ...visit, session, shops: await listShopsOf(store, session.ownerId) },
        ...rest,
      );
    };
  /** Others get a 404, so that they do not learn which shops exist. */
  const asShop = <Rest extends unknown[]>(handle: Handler<ShopVisit, Rest>): Handler<Visit, Rest> =>
    asOwner(async (visit, ...rest) => {
      const shop = findShopOf(visit);
      if (!shop) return notFoundPage(visit);
      try {
        return await handle({ ...visit, shop }, ...rest);
      } catch (error) {
        if (error instanceof SegmentTooLarge) return segmentTooLargePage({ ...visit, shop }, error);
        throw error;
      }
    });
  const admit = {
    anyone: <Rest extends unknown[]>(handle: Handler<Visit, Rest>) => handle,
    owner: asOwner,
    shop: asShop,
  };

  const routesOfPage = (page: OwnerPage): Route[] => {
    const { right, path, show, submit, receive, oneClick, maxFormBytes } = page;
    const url = right === 'shop' ? `/app/shops/:shopId${path}` : path;
    const open = <Rest extends unknown[]>(handle: Handler<never, Rest>) =>
      (admit[right] as (handle: Handler<never, Rest>) => Handler<Visit, Rest>)(handle);
    const routes: readonly (Route | undefined)[] = [
      show && get(url, page, open(show)),
      submit &&
        post(url, (request) =>
          withForm(
            request,
            async (form) => {
              const visit = await openVisit(request, page);
              if (isFormToken(visit.formSecret, form.get('token') ?? '')) {
                return open(submit)(visit, form);
              }
              return right === 'anyone' || visit.session
                ? expiredFormPage()
                : signedOutPage(signInPath(visit, show && request.url));
            },
            maxFormBytes,
          ),
        ),
      receive && {
        ...post(url, async (request) => {
          const visit = await openVisit(request, page);
          return open(receive)(visit, (token) => isFormToken(visit.formSecret, token));
        }),
        isSlow: true,
      },
      oneClick && {
        method: 'POST',
        url,
        handle: withErrorPages((request) =>
          withForm(request, () =>
            oneClick({
              params: request.params as Visit['params'],
              address: clientNetwork(request.ip),
            }),
          ),
        ),
      },
    ];
    return routes.filter((route) => route !== undefined);
  };

  /** For paths without a page. */
  const notFound = (url: string): Route => {
    const page = get(url, undefined, async (visit) => {
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
  };

  return [...pages.flatMap(routesOfPage), ...['/app/shops/:shopId/*', '/app/*'].map(notFound)];
}

async function withForm(
  request: FastifyRequest,
  handle: (form: URLSearchParams) => Handled,
  maxBytes = defaultFormBytes,
): Handled {
  const body = await readBody(request, {
    contentType: 'application/x-www-form-urlencoded',
    maxBytes,
  });
  return 'refusal' in body
    ? unreadablePage(body.refusal, maxBytes)
    : handle(new URLSearchParams(body.bytes.toString('utf8')));
}

/** The shop in the path, if it is one of the owner's. */
function findShopOf({ shops, params }: Pick<OwnerVisit, 'shops' | 'params'>): Shop | undefined {
  return shops.find(({ id }) => String(id) === params['shopId']);
}

/** Where to sign in, and then open the page that was asked for. */
function signInPath(
  { request: { method, url } }: Visit,
  asked = method === 'POST' ? null : url,
): `/app${string}` {
  const next = returnPath(asked);
  return next === '/app' ? '/app/sign-in' : `/app/sign-in?${new URLSearchParams({ next })}`;
}

export async function listShopsOf(store: Store, ownerId: string): Promise<Shop[]> {
  const ids = await listShopIdsOfOwner(store.write, ownerId);
  const shops = await Promise.all(ids.map((id) => findShop(store.primaryOf(id).keys, id)));
  return shops.filter((shop) => shop !== undefined);
}
