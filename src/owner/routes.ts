import type { Asset } from '../http/look/asset.ts';
import type { Route } from '../http/shell.ts';
import type { OwnerLink } from '../store/owners/links.ts';
import { deleteSessions } from '../store/owners/sessions.ts';
import { findShop } from '../store/shops.ts';
import { parseSegment } from '../metrics/segments/segment.ts';
import { redirect, returnPath } from './ui/answers.ts';
import { frameAssets } from './ui/assets.ts';
import { accountPage } from './account/pages.ts';
import { notFoundPage } from './message-pages.ts';
import { type Pages, type OwnerParts, createPages, listShopsOf } from './pages.ts';
import { chartAssets } from './charts/assets.ts';
import { flowAssets } from './cancel-flow/page.ts';
import { cancelFlowRoutes } from './cancel-flow/routes.ts';
import { churnAssets } from './churn/page.ts';
import { churnRoutes } from './churn/routes.ts';
import { cohortAssets } from './cohorts/page.ts';
import { cohortRoutes } from './cohorts/routes.ts';
import { developerAssets } from './developers/frame.ts';
import { developerRoutes } from './developers/routes.ts';
import { keyRoutes } from './keys/routes.ts';
import { invalidLinkPage, linkPage } from './account/link-pages.ts';
import { asksForPassword, followLink, openLink } from '../accounts/links.ts';
import { passwordProblem } from '../accounts/password-rules.ts';
import { countSessions, endSession, type OwnerSession } from '../accounts/sessions.ts';
import { readConcerns } from './dashboard/attention.ts';
import { readDashboard } from './dashboard/dashboard.ts';
import { emptyDashboardPage } from './dashboard/empty-page.ts';
import { overviewFile } from './dashboard/files.ts';
import { dashboardAssets, dashboardPage } from './dashboard/page.ts';
import { shopsPage } from './account/shop-pages.ts';
import { changePassword, signIn } from '../accounts/sign-in.ts';
import { explainRefusal, signInPage } from './account/sign-in-pages.ts';
import { listRoutes } from './framework/page.ts';
import { lists } from './lists.ts';
import { notificationRoutes } from './notifications/routes.ts';
import { revenueAssets } from './revenue/page.ts';
import { revenueRoutes } from './revenue/routes.ts';
import { helpAssets } from './ui/help.ts';
import { recoveryRoutes } from './recovery/routes.ts';
import { searchRoutes } from './search/routes.ts';
import { readSegmentChoices } from './segments/choices.ts';
import { segmentRoutes } from './segments/routes.ts';
import { sourceRoutes } from './sources/routes.ts';
import { Sources } from './sources/sources.ts';
import { subscriptionRoutes } from './subscriptions/routes.ts';
import { fileOrPage } from './framework/page.ts';
import { understood, viewOf } from './view/view.ts';
import type { Visit } from './visit.ts';

const assets: readonly Asset[] = [
  frameAssets,
  chartAssets,
  churnAssets,
  cohortAssets,
  dashboardAssets,
  developerAssets,
  flowAssets,
  helpAssets,
  revenueAssets,
].flat();

/** All pages for shop owners, below /app. */
export function ownerRoutes(parts: OwnerParts): Route[] {
  const pages = createPages(parts);
  const sources = new Sources(parts);
  return [
    ...assets.map(({ route }) => route),
    ...signInRoutes(pages, parts),
    ...linkRoutes(pages, parts),
    ...accountRoutes(pages, parts),
    ...shopRoutes(pages, parts, sources),
    ...churnRoutes(pages, parts),
    ...cohortRoutes(pages, parts),
    ...subscriptionRoutes(pages, parts),
    ...revenueRoutes(pages, parts),
    ...listRoutes(pages, parts, lists),
    ...cancelFlowRoutes(pages, parts),
    ...notificationRoutes(pages, parts),
    ...recoveryRoutes(pages, parts),
    ...searchRoutes(pages, parts),
    ...segmentRoutes(pages, parts),
    ...sourceRoutes(pages, parts, sources),
    ...keyRoutes(pages, parts),
    ...developerRoutes(pages, parts),
    pages.lostPage('/app/shops/:shopId/*'),
    pages.lostPage('/app/*'),
  ];
}

function signInRoutes(pages: Pages, { accounts }: OwnerParts): Route[] {
  return [
    pages.publicPage('/app/sign-in', async (visit) => {
      const next = returnPath(visit.query.get('next'));
      return visit.session ? redirect(next) : signInPage(visit, { next });
    }),
    pages.publicForm('/app/sign-in', async (visit, form) => {
      const email = form.get('email') ?? '';
      const password = form.get('password') ?? '';
      const { address, device } = visit;
      const next = returnPath(form.get('next'));
      const result = await signIn(accounts, { email, password, address, device });
      if (result.kind !== 'right') return signInPage(visit, { next, refused: result, email });
      return redirect(next, pages.signInCookies(result));
    }),
    pages.ownerForm('/app/sign-out', async (visit) => {
      await endSession(accounts.sql, visit.session);
      return redirect('/app/sign-in?done=signed-out', pages.signOutCookies());
    }),
  ];
}

