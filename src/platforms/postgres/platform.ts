import type { Platform } from '../platform.ts';
import { parseTarget, urlForm } from './address.ts';

/** A merchant's own PostgreSQL, whose rows become records by mappings. */
export const postgres: Platform = {
  name: 'postgres',
  title: 'PostgreSQL',
  settings: { name: 'postgres' },
  examples: [
    '{"url":"postgres://reader:…@db.example.com/billing","streams":[{"name":"subscriptions","query":"select …","mapping":"FILE","key":["id"],"cursor":"updated_at"}]}',
  ],
  form: {
    about:
      'Tables that you already have, in your own application or filled by a loader: your subscriptions, plans and payments arrive by themselves and stay up to date.',
    steps: [
      'Create a login that may only read the tables of your subscriptions, and give its address here. A login that may write is refused.',
      'Allow connections from this service, over TLS.',
    ],
    fields: [
      {
        name: 'url',
        label: 'Address of the database',
        hint: 'Such as postgres://reader:password@db.example.com:5432/billing. It is stored encrypted, and never shown again.',
        isSecret: true,
      },
      {
        name: 'streams',
        label: 'Streams',
        hint: 'A list of queries with their mappings, as “platforms suggest postgres” prints it. Left empty, the tables are looked at.',
        isJson: true,
      },
    ],
    secretName: 'address',
    isPreviewed: true,
  },
  sharesAccounts: true,
  accountOf({ url }) {
    const { host = '', port, database = '' } = parseTarget(url) ?? {};
    return `${host}${port === 5432 ? '' : `:${port}`}/${database}`;
  },
  credentialFields: {
    url: {
      expected: urlForm,
      fits: (value) => parseTarget(value) !== undefined,
    },
    streams: {
      expected:
        'a list of streams, such as {"name":"subscriptions","query":"select …","mapping":"FILE","key":["id"],"cursor":"updated_at"}',
      fits: (value) => Array.isArray(value),
      problemsOf: async (value) => (await import('./streams.ts')).problemsOfStreams(value),
    },
  },
  readReferences: async (given) => (await import('./streams.ts')).readMappingFiles(given),
  findBelonging: async (sql, shopId) =>
    (await import('../../store/feeds/streams.ts')).findBelonging(sql, shopId, 'postgres'),
  sourceIdOf: () => undefined,
  load: async () => (await import('./code.ts')).postgresCode,
};
