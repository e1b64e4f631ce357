import { version } from '../version.ts';

export const serverInfo = {
  name: 'retention-data-service',
  title: 'Retention Data Service',
  version,
} as const;

export const capabilities = { tools: {} } as const;

/** Explains to a model how the tools fit together. */
export const instructions = [
  "Read-only data of one shop's subscriptions: who is entitled, which subscriptions and selling plans there are, how retention is doing, and how cancel-flow sessions ended.",
  'Start with get_metrics_summary for an overview and with get_entitlements for one customer.',
  'Lists come newest first, a page at a time: begin with a small limit, and pass nextCursor on as cursor, with the same filter, only if more is needed.',
  'Money is in the currency that get_metrics_summary names; times are UTC. Nothing can be changed.',
].join(' ');
