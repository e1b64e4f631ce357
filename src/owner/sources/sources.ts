import { createHmac, timingSafeEqual } from 'node:crypto';
import { type PlatformsConfig, appOf, mayHaveShops } from '../../platforms/open.ts';
import type { Authorization, Platform, PlatformApp } from '../../platforms/platform.ts';
import { platforms } from '../../platforms/registry.ts';
import { feedsOf } from '../../platforms/feeds.ts';
import type { Store } from '../../store/open.ts';
import { type FeedStatus, listFeeds } from '../../store/feeds/feeds.ts';
import { findConnection } from '../../store/platforms/connections.ts';
import { findSyncState } from '../../store/platforms/syncs.ts';
import { countSubscriptions } from '../../store/records/subscriptions.ts';

export type SourcesConfig = PlatformsConfig;

/** A platform as the owner of a shop sees it. */
export interface Source {
  readonly platform: Platform;
  readonly authorization: Authorization | undefined;
  readonly state: 'off' | 'free' | 'connected' | 'connectedByOperator';
  /** The shop's name at the platform, if the owner connected it. */
  readonly account: string | undefined;
  readonly connectedAt: Date | undefined;
  /** Why data does not arrive. */
  readonly problem: string | undefined;
  /** Its sync; undefined before the first data. */
  readonly feed: FeedStatus | undefined;
  /** How many subscriptions the first sync has stored so far; undefined once it is complete. */
  readonly fetched: number | undefined;
}

export async function listSources(
  { write: sql }: Pick<Store, 'write'>,
  config: SourcesConfig,
  shopId: number,
): Promise<Source[]> {
  const feeds = await listFeeds(sql, shopId);
  return Promise.all(
    platforms.map(async (platform): Promise<Source> => {
      const { authorization } = await platform.load();
      const [connection, sync] = await Promise.all([
        findConnection(sql, shopId, platform.name),
        findSyncState(sql, shopId, platform.name),
      ]);
      const feed = feeds.find((each) => each.feed === feedsOf(platform).sync);
      const isSynced = sync !== undefined && mayHaveShops(config);
      const isFirst = connection !== undefined && (feed?.completedAt ?? null) === null;
      return {
        platform,
        authorization,
        state: connection
          ? 'connected'
          : isSynced
            ? 'connectedByOperator'
            : canConnect(config, platform)
              ? 'free'
              : 'off',
        account: connection?.account,
        connectedAt: connection?.connectedAt,
        problem: sync?.problem ?? undefined,
        feed,
        fetched: isFirst ? await countSubscriptions(sql, shopId) : undefined,
      };
    }),
  );
}

/** Whether the operator has set what connecting needs. */
function canConnect({ platforms: configs, credentialsKeys }: SourcesConfig, platform: Platform) {
  return appOf(configs[platform.name]) !== undefined && credentialsKeys.length > 0;
}

export function requireApp(config: SourcesConfig, platform: Platform): PlatformApp | undefined {
  return canConnect(config, platform) ? appOf(config.platforms[platform.name]) : undefined;
}

interface Asked {
  readonly platform: string;
  readonly shopId: number;
  readonly account: string;
}

/** What the platform sends back with the owner: it proves that the same session asked for the same shop and account. */
export function stateOf(sessionSecret: string, { platform, shopId, account }: Asked): string {
  const proof = createHmac('sha256', sessionSecret)
    .update(JSON.stringify(['connect', platform, shopId, account]))
    .digest('base64url');
  return `${shopId}.${proof}`;
}

/** @returns the shop that the owner asked to connect; undefined if this session did not ask */
export function shopOfState(
  sessionSecret: string,
  state: string,
  asked: Omit<Asked, 'shopId'>,
): number | undefined {
  const shopId = Number(/^(\d{1,16})\./.exec(state)?.[1] ?? 0);
  const expected = Buffer.from(stateOf(sessionSecret, { ...asked, shopId }));
  const actual = Buffer.from(state);
  const isSame = expected.length === actual.length && timingSafeEqual(expected, actual);
  return isSame ? shopId : undefined;
}
