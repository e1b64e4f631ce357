import { systemClock } from '../clock.ts';
import { type FeedStatus, listFeeds } from '../store/feeds/feeds.ts';
import { type JobCount, type JobState, listJobCounts } from '../store/feeds/jobs.ts';
import { feedsOf } from '../platforms/feeds.ts';
import { platforms } from '../platforms/registry.ts';
import type { FeedName } from '../vocabulary.ts';
import { findShop, listShops } from '../store/shops.ts';
import { CommandError } from '../errors.ts';
import {
  type Command,
  exitStatus,
  formatTable,
  parseId,
  print,
  printJson,
  withStore,
} from './command.ts';

const status: Command = {
  name: 'feeds status',
  synopsis: '[--shop ID] [--json]',
  summary: "tells how fresh a shop's data is, or every shop's, by the way on which it comes",
  details: [
    'ARRIVED   when records came last, whether or not they said anything new',
    'NEWEST    the newest time that any of them tells of itself',
    'COMPLETE  when the source was last read to its end',
    'WEBHOOKS  what platforms sent and is not done: waiting, active, retrying, failed (given up)',
  ],
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  async run({ config, options }) {
    const wanted = options['shop'];
    const feeds = await withStore(config, async ({ write: sql }) => {
      const shops =
        typeof wanted === 'string'
          ? [await findShop(sql, parseId(wanted, '--shop'))]
          : await listShops(sql);
      const jobs = await listJobCounts(sql);
      const all: ShopFeed[] = [];
      for (const shop of shops) {
        if (!shop) throw new CommandError(`There is no shop ${wanted}.`);
        const known = await listFeeds(sql, shop.id);
        const webhooks = countWebhooks(jobs.filter(({ shopId }) => shopId === shop.id));
        const others = [...webhooks].filter(
          ([feed, counts]) =>
            Object.keys(counts).length > 0 && !known.some((each) => each.feed === feed),
        );
        for (const each of [...known, ...others.map(([feed]) => ({ ...nothingYet, feed }))]) {
          const counts = webhooks.get(each.feed);
          all.push({ shop: shop.id, ...each, ...(counts && { webhooks: counts }) });
        }
      }
      return all;
    });
    if (options['json']) printJson(feeds);
    else print(describe(feeds, systemClock.now()));
    return exitStatus.done;
  },
};

interface ShopFeed extends FeedStatus {
  readonly shop: number;
  /** How many jobs are in which state; those that are done are not counted. */
  readonly webhooks?: Partial<Record<JobState, number>>;
}

const nothingYet: Omit<FeedStatus, 'feed'> = {
  arrivedAt: null,
  newestAt: null,
  completedAt: null,
};

/** How many jobs of a shop are in which state, for the feed of each platform's webhooks. */
function countWebhooks(
  jobs: readonly JobCount[],
): ReadonlyMap<FeedName, Partial<Record<JobState, number>>> {
  return new Map(
    platforms.map((platform) => {
      const queues = Object.values(platform.queues);
      const counts: Partial<Record<JobState, number>> = {};
      for (const job of jobs.filter(({ queue }) => queues.includes(queue))) {
        counts[job.state] = (counts[job.state] ?? 0) + job.jobs;
      }
      return [feedsOf(platform).webhooks, counts];
    }),
  );
}

function describe(feeds: readonly ShopFeed[], now: number): string {
  if (feeds.length === 0) return 'No data has come yet; "retention import" brings some.';
  const show = (at: Date | null) => (at ? `${at.toISOString()} (${ageOf(at, now)})` : '-');
  const rows = feeds.map(({ shop, feed, arrivedAt, newestAt, completedAt, webhooks = {} }) => [
    String(shop),
    feed,
    show(arrivedAt),
    show(newestAt),
    show(completedAt),
    Object.entries(webhooks)
      .map(([state, count]) => `${count} ${state}`)
      .join(', '),
  ]);
  const headings = ['SHOP', 'FEED', 'ARRIVED', 'NEWEST', 'COMPLETE'];
  const isAnyOpen = rows.some((row) => row[5] !== '');
  return formatTable(isAnyOpen ? [...headings, 'WEBHOOKS'] : headings, rows);
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** As in "3 hours ago": the greatest unit of which there is at least one. */
function ageOf(at: Date, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at.getTime()) / 1000));
  const [unit, length] = units.find((each) => seconds >= each[1]) ?? units[3];
  const count = Math.floor(seconds / length);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

export const feedsCommands: readonly Command[] = [status];
