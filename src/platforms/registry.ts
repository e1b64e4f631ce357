import type { Platform } from './platform.ts';
import { postgres } from './postgres/platform.ts';
import { recharge } from './recharge/platform.ts';
import { shopify } from './shopify/platform.ts';
import { stripe } from './stripe/platform.ts';
import type { FeedName } from '../vocabulary.ts';

/** All platforms. Code that depends on the platform loops over this list. */
export const platforms: Platform[] = [shopify, stripe, recharge, postgres];

export function findPlatform(name: string): Platform | undefined {
  return platforms.find((platform) => platform.name === name);
}

/** The feeds of a platform: its export files, its sync, and its webhooks. */
export function feedsOf({ name }: Pick<Platform, 'name'>) {
  return { file: `${name}-file`, sync: name, webhooks: `${name}-webhooks` } as const;
}

const otherFeeds: Readonly<Record<FeedName, string>> = {
  records: 'Record files',
  export: 'Exports from another platform',
  push: 'Pushed records',
};

/** The feed's display name. */
export function feedLabel(feed: FeedName): string {
  for (const platform of platforms) {
    const { file, sync, webhooks } = feedsOf(platform);
    const { title } = platform;
    if (feed === file) return `${title} files`;
    if (feed === sync) return `${title}, scheduled sync`;
    if (feed === webhooks) return `${title} webhooks`;
  }
  return otherFeeds[feed] ?? feed;
}
