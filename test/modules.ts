/** What a module may import: modules or single files. From `types` it may import types only. */
interface Rule {
  readonly imports: readonly string[];
  readonly types?: readonly string[];
}

const leaves = [
  'clock',
  'config',
  'errors',
  'intervals',
  'iso-time',
  'json',
  'log',
  'money',
  'mrr',
  'own-number',
  'refusals',
  'time-limit',
  'version',
  'vocabulary',
];
const transport = ['http', 'operations'];

/** A module is a folder of src, or a file beside these folders. */
export const modules: Readonly<Record<string, Rule>> = {
  clock: { imports: [] },
  config: { imports: ['errors'] },
  errors: { imports: [] },
  intervals: { imports: [], types: ['vocabulary'] },
  'iso-time': { imports: [] },
  json: { imports: [] },
  log: { imports: [] },
  'time-limit': { imports: [] },
  money: { imports: [] },
  mrr: { imports: ['money'], types: ['vocabulary'] },
  'own-number': { imports: [] },
  refusals: { imports: ['errors'] },
  version: { imports: [] },
  vocabulary: { imports: [] },

  records: { imports: leaves },
  store: { imports: [...leaves, 'records'] },
  access: { imports: [...leaves, 'store'] },
  metrics: { imports: [...leaves, 'store'] },
  operations: {
    imports: [...leaves, 'metrics', 'store', 'access/scopes'],
    types: ['access', 'telemetry'],
  },
  ingest: { imports: [...leaves, 'records', 'store'] },
  mapping: { imports: [...leaves, 'ingest', 'records', 'store'] },
  demo: { imports: leaves, types: ['records'] },

  telemetry: { imports: leaves },
  http: {
    imports: [
      ...leaves,
      'access/client-network',
      'access/limiter/rate-limiter',
      'telemetry/trace-context',
    ],
    types: ['access', 'telemetry'],
  },
  reference: { imports: [...leaves, 'operations', 'access/scopes', 'access/tiers'] },
  docs: { imports: [...leaves, 'http', 'reference'], types: ['operations'] },
  rest: { imports: [...leaves, ...transport], types: ['access', 'store', 'telemetry'] },
  mcp: { imports: [...leaves, ...transport], types: ['access', 'store', 'telemetry'] },
  accounts: { imports: [...leaves, 'store'] },
  mail: { imports: [], types: ['config'] },
  owner: {
    imports: [
      ...leaves,
      'access',
      'accounts',
      'docs/guides',
      'http',
      'mail',
      'mcp/presence/paths',
      'metrics',
      'operations',
      'platforms',
      'store',
      'push',
    ],
    types: ['ingest', 'mapping', 'records'],
  },

  platforms: {
    imports: [...leaves, 'access/keys', 'http', 'ingest', 'mapping', 'records', 'store'],
  },

  push: {
    imports: [
      ...leaves,
      'access/client-network',
      'access/secrets',
      'access/tiers',
      'http',
      'ingest',
      'mapping',
      'metrics',
      'records',
      'store',
      'platforms/keeper',
      'platforms/registry',
      'platforms/credentials/sealing',
      'platforms/webhooks/queue',
    ],
    types: ['platforms'],
  },
  inbound: {
    imports: ['config', 'push', 'errors', 'platforms'],
    types: [...leaves, 'http', 'store'],
  },

  status: { imports: ['http', 'time-limit'], types: ['access', 'store'] },
  gauges: { imports: ['store', 'telemetry'], types: [...leaves, 'access'] },
  service: {
    imports: [
      ...leaves,
      'gauges',
      'inbound',
      'status',
      'access',
      'accounts',
      'docs',
      'push/upload',
      'http',
      'mail',
      'mcp',
      'operations',
      'owner',
      'rest',
      'store',
      'telemetry',
      'platforms',
    ],
  },
  commands: {
    imports: [
      ...leaves,
      'access',
      'accounts',
      'demo',
      'push',
      'ingest',
      'mail',
      'mapping',
      'metrics',
      'operations',
      'owner',
      'platforms',
      'records',
      'service',
      'store',
    ],
  },
  cli: { imports: ['commands'] },
};
