import type { MetricDefinition } from './metrics.ts';

/** All metrics. Alerts, dashboards and documentation use these names. */
export const metricDefinitions = {
  retention_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from the arrival of a request to its response, in seconds.',
    labels: ['operation', 'transport', 'status'],
  },
  retention_limiter_refusals_total: {
    type: 'counter',
    help: 'Requests refused because their key was over its limit.',
    labels: ['transport'],
  },
  retention_limiter_shared: {
    type: 'gauge',
    help: '1 while limits are shared by all instances, 0 while this instance enforces them alone.',
    labels: [],
  },
  retention_database_up: {
    type: 'gauge',
    help: '1 if the primary database answered this scrape within a second, else 0.',
    labels: [],
  },
  retention_database_check_seconds: {
    type: 'gauge',
    help: 'How long the primary database took to answer this scrape, or how long it has been awaited, in seconds.',
    labels: [],
  },
  retention_database_statements_in_flight: {
    type: 'gauge',
    help: 'Statements sent or queued that have no result yet.',
    labels: ['connection'],
  },
  retention_database_connections: {
    type: 'gauge',
    help: 'Maximum number of connections to the database.',
    labels: ['connection'],
  },
  retention_replica_lag_seconds: {
    type: 'gauge',
    help: 'How far a hot standby is behind the primary, in seconds.',
    labels: ['replica'],
  },
  retention_replica_in_use: {
    type: 'gauge',
    help: '1 while a hot standby is read from, 0 while it is left out.',
    labels: ['replica'],
  },
  retention_feed_shops: {
    type: 'gauge',
    help: 'Shops that have data from a feed.',
    labels: ['feed'],
  },
  retention_feed_age_seconds: {
    type: 'gauge',
    help: 'Time since a feed was last read completely, for the shop where it is longest, in seconds.',
    labels: ['feed'],
  },
  retention_sync_shops: {
    type: 'gauge',
    help: 'Shops that are synced with a platform, by how the last sync of each ended.',
    labels: ['platform', 'state'],
  },
  retention_webhook_jobs: {
    type: 'gauge',
    help: 'Shopify webhooks that are stored but not completed, by state; failed ones are not retried.',
    labels: ['state'],
  },
  retention_push_batches: {
    type: 'gauge',
    help: 'Pushed batches that are not stored yet; waiting ones refer to records that have not arrived.',
    labels: ['state'],
  },
  retention_push_oldest_batch_seconds: {
    type: 'gauge',
    help: 'Age of the oldest pushed batch that is not stored yet, in seconds; 0 if there is none.',
    labels: [],
  },
  retention_push_refused_records_total: {
    type: 'counter',
    help: 'Pushed records that were refused after their request was answered 202.',
    labels: [],
  },
  retention_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'Duration of event-loop turns since the previous scrape, in seconds.',
    labels: ['percentile'],
  },
  retention_key_leases: {
    type: 'gauge',
    help: 'Keys whose record is held in memory.',
    labels: [],
  },
  retention_cache_entries: {
    type: 'gauge',
    help: 'Entries held in memory to save work, each kind with a limit.',
    labels: ['cache'],
  },
  retention_open_connections: {
    type: 'gauge',
    help: 'Client connections to the public port.',
    labels: [],
  },
  retention_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels identify the running build.',
    labels: ['version', 'commit', 'node'],
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the process, in bytes.',
    labels: [],
  },
  process_cpu_seconds_total: {
    type: 'counter',
    help: 'CPU time used by the process, user and system, in seconds.',
    labels: [],
  },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'Start time of the process, in seconds since 1970.',
    labels: [],
  },
  nodejs_heap_used_bytes: {
    type: 'gauge',
    help: 'Memory used by JavaScript objects, in bytes.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metricDefinitions;
