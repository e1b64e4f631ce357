import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { operations } from '../../src/operations/index.ts';
import { createTestKey, openAnyStore, startWorld, type World } from '../support/world.ts';
import { legacyRequest, modernHeaders, modernRequest, post } from './wire.ts';
import type { Scope } from '../../src/vocabulary.ts';

const annotationsOf = (title: string) => ({
  title,
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
});
const limit = {
  default: 50,
  description: 'How many rows a page holds at most, 1 to 100.',
  type: 'integer',
  minimum: 1,
  maximum: 100,
};
const cursor = {
  type: 'string',
  description:
    'Where the page begins: nextCursor of the previous page, unchanged. Leave it out for the first page.',
};
const noArguments = { required: [], type: 'object', properties: {}, additionalProperties: false };

/** Everything except description and outputSchema, in the fixed order. */
const pinned = [
  {
    name: 'get_entitlements',
    title: 'Customer entitlements',
    inputSchema: {
      required: ['customerId'],
      type: 'object',
      properties: {
        customerId: {
          type: 'integer',
          minimum: 1,
          description: "The shop's internal numeric customer id, not an e-mail address.",
        },
      },
      additionalProperties: false,
    },
    annotations: annotationsOf('Customer entitlements'),
  },
  {
    name: 'list_subscriptions',
    title: 'Subscriptions',
    inputSchema: {
      required: [],
      type: 'object',
      properties: {
        limit,
        cursor,
        status: {
          description: 'Only subscriptions of this status.',
          type: 'string',
          enum: ['active', 'paused', 'cancelled', 'expired', 'failed'],
        },
      },
      additionalProperties: false,
    },
    annotations: annotationsOf('Subscriptions'),
  },
  {
    name: 'get_subscription',
    title: 'One subscription',
    inputSchema: {
      required: ['subscriptionId'],
      type: 'object',
      properties: {
        subscriptionId: {
          type: 'integer',
          minimum: 1,
          description: 'The numeric subscription id.',
        },
      },
      additionalProperties: false,
    },
    annotations: annotationsOf('One subscription'),
  },
  {
    name: 'get_metrics_summary',
    title: 'Metrics summary',
    inputSchema: noArguments,
    annotations: annotationsOf('Metrics summary'),
  },
  {
    name: 'list_plans',
    title: 'Selling plans',
    inputSchema: noArguments,
    annotations: annotationsOf('Selling plans'),
  },
  {
    name: 'list_cancellations',
    title: 'Cancel-flow sessions',
    inputSchema: {
      required: [],
      type: 'object',
      properties: {
        limit,
        cursor,
        outcome: {
          description: 'Only sessions that ended this way.',
          type: 'string',
          enum: ['saved', 'cancelled', 'abandoned'],
        },
      },
      additionalProperties: false,
    },
    annotations: annotationsOf('Cancel-flow sessions'),
  },
];

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly outputSchema: Record<string, unknown>;
}

/** The path of every required value in the schema, such as `plans[].pricing.summary`. */
function requiredPaths(schema: unknown, path = ''): string[] {
  const { properties = {}, required = [], items } = schema as Record<string, any>;
  if (items) return requiredPaths(items, `${path}[]`);
  const names = Object.keys(properties);
  assert.deepEqual(names, required, `${path} has a property that is not always there`);
  return names.length === 0
    ? [path]
    : names.flatMap((name) =>
        requiredPaths(properties[name], path === '' ? name : `${path}.${name}`),
      );
}

