import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBulkResults } from '../../../src/platforms/shopify/bulk/records.ts';
import { attempt, contract, group, line, sellingPlan } from './nodes.ts';
import { file, sample } from './samples.ts';

const shop = { currency: 'USD', minorDigits: 2 };

/** The problems of the lines of a file, the text saved of each, and the types of its records. */
async function read(lines: readonly (object | string)[]) {
  const problems: string[] = [];
  const kept: string[] = [];
  const types: string[] = [];
  for await (const some of readBulkResults([file('f', lines)], shop)) {
    for (const { source, number, text, problem, countsAs } of some) {
      if (problem === undefined) {
        types.push(JSON.parse(text).type);
        continue;
      }
      problems.push(`${source}:${number} (${countsAs}): ${problem}`);
      kept.push(text);
    }
  }
  return { problems, kept, types };
}

const good = [contract(1), line(1, 1), attempt(1, 1, '2026-11-05T11:00:00Z')];
const goodTypes = ['plan', 'subscription', 'payment'];

test('refuses the broken lines of samples, and reads the rest', async () => {
  const orphan = await read(sample('bad/orphan_child.jsonl'));
  assert.deepEqual(orphan.problems, [
    'f:7 (line): its SubscriptionContract 9999 is not in the input',
  ]);
  assert.deepEqual(orphan.kept, [
    'gid://shopify/SubscriptionLine/00000000-0000-4000-8000-000000000099',
  ]);
  assert.deepEqual(orphan.types, [...goodTypes, ...goodTypes]);

  const truncated = await read(sample('bad/truncated_last_line.jsonl'));
  assert.deepEqual(truncated.problems, ['f:7 (unknown): the line is not JSON']);
  assert.deepEqual(truncated.kept, ['gid://shopify/SubscriptionContract/1003']);
  assert.deepEqual(truncated.types, [...goodTypes, ...goodTypes]);

  const stale = [...sample('bad/unknown_status.jsonl'), line(1099, 1), ...good];
  const unknown = await read([attempt(1099, 9, '2026-11-05T11:00:00Z'), ...stale]);
  assert.deepEqual(unknown.problems, [
    'f:2 (subscription): status STALE is not known; it must be one of ACTIVE, PAUSED, CANCELLED, EXPIRED, FAILED',
    'f:1 (payment): its SubscriptionContract was refused',
    'f:3 (line): its SubscriptionContract was refused',
  ]);
  assert.deepEqual(unknown.types, goodTypes);
});

const price = (amount: unknown, currencyCode = 'USD') => ({
  currentPrice: { amount, currencyCode },
});
const dollars = 'must be an amount of 0 or more, below 10^12, with at most 2 decimals';
const time = 'must be an ISO 8601 time with an offset or Z, in the years 1970 to 9999';
const anId = 'an id of the form gid://shopify/TYPE/ID';

test('refuses a whole contract if it or one of its lines is invalid', async () => {
  const ofContract: [over: object, says: string][] = [
    [
      { customer: { id: 'gid://shopify/Company/1' } },
      'id must be a gid://shopify/Customer/… with a number',
    ],
    [{ currencyCode: 'CAD' }, "the contract is in CAD, and the shop's currency is USD"],
    [{ currencyCode: undefined }, 'currencyCode is missing'],
    [
      { status: 'sam@example.com' },
      'status must be one of ACTIVE, PAUSED, CANCELLED, EXPIRED, FAILED',
    ],
    [{ status: undefined }, 'status is missing'],
    [{ createdAt: '2026-11-05' }, `createdAt ${time}`],
    [{ createdAt: '2026-13-05T00:00:00Z' }, `createdAt ${time}`],
    [{ updatedAt: null }, `updatedAt ${time}`],
    [{ nextBillingDate: 5 }, `nextBillingDate ${time}`],
    [{ billingPolicy: undefined }, 'billingPolicy is missing'],
    [
      { billingPolicy: { interval: 'HOUR', intervalCount: 1 } },
      'interval HOUR is not known; it must be one of DAY, WEEK, MONTH, YEAR',
    ],
    [
      { billingPolicy: { interval: 'DAY', intervalCount: 1001 } },
      'intervalCount must be an integer from 1 to 1000',
    ],
  ];
  for (const [over, says] of ofContract) {
    const { problems, types } = await read([contract(7, over), line(7, 7), ...good]);
    assert.deepEqual(problems, [
      `f:1 (subscription): ${says}`,
      'f:2 (line): its SubscriptionContract was refused',
    ]);
    assert.deepEqual(types, goodTypes);
  }

  const ofLine: [over: object, says: string][] = [
    [price('1.0', 'CAD'), "currentPrice is in CAD, and the shop's currency is USD"],
    [price('15.305'), `currentPrice.amount ${dollars}`],
    [price('-1.0'), `currentPrice.amount ${dollars}`],
    [price(15.3), `currentPrice.amount ${dollars}`],
    [price('1e3'), `currentPrice.amount ${dollars}`],
    [{ quantity: 0 }, 'quantity must be an integer from 1 to 1000000'],
    [{ title: undefined }, 'title is missing'],
    [{ title: 'x'.repeat(1001) }, 'title must be text of at most 1000 characters'],
    [{ title: 'a\0b' }, 'title must be text without NUL or broken surrogates'],
    [{ productId: 8001 }, 'productId must be a gid://shopify/Product/… with a number'],
    [
      { sellingPlanId: 'gid://shopify/SellingPlan/9007199254740992' },
      'sellingPlanId must be a gid://shopify/SellingPlan/… with a number',
    ],
    [{ requiresShipping: 'no' }, 'requiresShipping must be true or false'],
  ];
  for (const [over, says] of ofLine) {
    const lines = [
      line(7, 8),
      line(7, 9, over),
      contract(7),
      attempt(7, 7, '2026-11-05T11:00:00Z'),
    ];
    const { problems, types } = await read([...lines, ...good]);
    assert.deepEqual(problems, [
      `f:2 (line): ${says}`,
      'f:3 (subscription): one of its lines was refused',
      'f:1 (line): its SubscriptionContract was refused',
      'f:4 (payment): its SubscriptionContract was refused',
    ]);
    assert.deepEqual(types, goodTypes);
  }
});

