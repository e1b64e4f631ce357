import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { operations } from '../operations/index.ts';
import { restV1 } from '../operations/versions.ts';
import { buildOpenApi } from './openapi.ts';

const document = buildOpenApi({ serverUrl: 'https://retention.example', version: restV1 });
const envelope = (message: string) => ({ success: false, message });
const entitlements = {
  scope: 'read:entitlements',
  parameters: ['query customerId! positive'],
  tags: 'Entitlements',
  statuses: '200 400 401 403 405 429 500',
};

const expected = {
  '/api/external/v1/entitlements': { id: 'getEntitlements', ...entitlements },
  '/api/external/entitlements': { id: 'getEntitlementsAlias', ...entitlements },
  '/api/external/v1/subscriptions': {
    id: 'listSubscriptions',
    scope: 'read:subscriptions',
    tags: 'Subscriptions',
    parameters: [
      'query limit 1..100 default 50',
      'query cursor',
      'query status active|paused|cancelled|expired|failed',
    ],
    statuses: '200 400 401 403 405 429 500',
  },
  '/api/external/v1/subscriptions/{id}': {
    id: 'getSubscription',
    scope: 'read:subscriptions',
    tags: 'Subscriptions',
    parameters: ['path id! positive'],
    statuses: '200 401 403 404 405 429 500',
  },
  '/api/external/v1/metrics/summary': {
    id: 'getMetricsSummary',
    scope: 'read:metrics',
    tags: 'Metrics',
    parameters: [],
    statuses: '200 401 403 405 429 500',
  },
  '/api/external/v1/plans': {
    id: 'listPlans',
    scope: 'read:plans',
    tags: 'Plans',
    parameters: [],
    statuses: '200 401 403 405 429 500',
  },
  '/api/external/v1/cancellations': {
    id: 'listCancellations',
    scope: 'read:metrics',
    tags: 'Metrics',
    parameters: [
      'query limit 1..100 default 50',
      'query cursor',
      'query outcome saved|cancelled|abandoned',
    ],
    statuses: '200 400 401 403 405 429 500',
  },
};

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone({ ...document }));
  assert.deepEqual(result, { valid: true });
  assert.equal(validator.version, '3.1');
});

test('documents every endpoint with its scope, parameters and statuses', () => {
  const found = Object.entries(document.paths).map(([path, { get }]) => [
    path,
    {
      id: get.operationId,
      tags: get.tags.join(),
      scope: get['x-required-scope'],
      parameters: get.parameters.map(({ in: place, name, required, schema, description }) => {
        assert.notEqual(description, '');
        const { minimum, maximum, enum: values, default: fallback } = schema;
        return [
          place,
          required ? `${name}!` : name,
          minimum === 1 && maximum === undefined ? 'positive' : undefined,
          maximum === undefined ? undefined : `${minimum}..${maximum}`,
          Array.isArray(values) ? values.join('|') : undefined,
          fallback === undefined ? undefined : `default ${fallback}`,
        ]
          .filter((part) => part !== undefined)
          .join(' ');
      }),
      statuses: Object.keys(get.responses).join(' '),
    },
  ]);
  assert.deepEqual(Object.fromEntries(found), expected);
});

test('resolves every $ref within the document', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(
    ([, reference]) => reference as string,
  );
  assert.ok(references.length > 20);
  for (const reference of new Set(references)) {
    assert.match(reference, /^#\/components\//);
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], document);
    assert.equal(typeof target, 'object', reference);
  }
});

test('requires all fields of every schema, and allows additional ones', () => {
  const { schemas } = document.components;
  assert.deepEqual(Object.keys(schemas), [
    'EntitlementsResponse',
    'EntitlementEntry',
    'SubscriptionPage',
    'Subscription',
    'SubscriptionResponse',
    'LineItem',
    'SubscriptionDetail',
    'MetricsSummaryResponse',
    'MetricsSummary',
    'SellingPlansResponse',
    'SellingPlan',
    'CancellationPage',
    'CancellationSession',
    'ErrorEnvelope',
  ]);
  for (const [name, schema] of Object.entries(schemas)) {
    assert.deepEqual(schema.required, Object.keys(schema.properties ?? {}), name);
  }
  assert.doesNotMatch(JSON.stringify(document), /additionalProperties|\$defs/);
});

test('marks the alias for generators to skip', () => {
  const { get } = document.paths['/api/external/entitlements'] ?? assert.fail();
  const { get: original } = document.paths['/api/external/v1/entitlements'] ?? assert.fail();
  assert.deepEqual(get, {
    ...original,
    operationId: 'getEntitlementsAlias',
    summary: 'Customer entitlements (alias)',
    description: get.description,
    'x-alias-of': '/api/external/v1/entitlements',
    'x-internal': true,
    'x-fern-ignore': true,
    'x-speakeasy-ignore': true,
  });
  assert.match(get.description, /^The same as `\/api\/external\/v1\/entitlements`, permanently\./);
});

test('groups operations by tags, and defines every tag', () => {
  assert.deepEqual(
    document.tags.map(({ name }) => name),
    ['Entitlements', 'Subscriptions', 'Metrics', 'Plans'],
  );
});

test('documents refusals with the service’s own messages and headers', () => {
  const responses = document.paths['/api/external/v1/entitlements']?.get.responses ?? {};
  const documented = Object.entries(responses)
    .filter(([status]) => status !== '200')
    .map(([status, { content, headers }]) => [
      status,
      Object.values(content['application/json'].examples).map(({ value }) => value),
      Object.keys(headers).join(' '),
    ]);
  assert.deepEqual(documented, [
    [
      '400',
      [envelope('customerId must be a positive integer.')],
      'X-Request-Id RateLimit-Policy RateLimit',
    ],
    ['401', [envelope('Unauthorized')], 'X-Request-Id WWW-Authenticate'],
    [
      '403',
      [
        envelope('Developer API access requires the Growth plan or higher.'),
        envelope('This API key does not have the required scope: read:entitlements.'),
      ],
      'X-Request-Id RateLimit-Policy RateLimit',
    ],
    ['405', [envelope('Method not allowed.')], 'X-Request-Id Allow'],
    [
      '429',
      [envelope('Rate limit exceeded. Retry after 12 seconds.')],
      'X-Request-Id Retry-After RateLimit-Policy RateLimit',
    ],
    [
      '500',
      [envelope('Internal server error.')],
      'X-Request-Id Retry-After RateLimit-Policy RateLimit',
    ],
  ]);
});

test('has an example for every operation that its own schemas accept', () => {
  for (const { tool, input, output, example } of operations) {
    input.parse(example.input);
    assert.deepEqual(output.parse(example.output), example.output, tool);
  }
});

test('describes limited and unlimited tiers', () => {
  const { description } = document.info;
  assert.match(description, /\| Growth \| 60 \|/);
  assert.match(description, /\| Pro \| 300 \|/);
  assert.match(description, /\| Enterprise Plus \| no limit \|/);
});

test('all generated files in the repository are current', () => {
  const script = fileURLToPath(new URL('../../scripts/generate.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});