describe('the list of tools', () => {
  let world: World;
  const listFor = async (key: string): Promise<Tool[]> => {
    const caller = { ...world, key };
    const old = await post(caller, legacyRequest('tools/list'));
    const modern = await post(caller, modernRequest('tools/list'), modernHeaders('tools/list'));
    const { tools } = JSON.parse(old.body).result;
    assert.deepEqual(JSON.parse(modern.body).result.tools, tools);
    return tools;
  };

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  // Requirements: mcp.tools.entry, mcp.tools.six, mcp.tools.order, mcp.tools.list-plans-schema,
  // mcp.service.one-tool-each.
  test('shows exactly these six tools to a key with all scopes', async () => {
    const tools = await listFor(world.key);
    const shown = tools.map(({ description, outputSchema, ...rest }) => {
      assert.equal(typeof description, 'string');
      assert.equal(typeof outputSchema, 'object');
      return rest;
    });
    assert.deepEqual(shown, pinned);
  });

  // Requirements: mcp.tools.permitted.
  test('shows only the tools that the key permits, in the same order', async () => {
    const cases: readonly (readonly [readonly Scope[], readonly string[]])[] = [
      [['read:entitlements'], ['get_entitlements']],
      [['read:subscriptions'], ['list_subscriptions', 'get_subscription']],
      [['read:metrics'], ['get_metrics_summary', 'list_cancellations']],
      [['read:plans'], ['list_plans']],
      [
        ['read:plans', 'read:metrics'],
        ['get_metrics_summary', 'list_plans', 'list_cancellations'],
      ],
      [
        ['read:plans', 'read:subscriptions', 'read:entitlements'],
        ['get_entitlements', 'list_subscriptions', 'get_subscription', 'list_plans'],
      ],
    ];
    for (const [scopes, expected] of cases) {
      const { key } = await createTestKey(world.store, world.shop.id, scopes);
      const names = (await listFor(key)).map(({ name }) => name);
      assert.deepEqual(names, expected, scopes.join());
    }
  });

  test('has a short and unique description for each tool', async () => {
    const descriptions = (await listFor(world.key)).map(({ description }) => description);
    assert.equal(new Set(descriptions).size, 6);
    for (const description of descriptions) {
      assert.ok(description.length >= 100 && description.length <= 500, description);
      assert.match(description, /^[A-Z].*\.$/);
    }
  });

  test('say what answers leave out, and where to learn it', async () => {
    const tools = await listFor(world.key);
    for (const [tool, text] of [
      [
        'list_cancellations',
        /^(?!.*over time).* The save rate of the last 30 days: get_metrics_summary\.$/,
      ],
      ['list_subscriptions', /per billing cycle, in the currency of get_metrics_summary\. /],
      ['list_subscriptions', /an ended subscription's may lie in the future\. /],
      ['get_subscription', /Prices and nextBillingDate are as in list_subscriptions;/],
      ['list_plans', /money in the currency of get_metrics_summary\)/],
      ['get_metrics_summary', /All tools' money is .* named in currency;/],
    ] as const) {
      assert.match(tools.find(({ name }) => name === tool)?.description ?? '', text);
    }
  });

  test('has output schemas that accept answers, with null where it is documented, and nothing less', async () => {
    const tools = await listFor(world.key);
    const schemaOf = (tool: string) =>
      tools.find(({ name }) => name === tool)?.outputSchema ?? assert.fail();
    const accepts = (tool: string, answer: unknown) =>
      new AjvJsonSchemaValidator().getValidator(schemaOf(tool))(answer).valid;
    for (const { tool, example } of operations) {
      assert.equal(accepts(tool, example.output), true, tool);
      assert.equal(accepts(tool, { ...example.output, later: 1 }), true, tool);
      assert.equal(accepts(tool, {}), false, tool);
    }
    const session = {
      sessionId: 1,
      detectedReason: 'other',
      outcome: null,
      offerType: null,
      createdAt: '2026-11-20T00:00:00.000Z',
    };
    const page = (change: object) => ({
      cancellations: [{ ...session, ...change }],
      nextCursor: null,
    });
    assert.equal(accepts('list_cancellations', page({})), true);
    assert.equal(accepts('list_cancellations', page({ outcome: 'saved' })), true);
    for (const wrong of [{ outcome: 'lost' }, { sessionId: null }, { detectedReason: null }]) {
      assert.equal(accepts('list_cancellations', page(wrong)), false, JSON.stringify(wrong));
    }
  });

  // A model reads the list before its first call, and pays for it in tokens.
  test('takes at most 10,000 bytes, of which the output schemas take 5,100', async () => {
    const tools = await listFor(world.key);
    assert.ok(Buffer.byteLength(JSON.stringify(tools)) <= 10_000);
    const schemas = tools.map(({ outputSchema }) => JSON.stringify(outputSchema));
    assert.ok(Buffer.byteLength(schemas.join('')) <= 5_100);
  });

  test('has self-contained output schemas that require every field and allow others', async () => {
    const tools = await listFor(world.key);
    for (const { name, outputSchema } of tools) {
      assert.equal(outputSchema['type'], 'object', name);
      const text = JSON.stringify(outputSchema);
      assert.doesNotMatch(text, /\$ref|\$defs|\$schema|"additionalProperties":false/, name);
    }
    const paths = Object.fromEntries(
      tools.map(({ name, outputSchema }) => [name, requiredPaths(outputSchema)]),
    );
    assert.deepEqual(paths['list_plans'], [
      'plans[].id',
      'plans[].name',
      'plans[].groupName',
      'plans[].intervalUnit',
      'plans[].intervalCount',
      'plans[].active',
      'plans[].productCount',
      'plans[].pricing.discountType',
      'plans[].pricing.discountValue',
      'plans[].pricing.summary',
    ]);
    assert.deepEqual(paths['get_entitlements'], [
      'subscriptions[].subscriptionId',
      'subscriptions[].planId',
      'subscriptions[].planName',
      'subscriptions[].planType',
      'subscriptions[].status',
      'subscriptions[].isEntitled',
      'subscriptions[].paidThroughAt',
    ]);
    assert.deepEqual(paths['list_cancellations'], [
      'cancellations[].sessionId',
      'cancellations[].detectedReason',
      'cancellations[].outcome',
      'cancellations[].offerType',
      'cancellations[].createdAt',
      'nextCursor',
    ]);
    const counts = Object.entries(paths).map(([name, { length }]) => `${name} ${length}`);
    assert.deepEqual(counts, [
      'get_entitlements 7',
      'list_subscriptions 10',
      'get_subscription 16',
      'get_metrics_summary 17',
      'list_plans 10',
      'list_cancellations 6',
    ]);
  });
});
