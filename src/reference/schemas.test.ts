import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restV1 } from '../operations/versions.ts';
import { buildOpenApi } from './openapi.ts';

const document = buildOpenApi({ serverUrl: 'https://retention.example', version: restV1 });
const { schemas, headers } = document.components;

test('names the body of every response', () => {
  const bodies = Object.values(document.paths).flatMap(({ get }) =>
    Object.entries(get.responses).map(([status, { content }]) => {
      assert.deepEqual(Object.keys(content['application/json'].schema), ['$ref']);
      return [status, content['application/json'].schema['$ref']];
    }),
  );
  const ofStatus = (isSuccess: boolean) =>
    bodies.filter(([status]) => (status === '200') === isSuccess).map(([, body]) => body);
  assert.deepEqual(ofStatus(true), [
    '#/components/schemas/EntitlementsResponse',
    '#/components/schemas/EntitlementsResponse',
    '#/components/schemas/SubscriptionPage',
    '#/components/schemas/SubscriptionResponse',
    '#/components/schemas/MetricsSummaryResponse',
    '#/components/schemas/SellingPlansResponse',
    '#/components/schemas/CancellationPage',
  ]);
  assert.deepEqual(new Set(ofStatus(false)), new Set(['#/components/schemas/ErrorEnvelope']));
});

type Node = Readonly<Record<string, unknown>>;

/** Every property and array item in a schema, with its path. */
function nodesIn(schema: Node, path: string): [string, Node][] {
  const { properties = {}, items, anyOf = [] } = schema as Record<string, Record<string, Node>>;
  return [
    ...Object.entries(properties).flatMap(([name, node]): [string, Node][] => [
      [`${path}.${name}`, node],
      ...nodesIn(node, `${path}.${name}`),
    ]),
    ...(items ? nodesIn(items, `${path}[]`) : []),
    ...Object.values(anyOf).flatMap((node) => nodesIn(node, path)),
  ];
}

const properties = Object.entries(schemas).flatMap(([name, schema]) => nodesIn(schema, name));

test('describes every schema, property, parameter, header, response and tag', () => {
  assert.ok(properties.length > 60);
  const described: [string, { readonly description?: unknown }][] = [
    ...Object.entries(schemas),
    ...properties,
    ...Object.entries(headers),
    ...document.tags.map((tag): [string, object] => [tag.name, tag]),
    ...Object.entries(document.paths).flatMap(([path, { get }]): [string, object][] => [
      [path, get],
      ...get.parameters.map((each): [string, object] => [`${path} ${each.name}`, each]),
      ...Object.entries(get.responses).map(([status, each]): [string, object] => [
        `${path} ${status}`,
        each,
      ]),
    ]),
  ];
  for (const [where, { description }] of described) {
    assert.match(String(description), /^[A-Za-z`].*[.]$/s, where);
  }
});

test('makes ids int64, with a maximum in responses only', () => {
  const integers = properties.filter(([, { type }]) => type === 'integer');
  const wide = integers.filter(([, { format }]) => format === 'int64');
  assert.deepEqual([...new Set(wide.map(([path]) => path.replace(/.*\./, '')))].toSorted(), [
    'customerId',
    'id',
    'lineId',
    'planId',
    'productId',
    'sessionId',
    'subscriptionId',
    'variantId',
  ]);
  for (const [path, { minimum, maximum }] of wide) {
    assert.deepEqual([minimum, maximum], [1, 9_007_199_254_740_991], path);
  }
  for (const [path, schema] of integers.filter((each) => !wide.includes(each))) {
    assert.ok(!('format' in schema) && !('maximum' in schema), path);
  }
  const parameters = Object.values(document.paths).flatMap(({ get }) => get.parameters);
  const integerParameters = parameters.filter(({ schema }) => schema.type === 'integer');
  assert.deepEqual(
    integerParameters.map(({ name, schema: { minimum, maximum, ...schema } }) => [
      name,
      minimum,
      maximum,
      schema['format'],
    ]),
    [
      ['customerId', 1, undefined, 'int64'],
      ['customerId', 1, undefined, 'int64'],
      ['limit', 1, 100, undefined],
      ['id', 1, undefined, 'int64'],
      ['limit', 1, 100, undefined],
    ],
  );
});

test('says of every enum field, and in the introduction, that values may be added', () => {
  const enums = properties.filter(([, node]) => JSON.stringify(node).includes('"enum"'));
  const fields = enums.filter(([, { properties: inner }]) => inner === undefined);
  assert.equal(fields.length, 11);
  for (const [path, { description }] of fields) {
    assert.match(String(description), /; new values may be added\.$/, path);
  }
  assert.match(document.info.description, /may gain new words .* do not fail on it\./);
});

test('says of money outside the summary where its currency is named', () => {
  const money = properties.filter(([path]) => /\.(?:currentPrice|discountValue)$/.test(path));
  assert.deepEqual(money.map(([path]) => path).toSorted(), [
    'LineItem.currentPrice',
    'SellingPlan.pricing.discountValue',
    'Subscription.currentPrice',
    'SubscriptionDetail.currentPrice',
  ]);
  for (const [path, { description }] of money) {
    assert.match(
      String(description),
      /in the shop's currency, which the metrics summary names in `currency`\.$/,
      path,
    );
  }
});

test('says that nextBillingDate may be of a subscription that has ended, and keeps its format', () => {
  const dates = properties.filter(([path]) => path.endsWith('.nextBillingDate'));
  assert.equal(dates.length, 2);
  for (const [path, { anyOf, description }] of dates) {
    assert.match(String(description), /has ended keeps it, and it may lie in the future/, path);
    const [known, unknown] = anyOf as Node[];
    assert.deepEqual([known?.['type'], known?.['format']], ['string', 'date-time'], path);
    assert.deepEqual(unknown, { type: 'null' }, path);
  }
});
