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
  roleLacksPage,
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
import { listMemberships } from '../store/owners/owners.ts';
import { findShop } from '../store/shops.ts';
import { type ShopRight, may } from '../accounts/rights.ts';
import {
  type Accounts,
  type OwnerSession,
  newSecret,
  openSession,
  ownerActor,
} from '../accounts/sessions.ts';
import type { PlatformsConfig } from '../platforms/open.ts';
import type { Backoff } from '../platforms/backoff.ts';
import { TooBusy } from '../accounts/password-queue.ts';
import { confirmPath, createStepUp, factorsPath } from './factors/proof.ts';
import { createCookies, isFormToken, isOwnForm } from './cookies.ts';
import {
  type MemberShop,
  type PageInfo,
  type ShopPageInfo,
  type Visit,
  isOfShop,
  shopPath,
} from './site.ts';

export interface OwnerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly accounts: Accounts;
  /** The service's public URL. */
  baseUrl(): string;
  /** Whether the public URL was configured; if not, it is the address that the service listens on. */
  readonly isPublic: boolean;
  /** Whether all owners need a second factor, whatever their shops say. */
  readonly requiresSecondFactor: boolean;
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
  readonly shops: readonly MemberShop[];
};
export type ShopVisit = OwnerVisit & { readonly shop: MemberShop };

const defaultFormBytes = 16 * 1024;
/** How large the answer of a passkey may be, beside what is in a form. */
const proofBytes = 8 * 1024;

type Handled = Promise<Answer<AnswerBody>>;

/** Who visits, for the audit log. */
export function actorOf({ session, network }: Pick<OwnerVisit, 'session' | 'network'>): Actor {
  return ownerActor(session.ownerId, session.secret, network);
}

/** A page of the registry, with what it answers. */
interface PageOf<V> extends PageInfo {
  readonly show?: (visit: V) => Handled;
  /** Its form; one without the page's token is refused before. */
  readonly submit?: (visit: V, form: URLSearchParams) => Handled;
  /** How large its form may be. */
  readonly maxFormBytes?: number;
  /** Its form with a file. It reads the body, and checks the token. */
  readonly receive?: (visit: V, isToken: (token: string) => boolean) => Handled;
  /**
   * A POST request that needs neither a session nor a form's token, because what it may do is in its path: mail
   * programs send it.
   */
  readonly oneClick?: (visit: Pick<Visit, 'params' | 'address'>) => Handled;
}

export type OwnerPage =
  | (PageOf<Visit> & { readonly right: 'anyone' })
  | (PageOf<OwnerVisit> & { readonly right: 'account' })
  | (PageOf<ShopVisit> & ShopPageInfo);
type Entry<V> = Omit<PageOf<V>, 'right' | 'path'>;

export function publicPage(path: string, page: Entry<Visit>): OwnerPage {
  return { right: 'anyone', path, ...page };
}

/** Leads other visitors to the sign-in page. */
export function ownerPage(path: string, page: Entry<OwnerVisit>): OwnerPage {
  return { right: 'account', path, ...page };
}

/** A page of the shop in the address, for members with a right; for others than members it does not exist. */
export function shopPage(
  path: string,
  page: Entry<ShopVisit> & { readonly right: ShopRight },
): OwnerPage {
  return { path, ...page };
}

