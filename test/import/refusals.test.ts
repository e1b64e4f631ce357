import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { line, plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, importAll } from '../support/world.ts';

/** The exact reason that the importer must give, and records that it applies to. */
type Case = readonly [reason: string, ...records: (object | string)[]];

const payment = (over: object) => ({
  type: 'payment',
  id: 9001,
  subscriptionId: 1001,
  cycle: '2026-11',
  status: 'succeeded',
  amount: '30.60',
  processedAt: '2026-11-05T11:00:02Z',
  ...over,
});
const one = (over: object) => subscription(1001, over);
const withLine = (over: object) => one({ lines: [{ ...line, ...over }] });
const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...line, lineId: index + 1 }));
/** A record as JSON, with the source text of its number. */
const withNumber = (record: (number: unknown) => object, source: string) =>
  JSON.stringify(record('NUMBER')).replace('"NUMBER"', source);
const withPricing = (discountType: string, discountValue?: unknown) =>
  plan({ pricing: { discountType, discountValue } });
const withName = (escapes: string) =>
  JSON.stringify(plan({ name: 'NAME' })).replace('NAME', escapes);

const anId = 'must be an integer from 1 to 9007199254740991';
const aTime = 'must be an ISO 8601 time with an offset or Z';
const inRange = 'must lie in the years 1970 to 9999';
const dollars = 'must be an amount of 0 or more, below 10^12, with at most 2 decimals';
const percent = 'must be a percentage from 0 to 100 with at most 4 decimals';
const withoutAddress = 'must have no e-mail address';
const soundText = 'must be text without NUL or broken surrogates';

const notARecord: readonly Case[] = [
  ['the line is not JSON', '{"type":"plan",', "{'type':'plan'}", 'NaN', '{} {}'],
  [
    'the line is not JSON: records stand on lines of their own, without a list around them',
    '[',
    '[{"type":"plan"},',
  ],
  ['the line is not a JSON object', 'null', '[]', '"plan"', '17', '[{"type":"plan"}]'],
  [
    'type must be one of plan, subscription, payment, refund, cancellation, delete',
    {},
    { type: 'order', id: 1 },
    { type: 5 },
    // Property names of every JavaScript object are not types.
    { type: 'constructor' },
    '{"type":"__proto__"}',
    '{"__proto__":{"type":"plan","id":11}}',
  ],
];

const missing: readonly Case[] = [
  [
    'id is missing; name is missing; planType is missing; intervalUnit is missing; intervalCount is missing',
    { type: 'plan' },
  ],
  [
    'id is missing; customerId is missing; planId is missing; status is missing; createdAt is missing; lines is missing',
    { type: 'subscription' },
  ],
  [
    'id is missing; subscriptionId is missing; cycle is missing; status is missing; amount is missing; processedAt is missing',
    { type: 'payment' },
  ],
  [
    'id is missing; paymentId is missing; amount is missing; refundedAt is missing',
    { type: 'refund' },
  ],
  ['id is missing; detectedReason is missing; createdAt is missing', { type: 'cancellation' }],
  ['record is missing; id is missing', { type: 'delete' }],
  [
    'lines[0].lineId is missing; lines[0].productId is missing; lines[0].productTitle is missing; lines[0].variantId is missing; lines[0].quantity is missing; lines[0].currentPrice is missing',
    one({ lines: [{}] }),
  ],
  ['pricing.discountValue is missing', withPricing('price')],
];

const ids: readonly Case[] = [
  [
    `id ${anId}`,
    ...[0, -1, 1.5, '5', true, null, [11], 2 ** 53, 1e300].map((id) => plan({ id })),
    { type: 'delete', record: 'plan', id: 0 },
  ],
  [`productIds[0] ${anId}; productIds[2] ${anId}`, plan({ productIds: ['a', 2, 0] })],
  [`customerId ${anId}; planId ${anId}`, one({ customerId: 0, planId: 'x' })],
  [`lines[0].variantId ${anId}`, withLine({ variantId: 0.5 })],
  [`subscriptionId ${anId}`, session(7001, { subscriptionId: 0 })],
];

