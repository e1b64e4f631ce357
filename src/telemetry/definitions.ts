import type { MetricDefinition } from './metrics.ts';

/** Every metric there is. Alerts, dashboards and documents use no other names. */
export const metricDefinitions = {
  retention_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from the arrival of a request to its answer, in seconds.',
    labels: ['operation', 'face', 'status'],
  },
  retention_limiter_refusals_total: {
    type: 'counter',
    help: 'Requests refused because their key was over its limit.',
    labels: ['face'],
  },
  retention_limiter_shared: {
    type: 'gauge',
    help: '1 while the window that all instances share decides, 0 while this instance decides alone.',
    labels: [],
  },
  retention_database_up: {
    type: 'gauge',
    help: '1 if the primary database answered this scrape within a second, else 0.',
    labels: [],
  },
  retention_database_check_seconds: {
    type: 'gauge',
    help: 'How long the primary database took to answer this scrape, or has been waited for, in seconds.',
    labels: [],
  },
  retention_database_statements_in_flight: {
    type: 'gauge',
    help: 'Statements that were sent or queued and are not yet answered.',
    labels: ['connection'],
  },
  retention_database_connections: {
    type: 'gauge',
    help: 'Connections to the database that may be open at most.',
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
    help: 'How long ago a feed was last read to its end, of the shop where that is longest, in seconds.',
    labels: ['feed'],
  },
  retention_webhook_jobs: {
    type: 'gauge',
    help: 'Webhooks of Shopify that are stored and not done, by state; failed ones were given up.',
    labels: ['state'],
  },
  retention_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'How long turns of the event loop took since the scrape before, in seconds.',
    labels: ['percentile'],
  },
  retention_key_leases: {
    type: 'gauge',
    help: 'Keys whose record is held in memory.',
    labels: [],
  },
  retention_open_connections: {
    type: 'gauge',
    help: 'Connections of clients to the public port.',
    labels: [],
  },
  retention_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say what is running.',
    labels: ['version', 'node'],
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    help: 'Resident memory of the process, in bytes.',
    labels: [],
  },
  process_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time that the process has used, user and system, in seconds.',
    labels: [],
  },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'When the process started, in seconds since 1970.',
    labels: [],
  },
  nodejs_heap_used_bytes: {
    type: 'gauge',
    help: 'Memory that JavaScript objects take, in bytes.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof metricDefinitions;
