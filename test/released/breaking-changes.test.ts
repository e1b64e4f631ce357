import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { restV1 } from '../../src/operations/versions.ts';
import type { OpenApiDocument } from '../../src/reference/document.ts';
import { buildOpenApi } from '../../src/reference/openapi.ts';
import { listBreakingChanges } from './breaking-changes.ts';

/** A copy of openapi.json as of the last release; releasing replaces it. */
const released = JSON.parse(
  readFileSync(new URL('./openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;
const current = buildOpenApi({ serverUrl: 'https://retention.example', version: restV1 });

test('breaks no client of the last released version', () => {
  assert.deepEqual(listBreakingChanges(released, current), []);
});

/** A document as plain JSON, which the cases below change. */
type Draft = Record<string, any>;
const list = '/api/external/v1/subscriptions';
const one = '/api/external/v1/subscriptions/{id}';
const get = (document: Draft, path: string) => document['paths'][path].get;
const schema = (document: Draft, name: string) => document['components'].schemas[name];
const field = (document: Draft, name: string, of = 'MetricsSummary') =>
  schema(document, of).properties[name];

/** Each change of the document, and what it breaks. */
const breaking: Readonly<Record<string, readonly [(document: Draft) => void, readonly string[]]>> =
  {
    'an operation removed': [
      (document) => delete document['paths'][one],
      [`GET ${one} was removed`],
    ],
    'an operation renamed': [
      (document) => (get(document, one).operationId = 'readSubscription'),
      [`GET ${one} operationId was getSubscription and is readSubscription`],
    ],
    'another scope': [
      (document) => (get(document, one)['x-required-scope'] = 'read:details'),
      [`GET ${one} x-required-scope was read:subscriptions and is read:details`],
    ],
    'another way to authenticate': [
      (document) => (document['components'].securitySchemes.apiKey.scheme = 'basic'),
      ['the way to authenticate changed'],
    ],
    'a parameter removed': [
      (document) => get(document, list).parameters.pop(),
      [`GET ${list} query parameter status was removed`],
    ],
    'a parameter required': [
      (document) => (get(document, list).parameters[2].required = true),
      [`GET ${list} query parameter status is required now`],
    ],
    'a required parameter added': [
      (document) =>
        get(document, list).parameters.push({
          name: 'shop',
          in: 'query',
          required: true,
          schema: { type: 'integer' },
        }),
      [`GET ${list} query parameter shop is new and required`],
    ],
    'a word that a parameter took': [
      (document) => get(document, list).parameters[2].schema.enum.pop(),
      [
        `GET ${list} query parameter status: enum was ["active","paused","cancelled","expired","failed"] and is ["active","paused","cancelled","expired"]`,
      ],
    ],
    'a smaller maximum of a parameter': [
      (document) => (get(document, list).parameters[0].schema.maximum = 50),
      [`GET ${list} query parameter limit: maximum was 100 and is 50`],
    ],
    'another default of a parameter': [
      (document) => (get(document, list).parameters[0].schema.default = 20),
      [`GET ${list} query parameter limit: default was 50 and is 20`],
    ],
    'another type of a parameter': [
      (document) => (get(document, list).parameters[0].schema.type = 'string'),
      [`GET ${list} query parameter limit: type was "integer" and is "string"`],
    ],
    'a pattern for a parameter': [
      (document) => (get(document, list).parameters[1].schema.pattern = '^c'),
      [`GET ${list} query parameter cursor: pattern was absent and is "^c"`],
    ],
    'a status removed': [
      (document) => delete get(document, one).responses['404'],
      [`GET ${one} status 404 was removed`],
    ],
    'a header removed': [
      (document) => delete get(document, one).responses['429'].headers['Retry-After'],
      [`GET ${one} 429 header Retry-After was removed`],
    ],
    'another media type': [
      (document) => {
        const { content } = get(document, one).responses['404'];
        content['application/problem+json'] = content['application/json'];
        delete content['application/json'];
      },
      [`GET ${one} 404 application/json was removed`],
    ],
    'a field removed': [
      (document) => {
        delete schema(document, 'MetricsSummary').properties.mrr;
        schema(document, 'MetricsSummary').required.splice(2, 1);
      },
      ['GET /api/external/v1/metrics/summary 200 body.summary.mrr was removed'],
    ],
    'a field that may be absent': [
      (document) => schema(document, 'SellingPlan').required.pop(),
      ['GET /api/external/v1/plans 200 body.plans[].pricing is optional now'],
    ],
    'a nested field removed': [
      (document) => {
        delete field(document, 'pricing', 'SellingPlan').properties.summary;
        field(document, 'pricing', 'SellingPlan').required.pop();
      },
      ['GET /api/external/v1/plans 200 body.plans[].pricing.summary was removed'],
    ],
    'a field that may be null': [
      (document) => (field(document, 'mrr').type = ['number', 'null']),
      [
        'GET /api/external/v1/metrics/summary 200 body.summary.mrr: type was "number" and is ["number","null"]',
      ],
    ],
    'another type of a field': [
      (document) => (field(document, 'mrr').type = 'string'),
      [
        'GET /api/external/v1/metrics/summary 200 body.summary.mrr: type was "number" and is "string"',
      ],
    ],
    'a greater range of a field': [
      (document) => delete field(document, 'saveRate').maximum,
      [
        'GET /api/external/v1/metrics/summary 200 body.summary.saveRate: maximum was 1 and is absent',
      ],
    ],
    'a format that a field no longer has': [
      (document) => delete field(document, 'generatedAt').format,
      [
        'GET /api/external/v1/metrics/summary 200 body.summary.generatedAt: format was "date-time" and is absent',
      ],
    ],
    'a word that a field no longer has': [
      (document) => field(document, 'intervalUnit', 'SellingPlan').enum.shift(),
      [
        'GET /api/external/v1/plans 200 body.plans[].intervalUnit: enum was ["day","week","month","year"] and is ["week","month","year"]',
      ],
    ],
    'another envelope of errors': [
      (document) => schema(document, 'ErrorEnvelope').required.shift(),
      Object.entries(current.paths).flatMap(([path, { get: operation }]) =>
        Object.keys(operation.responses)
          .filter((status) => status !== '200')
          .map((status) => `GET ${path} ${status} body.success is optional now`),
      ),
    ],
  };

for (const [title, [change, expected]] of Object.entries(breaking)) {
  test(`finds ${title}`, () => {
    const changed = structuredClone(current) as Draft;
    change(changed);
    assert.deepEqual(listBreakingChanges(current, changed as OpenApiDocument), expected);
  });
}

/** Clients must expect these. */
const additions: Readonly<Record<string, (document: Draft) => void>> = {
  'an operation': (document) =>
    (document['paths']['/api/external/v1/more'] = { get: get(document, one) }),
  'an optional parameter': (document) =>
    get(document, one).parameters.push({
      name: 'at',
      in: 'query',
      required: false,
      schema: { type: 'string', default: 'now' },
    }),
  'a greater maximum of a parameter': (document) =>
    (get(document, list).parameters[0].schema.maximum = 200),
  'a word for a parameter': (document) =>
    get(document, list).parameters[2].schema.enum.push('trial'),
  'a parameter that may be left out': (document) =>
    (get(document, '/api/external/v1/entitlements').parameters[0].required = false),
  'a status': (document) =>
    (get(document, one).responses['410'] = get(document, one).responses['404']),
  'a header': (document) =>
    (get(document, one).responses['404'].headers['Retry-After'] = {
      $ref: '#/components/headers/Retry-After',
    }),
  'a field': (document) => {
    schema(document, 'MetricsSummary').properties.arr = { type: 'number' };
    schema(document, 'MetricsSummary').required.push('arr');
  },
  'a word for a field': (document) =>
    field(document, 'intervalUnit', 'SellingPlan').enum.push('hour'),
  'a field that is never null': (document) => {
    schema(document, 'Subscription').properties.nextBillingDate = {
      type: 'string',
      format: 'date-time',
    };
  },
  'other words for people': (document) => {
    document['info'].description = 'Else.';
    field(document, 'mrr').description = 'Else.';
    get(document, one).summary = 'Else';
  },
  'another name of a schema': (document) => {
    document['components'].schemas.Plans = schema(document, 'SellingPlansResponse');
    get(document, '/api/external/v1/plans').responses['200'].content['application/json'].schema = {
      $ref: '#/components/schemas/Plans',
    };
  },
};

for (const [title, change] of Object.entries(additions)) {
  test(`lets pass ${title}`, () => {
    const changed = structuredClone(current) as Draft;
    change(changed);
    assert.notDeepEqual(changed, current);
    assert.deepEqual(listBreakingChanges(current, changed as OpenApiDocument), []);
  });
}