/** The routes of all pages, each open to those who have its right. */
export function routesOf(parts: OwnerParts, pages: readonly OwnerPage[]): Route[] {
  const { store, log } = parts;
  const cookies = createCookies(parts);
  const stepUp = createStepUp(parts);

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
      // Begun by the version before, which asks for a password only.
      if (session.hasFactor && !session.provedAt && !visit.page?.isBeforeFactor) {
        return redirect(confirmPath(visit.request.url));
      }
      return handle(
        { ...visit, session, shops: await listShopsOf(store, session.ownerId) },
        ...rest,
      );
    };
  /** Others than members get a 404, so that they do not learn which shops exist. */
  const asMember = <Rest extends unknown[]>(
    right: ShopRight,
    handle: Handler<ShopVisit, Rest>,
  ): Handler<Visit, Rest> =>
    asOwner(async (visit, ...rest) => {
      const shop = findShopOf(visit);
      // No text in the database has this character.
      const isText = !Object.values(visit.params).some((value) => value.includes('\0'));
      if (!shop || !isText) return notFoundPage(visit);
      if (!may(shop.role, right)) {
        return visit.page?.path === ''
          ? redirect(homeOf(visit, shop))
          : roleLacksPage({ ...visit, shop }, right);
      }
      const isRequired = parts.requiresSecondFactor || shop.requiresSecondFactor;
      if (isRequired && !visit.session.hasFactor && !visit.page?.isBeforeFactor) {
        return redirect(`${factorsPath}?required=${shop.id}`);
      }
      try {
        return await handle({ ...visit, shop }, ...rest);
      } catch (error) {
        if (error instanceof SegmentTooLarge) return segmentTooLargePage({ ...visit, shop }, error);
        throw error;
      }
    });
  /** Asks for a proof of who the visitor is, if the last one is too old. */
  const asProven =
    <V extends OwnerVisit, Rest extends unknown[]>(
      { asksPassword = false }: PageInfo,
      handle: Handler<V, Rest>,
    ): Handler<V, Rest> =>
    async (visit, ...rest) => {
      const { session, request } = visit;
      const [form] = rest;
      const isProven = stepUp.isRecent(session) || (asksPassword && !session.hasFactor);
      if (isProven) return handle(visit, ...rest);
      if (!(form instanceof URLSearchParams)) return redirect(confirmPath(request.url));
      return (await stepUp.ask(visit, form)) ?? handle(visit, ...rest);
    };
  const routesOfPage = (page: OwnerPage): Route[] => {
    const { right, path, show, submit, receive, oneClick, maxFormBytes } = page;
    const url = isOfShop(page) ? `/app/shops/:shopId${path}` : path;
    const admit = <Rest extends unknown[]>(
      handle: Handler<never, Rest>,
      { asked = right, isProof = page.stepUp !== undefined } = {},
    ): Handler<Visit, Rest> => {
      if (asked === 'anyone') return handle as Handler<Visit, Rest>;
      const proven = isProof ? asProven(page, handle as Handler<OwnerVisit, Rest>) : handle;
      if (asked === 'account') return asOwner(proven as Handler<OwnerVisit, Rest>);
      return asMember(asked, proven as Handler<ShopVisit, Rest>);
    };
    const routes: readonly (Route | undefined)[] = [
      show && get(url, page, admit(show, { isProof: page.stepUp === 'open' })),
      submit &&
        post(url, (request) =>
          withForm(
            request,
            async (form) => {
              const visit = await openVisit(request, page);
              if (isFormToken(visit.formSecret, form.get('token') ?? '')) {
                return admit(submit, { asked: page.submitRight })(visit, form);
              }
              return right === 'anyone' || visit.session
                ? expiredFormPage()
                : signedOutPage(signInPath(visit, show && request.url));
            },
            maxFormBytes,
            page.stepUp === undefined ? 0 : proofBytes,
          ),
        ),
      receive && {
        ...post(url, async (request) => {
          const visit = await openVisit(request, page);
          return admit(receive, { asked: page.submitRight })(visit, (token) =>
            isFormToken(visit.formSecret, token),
          );
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
  furtherBytes = 0,
): Handled {
  const body = await readBody(request, {
    contentType: 'application/x-www-form-urlencoded',
    maxBytes: maxBytes + furtherBytes,
  });
  if ('refusal' in body) return unreadablePage(body.refusal, maxBytes);
  const form = new URLSearchParams(body.bytes.toString('utf8'));
  // Browsers send none, and PostgreSQL stores none.
  const hasNul = [...form].some((pair) => pair.some((text) => text.includes('\0')));
  return hasNul ? unreadablePage({ status: 400, headers: {} }, maxBytes) : handle(form);
}

/** The shop in the path, if it is one of the owner's. */
function findShopOf({
  shops,
  params,
}: Pick<OwnerVisit, 'shops' | 'params'>): MemberShop | undefined {
  return shops.find(({ id }) => String(id) === params['shopId']);
}

/** The first page of the navigation that a role may open. */
function homeOf({ site }: Visit, shop: MemberShop): `/app${string}` {
  const home = site.find((page) => page.navigation && isOfShop(page) && may(shop.role, page.right));
  return shopPath(shop, home?.path ?? '/search');
}

/** Where to sign in, and then open the page that was asked for. */
function signInPath(
  { request: { method, url } }: Visit,
  asked = method === 'POST' ? null : url,
): `/app${string}` {
  const next = returnPath(asked);
  return next === '/app' ? '/app/sign-in' : `/app/sign-in?${new URLSearchParams({ next })}`;
}

export async function listShopsOf(store: Store, ownerId: string): Promise<MemberShop[]> {
  const memberships = await listMemberships(store.write, ownerId);
  const shops = await Promise.all(
    memberships.map(async ({ shopId, ...membership }) => {
      const shop = await findShop(store.primaryOf(shopId).keys, shopId);
      return shop && { ...shop, ...membership };
    }),
  );
  return shops.filter((shop) => shop !== undefined);
}
