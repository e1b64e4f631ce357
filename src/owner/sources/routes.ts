import { CommandError } from '../../errors.ts';
import type { Route } from '../../http/shell.ts';
import { connectShop, disconnectShop } from '../../platforms/connect.ts';
import { openPlatform, sealingOf } from '../../platforms/open.ts';
import { findPlatform } from '../../platforms/registry.ts';
import { listFeeds } from '../../store/feeds/feeds.ts';
import { type OwnerParts, type Pages, type ShopVisit, notFoundPage } from '../pages.ts';
import { redirect } from '../ui/answers.ts';
import { shopPath } from '../ui/layout.ts';
import { consentPage, disconnectPage, sourcesPage } from './pages.ts';
import { listSources, requireApp, shopOfState, stateOf } from './sources.ts';

const base = '/app/shops/:shopId/sources';

/** The pages where owners connect their shop to platforms. */
export function sourceRoutes(pages: Pages, parts: OwnerParts): Route[] {
  const { store, clock, log, platforms: config } = parts;
  const sql = store.write;

  const show = async (
    visit: ShopVisit,
    problem?: { platform: string; text: string; given: string },
    status = 200,
  ) => {
    const [sources, feeds] = await Promise.all([
      listSources(store, config, visit.shop.id),
      listFeeds(sql, visit.shop.id),
    ]);
    return sourcesPage(visit, { sources, feeds, ...(problem && { problem }) }, status);
  };
  const find = async ({ shop, params }: ShopVisit) =>
    (await listSources(store, config, shop.id)).find(
      ({ platform }) => platform.name === params['platform'],
    );
  const redirectUri = (platform: string) => `${parts.baseUrl()}${callbackPath(platform)}`;

  return [
    pages.shopPage(base, async (visit) => show(visit)),

    pages.shopPage(`${base}/:platform/connect`, async (visit) => {
      const source = await find(visit);
      if (!source?.authorization) return notFoundPage();
      const { platform, authorization } = source;
      const app = requireApp(config, platform);
      if (source.state !== 'free' || !app) return redirect(shopPath(visit.shop, '/sources'));
      const given = visit.query.get('account') ?? '';
      const account = authorization.parseAccount(given);
      if (account === undefined) {
        const text = `This is not a ${platform.title} domain. It looks like ${authorization.accountExample}.`;
        return show(visit, { platform: platform.name, text, given }, 422);
      }
      const asked = { platform: platform.name, shopId: visit.shop.id, account };
      const address = authorization.addressOf({
        account,
        baseUrl: config.platforms[platform.name]?.baseUrl,
        app,
        redirectUri: redirectUri(platform.name),
        state: stateOf(visit.session.secret, asked),
      });
      return consentPage(visit, { source, account, address });
    }),

    // Where the platform sends the owner back to; the address is registered there, so it names no shop.
    pages.ownerPage(callbackPath(':platform'), async (visit) => {
      const platform = findPlatform(visit.params['platform'] ?? '');
      const app = platform && requireApp(config, platform);
      const authorization = platform && (await platform.load()).authorization;
      if (!platform || !app || !authorization) return notFoundPage();
      const [, query = ''] = visit.request.url.split('?', 2);
      const answer = authorization.readAnswer(query, app);
      const asked = { platform: platform.name, account: answer?.account ?? '' };
      const shopId = answer && shopOfState(visit.session.secret, answer.state, asked);
      const shop = visit.shops.find(({ id }) => id === shopId);
      if (!answer || !shop) return notFoundPage();

      const { signal } = new AbortController();
      const context = { app, clock, log, signal };
      const baseUrl = config.platforms[platform.name]?.baseUrl;
      try {
        const opened = await openPlatform(platform, { config, clock, log, signal });
        const credentials = await authorization.exchange(
          { ...answer, shop: shop.id, baseUrl },
          context,
        );
        const sealing = sealingOf(config.credentialsKeys);
        await connectShop({ opened, sql, sealing, baseUrl, context }, shop, credentials);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        log.warn(
          { shop: shop.id, platform: platform.name, reason: error.message },
          'not connected',
        );
        const problem = { platform: platform.name, text: error.message, given: answer.account };
        return show({ ...visit, shop }, problem, 422);
      }
      log.info({ shop: shop.id, platform: platform.name, account: answer.account }, 'connected');
      return redirect(shopPath(shop, '/sources?done=connected'));
    }),

    pages.shopPage(`${base}/:platform/disconnect`, async (visit) => {
      const source = await find(visit);
      if (!source) return notFoundPage();
      return source.state === 'connected'
        ? disconnectPage(visit, source)
        : redirect(shopPath(visit.shop, '/sources'));
    }),
    pages.shopForm(`${base}/:platform/disconnect`, async (visit) => {
      const { shop, params } = visit;
      const platform = findPlatform(params['platform'] ?? '');
      if (!platform) return notFoundPage();
      if (await disconnectShop(sql, shop.id, platform)) {
        log.info({ shop: shop.id, platform: platform.name }, 'disconnected');
      }
      return redirect(shopPath(shop, '/sources?done=disconnected'));
    }),
  ];
}

function callbackPath(platform: string): `/app/${string}` {
  return `/app/connected/${platform}`;
}