const words: readonly Case[] = [
  [
    'status must be one of active, paused, cancelled, expired, failed',
    one({ status: 'Active' }),
    one({ status: null }),
  ],
  ['status must be one of succeeded, failed, pending', payment({ status: 'paid' })],
  ['failureKind must be one of payment, inventory', payment({ failureKind: 'money' })],
  [
    'failureCode must be a code of at most 64 letters, digits, "_", "." and "-"',
    ...['', 'card declined', 'Jane Doe', 'jane@example.com', 'karte_abgelehnt_ä', 5, {}].map(
      (failureCode) => payment({ failureCode }),
    ),
    payment({ failureCode: 'x'.repeat(65) }),
  ],
  [
    'planType must be one of subscription, prepaid, membership, other',
    plan({ planType: 'box' }),
    plan({ planType: 'toString' }),
  ],
  ['intervalUnit must be one of day, week, month, year', plan({ intervalUnit: 'months' })],
  [
    'pricing.discountType must be one of percentage, fixed_amount, price, none',
    withPricing('off', 5),
    withPricing('valueOf', 5),
    plan({ pricing: {} }),
  ],
  ['pricing must be an object', plan({ pricing: 5 })],
  [
    'detectedReason must be one of too_expensive, too_much_product, not_using, product_quality, switching_product, switching_product_or_competitor, shipping_delivery, moving_or_travel, accidental_signup, technical_issue, other, unknown',
    session(7001, { detectedReason: 'price' }),
  ],
  [
    'offerType must be one of offer_discount, pause, swap, skip_next',
    session(7001, { offerType: 'gift' }),
  ],
  ['outcome must be one of saved, cancelled, abandoned', session(7001, { outcome: 'lost' })],
  [
    'record must be one of plan, subscription, payment, refund, cancellation',
    { type: 'delete', record: 'customer', id: 1 },
  ],
];

const times: readonly Case[] = [
  [
    `createdAt ${aTime}`,
    ...[
      '2026-11-01T00:00:00',
      '2026-11-01',
      '2026-02-30T00:00:00Z',
      '2025-02-29T00:00:00Z',
      '2026-11-01T24:00:00Z',
      '2026-11-01T00:00:00+25:00',
      '2026-11-01 00:00:00Z',
      1_793_491_200_000,
      null,
    ].map((createdAt) => one({ createdAt })),
  ],
  [`nextBillingDate ${aTime}`, one({ nextBillingDate: '' })],
  [
    `createdAt ${inRange}`,
    one({ createdAt: '1900-01-01T00:00:00Z' }),
    one({ createdAt: '1970-01-01T00:00:00+00:01' }),
  ],
  [`paidThroughAt ${inRange}`, one({ paidThroughAt: '9999-12-31T23:59:59.999-00:01' })],
];

const amounts: readonly Case[] = [
  [
    `amount ${dollars}`,
    ...['-1', -1, '1.234', 1.234, 1e21, 1e-7, 1e12, '1000000000000', '', '1,50', ' 1', '+1']
      .concat(['.5', '1.', '1e2', 'NaN', '١'])
      .map((amount) => payment({ amount })),
    payment({ amount: null }),
    payment({ amount: true }),
    // As a number of JavaScript it would be 1.
    withNumber((amount) => payment({ amount }), '1.0000000000000000001'),
  ],
  [
    'lines[0].currentPrice must be an amount of 0 or more, below 10^12, with at most 12 decimals',
    withLine({ currentPrice: '15.3050000000001' }),
  ],
  [`pricing.discountValue ${dollars}`, withPricing('fixed_amount', '1.999')],
  [
    `pricing.discountValue ${percent}`,
    ...[101, 100.1, '-1', 1.23456, 'half'].map((value) => withPricing('percentage', value)),
  ],
  ['pricing.discountValue must be 0', withPricing('none', 5)],
];

const textsAndLists: readonly Case[] = [
  ['name must not be empty', plan({ name: '' }), plan({ name: '   ' })],
  ['name must be text', plan({ name: 5 }), plan({ name: null })],
  ['name must have at most 1000 characters', plan({ name: 'x'.repeat(1001) })],
  // NUL, a lone surrogate, and a surrogate pair in the wrong order.
  [`name ${soundText}`, withName('a\\u0000b'), withName('\\ud83d'), withName('\\ude00\\ud83d')],
  [`lines[0].productTitle ${soundText}`, withLine({ productTitle: 'a\0b' })],
  [`name ${withoutAddress}`, plan({ name: 'Plan of ann@example.com' })],
  [
    `pricing.summary ${withoutAddress}`,
    plan({ pricing: { discountType: 'none', summary: 'a@b.example' } }),
  ],
  [
    `lines[0].productTitle ${withoutAddress}`,
    withLine({ productTitle: 'Box for <ann@example.com>' }),
  ],
  [`lines[0].variantTitle ${withoutAddress}`, withLine({ variantTitle: 'ann@example.com' })],
  [`cycle ${withoutAddress}`, payment({ cycle: 'ann@example.com' })],
  ['cycle must not be empty', payment({ cycle: '' })],
  ['cycle must be text or an integer', payment({ cycle: 1.5 }), payment({ cycle: 2 ** 53 })],
  ['cycle must have at most 200 characters', payment({ cycle: 'x'.repeat(201) })],
  [
    'intervalCount must be an integer from 1 to 1000',
    ...[0, 1001, '1', 1.5].map((intervalCount) => plan({ intervalCount })),
  ],
  ['productCount must be an integer from 0 to 100000', plan({ productCount: -1 })],
  ['lines[0].quantity must be an integer from 1 to 1000000', withLine({ quantity: 0 })],
  ['active must be true or false', plan({ active: 'yes' })],
  ['productIds must be a list', plan({ productIds: 81 })],
  ['lines must not be empty', one({ lines: [] })],
  ['lines must have at most 250 entries', one({ lines: lines(251) })],
  ['lines[0] must be an object', one({ lines: [7] })],
];

