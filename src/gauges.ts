import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import type { KeyLeases } from './access/keys/key-leases.ts';
import type { RedisRateLimiter } from './access/limiter/rolling-redis-limiter.ts';
import type { Clock } from './clock.ts';
import { withTimeout } from './store/database.ts';
import { listConnections } from './store/connections/read-connections.ts';
import { type QueueUse, queueParts, summariseOpenBatches } from './store/push/batches.ts';
import { listFeedLags } from './store/feeds/feeds.ts';
import { jobStates, listJobCounts } from './store/feeds/jobs.ts';
import { listSyncCounts, syncHealths } from './store/feeds/platforms.ts';
import { listStreamLags } from './store/feeds/streams.ts';
import type { Store } from './store/open.ts';
import { type ServiceMetrics, createTimedCheck } from './telemetry/service-metrics.ts';

interface GaugeSources {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly clock: Clock;
  readonly leases: KeyLeases;
  /** How many entries each has, by its name. */
  readonly caches: Readonly<Record<string, () => number>>;
  readonly shared: RedisRateLimiter | undefined;
  /** Their names. */
  readonly platforms: readonly string[];
  readonly inbound: {
    /** The queues of the platforms whose webhooks are received. */
    readonly webhookQueues: readonly string[];
    /** How many pushed records this process has refused. */
    refusedRecords(): number;
    /** How much of the queue of pushed batches a shop may use. */
    readonly maxQueueUse: QueueUse;
  };
}

/** Registers the gauges of all parts of the service; each is read when Prometheus scrapes. */
export function addGauges(metrics: ServiceMetrics, parts: GaugeSources): void {
  const { app, store, leases, caches, shared } = parts;
  addDatabase(metrics, parts);
  addFeeds(metrics, parts);
  addSyncs(metrics, parts);
  addStreams(metrics, parts);
  if (parts.inbound.webhookQueues.length > 0) addWebhooks(metrics, parts);
  addPushes(metrics, parts);
  if (store.replicas.length > 0) {
    metrics.gauge('retention_replica_in_use', () =>
      store.replicas.map(({ name, isInUse }) => ({ labels: [name], value: Number(isInUse) })),
    );
    metrics.gauge('retention_replica_lag_seconds', () =>
      store.replicas.flatMap(({ name, lagMilliseconds: lag }) =>
        lag === undefined ? [] : [{ labels: [name], value: lag / 1000 }],
      ),
    );
  }
  if (shared) {
    metrics.gauge('retention_limiter_shared', () => Number(shared.state === 'shared'));
  }
  metrics.gauge('retention_key_leases', () => leases.size);
  metrics.gauge('retention_cache_entries', () =>
    Object.entries(caches).map(([cache, size]) => ({ labels: [cache], value: size() })),
  );
  const countConnections = promisify(app.server.getConnections.bind(app.server));
  metrics.gauge('retention_open_connections', () => countConnections());
}

function addDatabase(metrics: ServiceMetrics, { store, clock }: GaugeSources): void {
  const pools = [...listConnections(store.primary), store.write];
  metrics.gauge('retention_database_statements_in_flight', () =>
    pools.map(({ label, statementsInFlight }) => ({ labels: [label], value: statementsInFlight })),
  );
  metrics.gauge('retention_database_connections', () =>
    pools.map(({ label, size }) => ({ labels: [label], value: size })),
  );
  // Registered after the pools, so that they are read before the check adds its own statement.
  const check = createTimedCheck(() => withTimeout(store.write`select 1`), clock);
  metrics.gauge('retention_database_up', async () => Number((await check()).answer !== undefined));
  metrics.gauge('retention_database_check_seconds', async () => (await check()).seconds);
}

