import { systemClock } from '../clock.ts';
import { type FeedStatus, listFeeds } from '../store/feeds.ts';
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
  ],
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  async run({ config, options }) {
    const wanted = options['shop'];
    const feeds = await withStore(config, async ({ write: sql }) => {
      const shops =
        typeof wanted === 'string'
          ? [await findShop(sql, parseId(wanted, '--shop'))]
          : await listShops(sql);
      const all = [];
      for (const shop of shops) {
        if (!shop) throw new CommandError(`There is no shop ${wanted}.`);
        for (const feed of await listFeeds(sql, shop.id)) all.push({ shop: shop.id, ...feed });
      }
      return all;
    });
    if (options['json']) printJson(feeds);
    else print(describe(feeds, systemClock.now()));
    return exitStatus.done;
  },
};

function describe(feeds: readonly (FeedStatus & { shop: number })[], now: number): string {
  if (feeds.length === 0) return 'No data has come yet; "retention import" brings some.';
  const show = (at: Date | null) => (at ? `${at.toISOString()} (${ageOf(at, now)})` : '-');
  const rows = feeds.map(({ shop, feed, arrivedAt, newestAt, completedAt }) => [
    String(shop),
    feed,
    show(arrivedAt),
    show(newestAt),
    show(completedAt),
  ]);
  return formatTable(['SHOP', 'FEED', 'ARRIVED', 'NEWEST', 'COMPLETE'], rows);
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
