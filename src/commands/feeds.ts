import { systemClock } from '../clock.ts';
import { type FeedStatus, listFeedsOf } from '../store/feeds/feeds.ts';
import { countUndatedOf } from '../store/records/sightings.ts';
import { type JobCount, type JobState, listJobCounts } from '../store/feeds/jobs.ts';
import { type SyncState, listSyncStates } from '../store/feeds/platforms.ts';
import { type RefusedRecords, refusedRecordsOf } from '../platforms/intake.ts';
import { type ShopStream, type StreamState, listStreamsOf } from '../store/feeds/streams.ts';
import { feedsOf, platforms } from '../platforms/registry.ts';
import type { FeedName } from '../vocabulary.ts';
import type { Sql } from '../store/database.ts';
import { findShop, listShops } from '../store/shops.ts';
import { CommandError } from '../errors.ts';
import { defineCommand, id, optional } from './framework/command.ts';
import { type Columns, table } from './framework/io.ts';
import { withStore } from './store.ts';

const byShop = ({ shopId }: { readonly shopId: number }) => shopId;

const status = defineCommand({
  name: 'feeds status',
  about: 'shows data freshness by source, for one shop or all',
  notes: [
    'ARRIVED   when records last arrived, even if they changed nothing',
    'NEWEST    the newest timestamp in any record',
    'COMPLETE  when the source was last read to its end',
    'STREAMS   what is read of the source: how many rows were read last, or so far, and when',
    'REFUSED   records that the last sync refused that refused any, and the most frequent reason',
    'PROBLEM   why the sync with a platform does not arrive, and since when its credentials are refused',
    'UNDATED   subscriptions of the shop that ended or paused at an unknown time: they count in no period',
    'WEBHOOKS  webhooks that are not done: waiting, active, retrying, failed (given up)',
  ],
  options: { shop: optional(id, 'one shop') },
  run: ({ shop: requested }, context) =>
    withStore(context, async ({ write: sql }) => {
      const shops =
        requested === undefined ? await listShops(sql) : [await findShop(sql, requested)];
      const ids = shops.map((shop) => {
        if (!shop) throw new CommandError(`There is no shop ${requested}.`);
        return shop.id;
      });
      const jobs = Map.groupBy(await listJobCounts(sql), byShop);
      const syncs = await listSyncsByFeed(sql);
      const feeds = Map.groupBy(await listFeedsOf(sql, ids), byShop);
      const streams = Map.groupBy(await listStreamsOf(sql, ids), byShop);
      const undated = await countUndatedOf(sql, ids);
      const all: ShopFeed[] = [];
      for (const shop of ids) {
        const webhooks = countWebhooks(jobs.get(shop) ?? []);
        const details = detailsOf(syncs, streams.get(shop) ?? [], shop);
        const known = feeds.get(shop) ?? [];
        const undatedSubscriptions = undated.get(shop);
        const others = [
          ...[...webhooks].flatMap(([feed, counts]) =>
            Object.keys(counts).length > 0 ? feed : [],
          ),
          ...[...details].flatMap(([feed, { problem, streams: read }]) =>
            problem === null && read === undefined ? [] : feed,
          ),
        ].filter((feed) => !known.some((each) => each.feed === feed));
        const rows = [...known, ...others.map((feed) => ({ ...neverArrived, feed }))];
        for (const { feed, arrivedAt, newestAt, completedAt } of rows) {
          const counts = webhooks.get(feed);
          all.push({
            shop,
            feed,
            arrivedAt,
            newestAt,
            completedAt,
            ...(counts && { webhooks: counts }),
            ...details.get(feed),
            ...(undatedSubscriptions !== undefined && { undatedSubscriptions }),
          });
        }
      }
      return all;
    }),
  show: (feeds) => describe(feeds, systemClock.now()),
});

/** How a sync is doing. */
interface SyncDetails {
  /** One sentence; null if the last sync succeeded. */
  readonly problem: string | null;
  /** Since when the platform refuses the credentials. */
  readonly pausedSince: Date | null;
  readonly refused?: RefusedRecords;
  readonly streams?: readonly Pick<StreamState, 'stream' | 'types' | 'rows' | 'readAt'>[];
}