interface Opened {
  readonly secret: string;
  readonly link: OwnerLink;
  /** Undefined for a link that resets a password. */
  readonly shopName: string | undefined;
}

function linkRoutes(pages: Pages, { store, accounts }: OwnerParts): Route[] {
  const open = async (visit: Visit): Promise<Opened | undefined> => {
    const secret = visit.params['secret'] ?? '';
    const link = await openLink(accounts, secret, visit.address);
    if (!link) return undefined;
    if (link.shopId === null) return { secret, link, shopName: undefined };
    const shop = await findShop(store.primary.keys, link.shopId);
    return shop && { secret, link, shopName: shop.name };
  };
  const contextOf = async ({ link, shopName = '' }: Opened) => {
    const shops = await listShopsOf(store, link.ownerId);
    return { email: link.email, shopNames: [shopName, ...shops.map(({ name }) => name)] };
  };
  return [
    pages.publicPage('/app/links/:secret', async (visit) => {
      const opened = await open(visit);
      return opened ? linkPage(visit, opened) : invalidLinkPage(visit);
    }),
    pages.publicForm('/app/links/:secret', async (visit, form) => {
      const opened = await open(visit);
      if (!opened) return invalidLinkPage(visit);
      const { link } = opened;
      const password = form.get('password') ?? '';
      if (!asksForPassword(link)) {
        const problem = await passwordProblem(password, await contextOf(opened));
        if (problem !== undefined) return linkPage(visit, { ...opened, problem, status: 422 });
      }

      const { address, device } = visit;
      const result = await followLink(accounts, opened, { password, address, device });
      if (result.kind === 'ended') return invalidLinkPage(visit);
      if (result.kind === 'done') return redirect('/app', pages.signInCookies(result));
      return linkPage(visit, {
        ...opened,
        ...explainRefusal(result, 'Incorrect password. Check it, then try again.'),
      });
    }),
  ];
}

function accountRoutes(pages: Pages, { accounts }: OwnerParts): Route[] {
  const { sql, clock } = accounts;
  const accountOf = async ({ email, ownerId }: OwnerSession) => ({
    email,
    sessions: await countSessions(sql, clock, ownerId),
  });
  return [
    pages.ownerPage('/app/account', async (visit) =>
      accountPage(visit, await accountOf(visit.session)),
    ),
    pages.ownerForm('/app/account/password', async (visit, form) => {
      const { email } = visit.session;
      const newPassword = form.get('new-password') ?? '';
      const shopNames = visit.shops.map(({ name }) => name);
      const problem = await passwordProblem(newPassword, { email, shopNames });
      if (problem !== undefined) {
        const account = await accountOf(visit.session);
        return accountPage(visit, { ...account, problem, invalid: 'new-password', status: 422 });
      }
      const { address, device } = visit;
      const guess = { email, password: form.get('password') ?? '', address, device };
      const result = await changePassword(accounts, guess, newPassword);
      if (result.kind === 'right') {
        return redirect('/app/account?done=password', pages.signInCookies(result));
      }
      return accountPage(visit, {
        ...(await accountOf(visit.session)),
        invalid: 'password',
        ...explainRefusal(result, 'The current password is incorrect. Check it, then try again.'),
      });
    }),
    pages.ownerForm('/app/account/sign-out-everywhere', async (visit) => {
      await deleteSessions(sql, visit.session.ownerId);
      return redirect('/app/sign-in?done=signed-out-everywhere', pages.signOutCookies());
    }),
  ];
}

function shopRoutes(pages: Pages, parts: OwnerParts, sources: Sources): Route[] {
  return [
    pages.ownerPage('/app', async (visit) => {
      const { shops } = visit;
      const [only] = shops;
      return only && shops.length === 1
        ? redirect(`/app/shops/${only.id}`)
        : shopsPage(visit, shops);
    }),
    pages.ownerPage('/app/shops', async (visit) => shopsPage(visit, visit.shops)),
    pages.shopPage('/app/shops/:shopId', async (visit) => {
      const { shop, query } = visit;
      const view = viewOf(query, parts.clock.now(), parseSegment(query));
      const [data, choices, concerns] = await Promise.all([
        readDashboard(parts.store, shop, view),
        readSegmentChoices(parts, shop),
        readConcerns(parts, shop.id),
      ]);
      return data
        ? dashboardPage(visit, data, choices, concerns)
        : emptyDashboardPage(visit, view, await sources.list(shop.id), concerns);
    }),
    pages.shopPage('/app/shops/:shopId/charts.csv', (visit) =>
      fileOrPage(visit, '', async () => {
        const { shop, query } = visit;
        const view = understood(viewOf(query, parts.clock.now(), parseSegment(query)));
        const data = await readDashboard(parts.store, shop, view);
        return (data && overviewFile(visit, data)) ?? notFoundPage(visit);
      }),
    ),
  ];
}