test('refuses a contract without lines or with too many', async () => {
  assert.deepEqual((await read([contract(7)])).problems, [
    'f:1 (subscription): the contract has no lines',
  ]);
  const lines = Array.from({ length: 251 }, (_, index) => line(7, index));
  const { problems, types } = await read([contract(7), ...lines]);
  assert.equal(problems[0], 'f:1 (subscription): the contract has more than 250 lines');
  assert.equal(problems.length, 252);
  assert.deepEqual(types, []);
});

test('refuses only the attempt if an attempt is invalid', async () => {
  const { problems, types } = await read([
    ...good,
    attempt(1, 2, 'today'),
    attempt(1, 3, '2026-11-05T11:00:00Z', { ready: null }),
  ]);
  assert.deepEqual(problems, [
    `f:4 (payment): createdAt ${time}`,
    'f:5 (payment): ready must be true or false',
  ]);
  assert.deepEqual(types, goodTypes);
});

test('refuses invalid selling plans and groups', async () => {
  const { problems, types } = await read([
    sellingPlan(201, 301, {
      pricingPolicies: [
        { adjustmentType: 'PRICE', adjustmentValue: { amount: '9.0', currencyCode: 'CAD' } },
      ],
    }),
    sellingPlan(201, 302, { billingPolicy: null }),
    sellingPlan(201, 303, { pricingPolicies: [{ adjustmentType: 'FREE' }] }),
    sellingPlan(201, 304, {
      pricingPolicies: [{ adjustmentType: 'PERCENTAGE', adjustmentValue: { percentage: 101 } }],
    }),
    sellingPlan(201, 305),
    group(201),
    group(202, { name: null }),
    sellingPlan(202, 306),
    sellingPlan(203, 307),
  ]);
  assert.deepEqual(problems, [
    "f:1 (plan): adjustmentValue is in CAD, and the shop's currency is USD",
    'f:2 (plan): billingPolicy must be an object',
    'f:3 (plan): adjustmentType FREE is not known; it must be one of PERCENTAGE, FIXED_AMOUNT, PRICE',
    'f:4 (plan): adjustmentValue.percentage must be a number from 0 to 100',
    'f:7 (group): name must be text of at most 1000 characters',
    'f:8 (plan): its SellingPlanGroup was refused',
    'f:9 (plan): its SellingPlanGroup 203 is not in the input',
  ]);
  assert.deepEqual(types, ['plan']);
});

test('refuses lines of an unknown kind or with the wrong parent', async () => {
  const { problems, kept, types } = await read([
    { id: 'gid://shopify/Order/5', email: 'sam@example.com' },
    { id: 'gid://shopify/Metafield/5', __parentId: 'gid://shopify/SubscriptionContract/1' },
    { ...line(1, 5), __parentId: 'gid://shopify/Order/5' },
    { ...line(1, 5), __parentId: null },
    { ...line(1, 5), __parentId: 'sam@example.com' },
    contract(1, { __parentId: 'gid://shopify/Customer/5' }),
    { ...contract(1), id: 'gid://shopify/SubscriptionContract/abc' },
    { ...attempt(1, 5, '2026-11-05T11:00:00Z'), id: 'gid://shopify/SubscriptionBillingAttempt/0' },
    { id: 1001, email: 'sam@example.com' },
    '[]',
    'sam@example.com',
    ...good,
  ]);
  assert.deepEqual(problems, [
    'f:1 (unknown): nodes of the type Order are not imported',
    'f:2 (unknown): nodes of the type Metafield are not imported',
    'f:3 (line): __parentId is of the type Order; a SubscriptionLine belongs to a SubscriptionContract',
    'f:4 (line): __parentId is missing',
    `f:5 (line): __parentId must be ${anId}`,
    'f:6 (subscription): a SubscriptionContract must have no __parentId',
    'f:7 (subscription): id must end in a number from 1 to 9007199254740991',
    'f:8 (payment): id must end in a number from 1 to 9007199254740991',
    `f:9 (unknown): the line must have ${anId}`,
    'f:10 (unknown): the line is not a JSON object',
    'f:11 (unknown): the line is not JSON',
  ]);
  assert.deepEqual(kept.slice(7), ['gid://shopify/SubscriptionBillingAttempt/0', '', '', '']);
  assert.deepEqual(types, goodTypes);
});

test('knows the id of a refused contract, so that a snapshot has it', async () => {
  const found: unknown[] = [];
  const lines = [
    contract(1, { status: 'STALE' }),
    line(1, 1),
    contract(2),
    line(2, 2, { quantity: 0 }),
    attempt(2, 1, '2026-11-05T11:00:00Z'),
    'no JSON',
  ];
  for await (const some of readBulkResults([file('f', lines)], shop)) {
    for (const { number, countsAs, recordId } of some) found.push([number, countsAs, recordId]);
  }
  assert.deepEqual(found, [
    [1, 'subscription', 1],
    [4, 'line', undefined],
    [6, 'unknown', undefined],
    [2, 'line', undefined],
    [3, 'subscription', 2],
    [5, 'payment', undefined],
  ]);
});
