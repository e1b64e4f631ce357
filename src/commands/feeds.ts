import { systemClock } from '../clock.ts';
import { type FeedStatus, listFeeds } from '../store/feeds/feeds.ts';
import { type JobCount, type JobState, listJobCounts } from '../store/feeds/jobs.ts';
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
    'WEBHOOKS  what Shopify told and is not done: waiting, active, retrying, failed (given up)',
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
        const webhooks = jobs.filter(({ shopId }) => shopId === shop.id);
        const isNew = !known.some(({ feed }) => feed === 'shopify-webhooks');
        const shown = isNew && webhooks.length > 0 ? [...known, nothingYet] : known;
        for (const feed of shown) {
          const isTheirs = feed.feed === 'shopify-webhooks';
          all.push({ shop: shop.id, ...feed, ...(isTheirs && { webhooks: byState(webhooks) }) });
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

const nothingYet: FeedStatus = {
  feed: 'shopify-webhooks',
  arrivedAt: null,
  newestAt: null,
  completedAt: null,
};

function byState(counts: readonly JobCount[]): Partial<Record<JobState, number>> {
  return Object.fromEntries(counts.map(({ state, jobs }) => [state, jobs]));
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