interface ShopFeed extends FeedStatus, Partial<SyncDetails> {
  readonly shop: number;
  /** Number of jobs by state, without those that are done. */
  readonly webhooks?: Partial<Record<JobState, number>>;
  /** How many of the shop's subscriptions have a status since an unknown time. */
  readonly undatedSubscriptions?: number;
}

const neverArrived: Omit<FeedStatus, 'feed'> = {
  arrivedAt: null,
  newestAt: null,
  completedAt: null,
};

type SyncsByFeed = ReadonlyMap<FeedName, ReadonlyMap<number, SyncState>>;

/** By feed and shop. */
async function listSyncsByFeed(sql: Sql): Promise<SyncsByFeed> {
  const listed = platforms.map(async (platform) => {
    const states = await listSyncStates(sql, platform.name);
    return [feedsOf(platform).sync, new Map(states.map((each) => [each.shopId, each]))] as const;
  });
  return new Map(await Promise.all(listed));
}

/** For the sync feed of each platform. */
function detailsOf(
  syncs: SyncsByFeed,
  streams: readonly ShopStream[],
  shop: number,
): ReadonlyMap<FeedName, SyncDetails> {
  return new Map(
    platforms.map((platform): [FeedName, SyncDetails] => {
      const feed = feedsOf(platform).sync;
      const state = syncs.get(feed)?.get(shop);
      const { problem = null, refusedAt = null } = state ?? {};
      const refused = state && refusedRecordsOf(state);
      const read = streams
        .filter((each) => each.platform === platform.name)
        .map(({ stream, types, rows, readAt }) => ({ stream, types, rows, readAt }));
      const known = { problem, pausedSince: refusedAt };
      return [
        feed,
        { ...known, ...(refused && { refused }), ...(read.length > 0 && { streams: read }) },
      ];
    }),
  );
}

/** A shop's jobs by state, for each platform's webhook feed. */
function countWebhooks(
  jobs: readonly JobCount[],
): ReadonlyMap<FeedName, Partial<Record<JobState, number>>> {
  return new Map(
    platforms.map((platform) => {
      const queues = Object.values(platform.webhooks?.queues ?? {});
      const counts: Partial<Record<JobState, number>> = {};
      for (const job of jobs.filter(({ queue }) => queues.includes(queue))) {
        counts[job.state] = (counts[job.state] ?? 0) + job.jobs;
      }
      return [feedsOf(platform).webhooks, counts];
    }),
  );
}

function describe(feeds: readonly ShopFeed[], now: number): string {
  if (feeds.length === 0) return 'No data yet. "retention import" imports some.';
  const time = (at: Date | null) => (at ? `${at.toISOString()} (${ageOf(at, now)})` : '-');
  const columns: Columns<ShopFeed> = {
    SHOP: ({ shop }) => shop,
    FEED: ({ feed }) => feed,
    ARRIVED: ({ arrivedAt }) => time(arrivedAt),
    NEWEST: ({ newestAt }) => time(newestAt),
    COMPLETE: ({ completedAt }) => time(completedAt),
    UNDATED: ({ undatedSubscriptions }) => undatedSubscriptions,
    WEBHOOKS: ({ webhooks = {} }) =>
      Object.entries(webhooks)
        .map(([state, count]) => `${count} ${state}`)
        .join(', '),
    STREAMS: ({ streams = [] }) =>
      streams
        .map(
          ({ stream, rows, readAt }) =>
            `${stream} ${rows} ${readAt ? ageOf(readAt, now) : 'so far'}`,
        )
        .join(', '),
    REFUSED: ({ refused }) =>
      refused && `${refused.count} ${ageOf(refused.at, now)}: ${refused.reasons[0]?.reason}`,
    PROBLEM: ({ problem, pausedSince }) =>
      pausedSince ? `Paused since ${time(pausedSince)}: ${problem}` : problem,
  };
  // The last five only if there are any.
  const shown = Object.entries(columns).filter(([, cell]) => feeds.some((feed) => cell(feed)));
  return table(feeds, Object.fromEntries(shown));
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** An age such as "3 hours ago", in the largest unit of which there is at least one. */
function ageOf(at: Date, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at.getTime()) / 1000));
  const [unit, length] = units.find((each) => seconds >= each[1]) ?? units[3];
  const count = Math.floor(seconds / length);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

export const feedsCommands = [status];