const disagreeing: readonly Case[] = [
  ['lines must not have the same lineId twice', one({ lines: [line, { ...line, productId: 82 }] })],
  [
    'intervalCount and intervalUnit must be given together',
    one({ intervalUnit: 'day' }),
    one({ intervalCount: 30 }),
  ],
  [
    'statusEvents must end in the status, active',
    one({ statusEvents: [{ at: '2026-11-02T00:00:00Z', to: 'paused' }] }),
  ],
  [
    'statusEvents must be oldest first',
    one({
      statusEvents: [
        { at: '2026-11-03T00:00:00Z', to: 'paused' },
        { at: '2026-11-02T23:59:59.999Z', to: 'active' },
      ],
    }),
  ],
  [
    `statusEvents[0].at ${aTime}; statusEvents[0].to must be one of active, paused, cancelled, expired, failed`,
    one({ statusEvents: [{ at: 'then', to: 'gone' }] }),
  ],
];

onOneDatabase('record validation', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const refuses = async (cases: readonly Case[], currency = 'USD') => {
    const shop = await createShop(store, { currency });
    const all = cases.flatMap(([reason, ...records]) =>
      records.map((record) => ({ record, reason })),
    );
    const { refused, counts } = await importAll(
      store,
      shop,
      all.map(({ record }) => record),
    );
    assert.deepEqual(
      refused,
      all.map(({ reason }, index) => ({ line: index + 1, reason })),
    );
    for (const { stored } of Object.values(counts)) assert.equal(stored, 0);
  };

  test('refuses lines without a record', () => refuses(notARecord));
  test('refuses missing fields', () => refuses(missing));
  test('refuses invalid ids', () => refuses(ids));
  test('refuses unknown words for enumerated fields', () => refuses(words));
  test('refuses invalid times', () => refuses(times));
  test('refuses invalid amounts', () => refuses(amounts));
  test('refuses invalid texts, numbers and lists', () => refuses(textsAndLists));
  test('refuses fields that contradict each other', () => refuses(disagreeing));

  test('refuses amounts with more decimals than the currency has', async () => {
    const yen = 'amount must be an amount of 0 or more, below 10^12, without decimals';
    const halves = ['1.5', 1.5, '1.0'].map((amount) => payment({ amount }));
    await refuses([[yen, ...halves]], 'JPY');
    const dinars = 'amount must be an amount of 0 or more, below 10^12, with at most 3 decimals';
    await refuses([[dinars, payment({ amount: '1.2345' })]], 'KWD');
  });

  test('keeps all digits of prices that are JSON numbers', async () => {
    const shop = await createShop(store);
    const prices = ['1234567.123456789012', '999999999999.999999999999', '0.0000001', '1e-7'];
    const { refused } = await importAll(store, shop, [
      plan(),
      ...prices.map((source, index) =>
        withNumber(
          (currentPrice) => subscription(index + 1, { lines: [{ ...line, currentPrice }] }),
          source,
        ),
      ),
    ]);
    assert.deepEqual(refused, []);
    const stored = await store.write<{ price: string }[]>`
      select current_price::text as price from subscription_lines
      where shop_id = ${shop.id} order by subscription_id`;
    assert.deepEqual(
      stored.map(({ price }) => price),
      // As Python writes what is that small.
      [...prices.slice(0, 3), '0.0000001'],
    );
  });

  test('accepts unusual but valid values', async () => {
    const shop = await createShop(store);
    const { refused } = await importAll(store, shop, [
      '{"type":"plan","id":9007199254740991,"name":"😀","planType":"other","intervalUnit":"day","intervalCount":1000,"note":"ignored","__proto__":{"id":0}}',
      plan({ pricing: { discountType: 'percentage', discountValue: 100, summary: null } }),
      withPricing('none'),
      one({
        planId: Number.MAX_SAFE_INTEGER,
        createdAt: '2026-11-01T05:30:00.123456789+05:30',
        updatedAt: null,
        nextBillingDate: '9999-12-31T23:59:59.999Z',
        statusEvents: [],
        lines: lines(250),
      }),
      payment({ amount: '999999999999.99', cycle: 0 }),
      payment({ id: 9002, amount: -0 }),
      payment({ id: 9003, amount: '007.10' }),
      subscription(1002, {
        planId: Number.MAX_SAFE_INTEGER,
        statusEvents: [
          { at: '2026-11-02T00:00:00Z', to: 'paused' },
          { at: '2026-11-02T00:00:00Z', to: 'active' },
        ],
      }),
    ]);
    assert.deepEqual(refused, []);
  });
});