function addFeeds(metrics: ServiceMetrics, { store, clock }: GaugeSources): void {
  const check = createTimedCheck(() => listFeedLags(store.write), clock);
  const feeds = async () => (await check()).answer ?? [];
  metrics.gauge('retention_feed_shops', async () =>
    (await feeds()).map(({ feed, shops }) => ({ labels: [feed], value: shops })),
  );
  metrics.gauge('retention_feed_age_seconds', async () =>
    (await feeds()).flatMap(({ feed, oldestCompletedAt: at }) =>
      at === null ? [] : [{ labels: [feed], value: (clock.now() - at.getTime()) / 1000 }],
    ),
  );
}

function addSyncs(metrics: ServiceMetrics, { store, clock, platforms }: GaugeSources): void {
  const check = createTimedCheck(() => listSyncCounts(store.write), clock);
  const listCounts = async () => (await check()).answer;
  metrics.gauge('retention_sync_refused_records', async () => {
    const counts = await listCounts();
    if (!counts) return [];
    return platforms.map((platform) => {
      const found = counts.filter((each) => each.platform === platform);
      return { labels: [platform], value: found.reduce((sum, each) => sum + each.refused, 0) };
    });
  });
  metrics.gauge('retention_sync_shops', async () => {
    const counts = await listCounts();
    if (!counts) return [];
    // Report 0 too, so that an alert can resolve.
    return platforms.flatMap((platform) =>
      syncHealths.map((health) => {
        const found = counts.find((each) => each.platform === platform && each.health === health);
        return { labels: [platform, health], value: found?.shops ?? 0 };
      }),
    );
  });
}

function addStreams(metrics: ServiceMetrics, { store, clock }: GaugeSources): void {
  const check = createTimedCheck(() => listStreamLags(store.write), clock);
  const lags = async () => (await check()).answer ?? [];
  metrics.gauge('retention_stream_age_seconds', async () =>
    (await lags()).flatMap(({ platform, type, oldestReadAt: at }) =>
      at === null ? [] : [{ labels: [platform, type], value: (clock.now() - at.getTime()) / 1000 }],
    ),
  );
  metrics.gauge('retention_streams_unread', async () =>
    (await lags()).map(({ platform, type, unread }) => ({
      labels: [platform, type],
      value: unread,
    })),
  );
}

function addWebhooks(
  metrics: ServiceMetrics,
  { store, clock, inbound: { webhookQueues: queues } }: GaugeSources,
): void {
  const check = createTimedCheck(() => listJobCounts(store.write), clock);
  metrics.gauge('retention_webhook_jobs', async () => {
    const counts = (await check()).answer?.filter(({ queue }) => queues.includes(queue));
    if (!counts) return [];
    // Report 0 for a state without jobs, so that an alert on it can resolve.
    return jobStates.map((state) => {
      const ofState = counts.filter((count) => count.state === state);
      return { labels: [state], value: ofState.reduce((sum, { jobs }) => sum + jobs, 0) };
    });
  });
}

function addPushes(metrics: ServiceMetrics, { store, clock, inbound }: GaugeSources): void {
  metrics.gauge('retention_push_refused_records_total', () => inbound.refusedRecords());
  const check = createTimedCheck(() => summariseOpenBatches(store.write), clock);
  metrics.gauge('retention_push_batches', async () => {
    const open = (await check()).answer;
    return open
      ? [
          { labels: ['queued'], value: open.queued },
          { labels: ['waiting'], value: open.waiting },
        ]
      : [];
  });
  metrics.gauge('retention_push_queue_use_ratio', async () => {
    const open = (await check()).answer;
    return open
      ? queueParts.map((part) => ({
          labels: [part],
          value: open.most[part] / inbound.maxQueueUse[part],
        }))
      : [];
  });
  metrics.gauge('retention_push_oldest_batch_seconds', async () => {
    const open = (await check()).answer;
    if (!open) return undefined;
    // 0 if there is none, so that an alert can resolve.
    const { oldestReceivedAt: at } = open;
    return at === null ? 0 : (clock.now() - at.getTime()) / 1000;
  });
}
