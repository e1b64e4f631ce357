import type { FeedName } from '../vocabulary.ts';
import type { Platform } from './platform.ts';
import { platforms } from './registry.ts';

/** By which feeds a platform's data comes: its export files, synchronisation, and what webhooks led to. */
export function feedsOf({ name }: Pick<Platform, 'name'>) {
  return { file: `${name}-file`, sync: name, webhooks: `${name}-webhooks` } as const;
}

/** The feed, for people. */
export function feedLabel(feed: FeedName): string {
  return labels().get(feed) ?? feed;
}

function labels(): ReadonlyMap<FeedName, string> {
  return new Map([
    ['records', 'Record files'],
    ['export', 'Exports from another platform'],
    ...platforms.flatMap((platform): [FeedName, string][] => {
      const { file, sync, webhooks } = feedsOf(platform);
      const { title } = platform;
      return [
        [file, `${title} files`],
        [sync, `${title}, scheduled sync`],
        [webhooks, `${title} webhooks`],
      ];
    }),
  ]);
}
