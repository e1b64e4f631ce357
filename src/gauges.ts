import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import type { KeyLeases } from './access/keys/key-leases.ts';
import type { RedisRateLimiter } from './access/limiter/redis-rate-limiter.ts';
import type { Clock } from './clock.ts';
import { answerOf } from './store/database.ts';
import { listConnections } from './store/connections/read-connections.ts';
import { listFeedLags } from './store/feeds/feeds.ts';
import { jobStates, listJobCounts } from './store/feeds/jobs.ts';
import type { Store } from './store/open.ts';
import { createPatientCheck } from './telemetry/patient-check.ts';
import type { ServiceMetrics } from './telemetry/service-metrics.ts';

interface Measured {
  readonly app: FastifyInstance;
  readonly store: Store;
  readonly clock: Clock;
  readonly leases: KeyLeases;
  readonly shared: RedisRateLimiter | undefined;
  readonly takesWebhooks: boolean;
}

/** Tells the metrics what the parts of a service know of themselves, asked at each scrape. */
export function addGauges(metrics: ServiceMetrics, parts: Measured): void {
  const { app, store, leases, shared } = parts;
  addDatabase(metrics, parts);
  addFeeds(metrics, parts);
  if (parts.takesWebhooks) addWebhooks(metrics, parts);
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
  const countConnections = promisify(app.server.getConnections.bind(app.server));
  metrics.gauge('retention_open_connections', () => countConnections());
}

function addDatabase(metrics: ServiceMetrics, { store, clock }: Measured): void {
  const pools = [...listConnections(store.primary), store.write];
  metrics.gauge('retention_database_statements_in_flight', () =>
    pools.map(({ label, statementsInFlight }) => ({ labels: [label], value: statementsInFlight })),
  );
  metrics.gauge('retention_database_connections', () =>
    pools.map(({ label, size }) => ({ labels: [label], value: size })),
  );
  // After the pools, so that they are read before the check adds a statement of its own.
  const check = createPatientCheck(() => answerOf(store.write`select 1`), clock);
  metrics.gauge('retention_database_up', async () => Number((await check()).answer !== undefined));
  metrics.gauge('retention_database_check_seconds', async () => (await check()).seconds);
}

function addFeeds(metrics: ServiceMetrics, { store, clock }: Measured): void {
  const check = createPatientCheck(() => listFeedLags(store.write), clock);
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

function addWebhooks(metrics: ServiceMetrics, { store, clock }: Measured): void {
  const check = createPatientCheck(() => listJobCounts(store.write), clock);
  metrics.gauge('retention_webhook_jobs', async () => {
    const counts = (await check()).answer;
    if (!counts) return [];
    // A state that nothing is in counts 0: an alert has to see it end.
    return jobStates.map((state) => {
      const ofState = counts.filter((count) => count.state === state);
      return { labels: [state], value: ofState.reduce((sum, { jobs }) => sum + jobs, 0) };
    });
  });
}
