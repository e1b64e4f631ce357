import type { MetricDefinition } from './metrics.ts';

/** All metrics, each with what its change means where no alert says it. Alerts and the dashboard use these names. */
export const metricDefinitions = {
  retention_request_duration_seconds: {
    type: 'histogram',
    help: "Time from the arrival of a request to its response, in seconds. By status: 5xx is the service's fault, many 401 are abuse, 429 is a caller that does not wait. The operation is a tool's name, or none; the transport is rest, mcp or other.",
    labels: ['operation', 'transport', 'status'],
  },
  retention_limiter_refusals_total: {
    type: 'counter',
    help: 'Requests refused because their key was over its limit. One caller: tell them about Retry-After. Many: is a limit shared now that was not before?',
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
    help: 'How long the primary database took to answer this scrape, or how long it has been awaited, in seconds. The first to grow when the database is short of processor time.',
    labels: [],
  },
  retention_database_statements_in_flight: {
    type: 'gauge',
    help: 'Statements sent or queued that have no result yet. "analyse" (summaries) above 2 is a queue; "read …" (lookups) in the hundreds is a slow database or table; "segments" are of owners’ pages.',
    labels: ['connection'],
  },
  retention_database_connections: {
    type: 'gauge',
    help: 'Maximum number of connections to the database.',
    labels: ['connection'],
  },
  retention_replica_lag_seconds: {
    type: 'gauge',
    help: 'How far a hot standby is behind the primary, in seconds. Above 2, the standby is not used. Absent without DATABASE_READ_URL.',
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
    help: 'Time since a feed was last read completely, for the shop where it is longest, in seconds. For files, grows until the next import. For a platform, more than some minutes is wrong: see "retention feeds status".',
    labels: ['feed'],
  },
  retention_sync_shops: {
    type: 'gauge',
    help: 'Shops that are synced with a platform, by how the last sync of each ended.',
    labels: ['platform', 'state'],
  },
  retention_sync_refused_records: {
    type: 'gauge',
    help: 'Records that the last syncs of all shops with a platform refused.',
    labels: ['platform'],
  },
  retention_stream_age_seconds: {
    type: 'gauge',
    help: 'Time since rows that bring a type of records were last read, for the shop where it is longest, in seconds.',
    labels: ['platform', 'type'],
  },
  retention_streams_unread: {
    type: 'gauge',
    help: 'Streams of rows that have not been read to their end yet.',
    labels: ['platform', 'type'],
  },
  retention_webhook_jobs: {
    type: 'gauge',
    help: 'Webhooks of platforms that are stored but not completed, by state; failed ones are not retried. If "waiting" grows, the platform is slow.',
    labels: ['state'],
  },
  retention_push_batches: {
    type: 'gauge',
    help: 'Pushed batches that are not stored yet; waiting ones refer to records that have not arrived. If "queued" grows, storing is slower than the senders, or fails; the log says why. "waiting" lasts ten minutes at most.',
    labels: ['state'],
  },
  retention_push_queue_use_ratio: {
    type: 'gauge',
    help: 'How much the shop with most uses of what it may, by queued and waiting batches and their bytes; 1 is all. Above 0.5: a shop pushes more than is stored, and its busiest sources are answered 429. The log of requests says which.',
    labels: ['limit'],
  },
  retention_push_oldest_batch_seconds: {
    type: 'gauge',
    help: 'Age of the oldest pushed batch that is not stored yet, in seconds; 0 if there is none.',
    labels: [],
  },
  retention_push_refused_records_total: {
    type: 'counter',
    help: 'Pushed records that were refused after their request was answered 202. Grows: a sender sends what cannot be stored; the log ("pushed records refused") and "retention ingest list" say why.',
    labels: [],
  },
  retention_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'Duration of event-loop turns since the previous scrape, in seconds. The percentile is 50, 99 or 100, the longest.',
    labels: ['percentile'],
  },
  retention_key_leases: {
    type: 'gauge',
    help: 'Keys that were looked up in the last second, or are unknown. Far more than there are customers: invented keys with valid checksums, see Abuse in docs/operations.md.',
    labels: [],
  },
  retention_cache_entries: {
    type: 'gauge',
    help: 'Entries held in memory to save work, each kind with a limit.',
    labels: ['cache'],
  },
  retention_open_connections: {
    type: 'gauge',
    help: 'Client connections to the public port. Grows without requests: slow or idle callers; they are closed after 65 seconds.',
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
    help: 'CPU time used by the process, user and system, in seconds. A rate near 1 is one core, all that an instance can use.',
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
