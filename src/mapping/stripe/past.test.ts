import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../json.ts';
import { sightingsInInvoice } from './past.ts';

const seconds = (day: number) => Date.UTC(2026, 9, day) / 1000;

const price = (id: string, amount: number, over: object = {}) => ({
  id,
  currency: 'usd',
  unit_amount: amount,
  recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
  ...over,
});
const box = price('box', 2000);
const large = price('large', 3500);

interface Line {
  readonly item?: string | null;
  readonly of?: JsonObject | string;
  readonly quantity?: number;
  readonly amount?: number;
  /** When an item changed, of a proration. */
  readonly day?: number;
  readonly over?: object;
}

function line({ item = 'si_1', of = box, quantity = 1, amount, day, over }: Line = {}): object {
  const unit = typeof of === 'string' ? 0 : Number(of['unit_amount']);
  return {
    amount: amount ?? unit * quantity,
    parent: {
      type: 'subscription_item_details',
      subscription_item_details: { proration: day !== undefined, subscription_item: item },
    },
    period: { start: seconds(day ?? 10), end: seconds(31) },
    pricing: { price_details: { price: of } },
    quantity,
    ...over,
  };
}

const invoice = (lines: readonly object[], over: object = {}): JsonObject => ({
  object: 'invoice',
  currency: 'usd',
  created: seconds(10) + 5,
  lines: { data: lines, has_more: false },
  ...over,
});

/** Such as `10 20 month 1 cycle`: the day, the sums by interval, and what it shows. */
const seen = (lines: readonly object[], over: object = {}) =>
  sightingsInInvoice(invoice(lines, over), 'USD').map(({ at, amounts, shows }) =>
    [
      new Date(at).getUTCDate(),
      ...Object.entries(amounts).map(([interval, sum]) => `${sum} ${interval}`),
      shows,
    ].join(' '),
  );

const discount = (coupon: unknown, over: object = {}) => ({
  id: 'di_1',
  start: seconds(10) + 3,
  end: null,
  source: { coupon },
  ...over,
});

test('shows what a cycle costs from its beginning', () => {
  assert.deepEqual(seen([line()]), ['10 20 month 1 cycle']);
  const yearly = {
    of: price('year', 9900, { recurring: { interval: 'year', interval_count: 1 } }),
  };
  assert.deepEqual(seen([line({ ...yearly, quantity: 3 })]), ['10 297 year 1 cycle']);
  assert.deepEqual(seen([line(), line({ item: 'si_2', of: large })]), ['10 55 month 1 cycle']);
});

test('has the form of older versions, too', () => {
  const older = {
    parent: undefined,
    pricing: undefined,
    price: box,
    proration: false,
    subscription_item: 'si_1',
    type: 'subscription',
  };
  assert.deepEqual(seen([line({ over: older })]), ['10 20 month 1 cycle']);
});

test('counts discounts that go on, also those that have been taken away since', () => {
  const half = { percent_off: 50, duration: 'forever' };
  assert.deepEqual(seen([line()], { discounts: [discount(half)] }), ['10 10 month 1 cycle']);
  const deleted = discount(half, { end: undefined, deleted: true });
  assert.deepEqual(seen([line()], { discounts: [deleted] }), ['10 10 month 1 cycle']);
  const once = discount({ percent_off: 50, duration: 'once' });
  assert.deepEqual(seen([line()], { discounts: [once] }), ['10 20 month 1 cycle']);
  const off = line({ over: { discounts: [discount(half)] } });
  assert.deepEqual(seen([off]), ['10 10 month 1 cycle']);
});

test('leaves out goods that are sold once, and what is billed by use', () => {
  const once = { parent: { type: 'invoice_item_details', invoice_item_details: {} } };
  const metered = price('use', 5, { recurring: { interval: 'month', usage_type: 'metered' } });
  const others = [
    line({ over: once, amount: 900 }),
    line({ item: 'si_2', of: metered, amount: 7 }),
  ];
  assert.deepEqual(seen([line(), ...others]), ['10 20 month 1 cycle']);
  assert.deepEqual(seen(others), []);
});

test('goes back from change to change', () => {
  const lines = [
    line({ quantity: 5 }),
    line({ quantity: 2, amount: -2000, day: 3 }),
    line({ quantity: 4, amount: 4000, day: 3 }),
    line({ quantity: 4, amount: -1000, day: 7 }),
    line({ quantity: 5, amount: 1250, day: 7 }),
  ];
  assert.deepEqual(seen(lines), [
    '10 100 month 1 cycle',
    '7 100 month 1 cycle',
    '3 80 month 1 cycle',
  ]);
  // A discount that is younger than a change did not count then.
  const discounts = [discount({ percent_off: 50, duration: 'forever' }, { start: seconds(5) })];
  assert.deepEqual(seen(lines, { discounts }), [
    '10 50 month 1 cycle',
    '7 50 month 1 cycle',
    '3 80 month 1 cycle',
  ]);
});

test('stops where prorations do not lead to what is billed', () => {
  const [billed, credit] = [line({ of: large }), line({ amount: -900, day: 4 })];
  const found = (...debits: readonly object[]) => seen([billed, credit, ...debits]);
  assert.deepEqual(found(line({ of: large, amount: 1500, day: 4 })), [
    '10 35 month 1 cycle',
    '4 35 month 1 cycle',
  ]);
  const other = line({ of: price('medium', 2900), amount: 1300, day: 4 });
  assert.deepEqual(found(other), ['10 35 month 1 cycle']);
  // Only the difference.
  const more = line({ quantity: 2, amount: 500, day: 4 });
  assert.deepEqual(seen([line({ quantity: 5 }), more]), ['10 100 month 1 cycle']);
  // Discounts of items are not known of earlier states.
  const off = { discounts: [discount({ percent_off: 50, duration: 'forever' })] };
  const reduced = line({ of: large, over: off });
  assert.deepEqual(seen([reduced, credit, line({ of: large, amount: 1500, day: 4 })]), [
    '10 17.5 month 1 cycle',
  ]);
});

test('shows what has changed where nothing else is billed', () => {
  const upgrade = [line({ amount: -900, day: 4 }), line({ of: large, amount: 1500, day: 4 })];
  assert.deepEqual(seen(upgrade), ['4 35 month 1 change']);
  assert.deepEqual(seen(upgrade.slice(0, 1)), []);
});

for (const [what, lines, over] of [
  ['a trial', [line({ amount: 0 })], {}],
  ['a part of a cycle', [line({ amount: 1234 })], {}],
  ['a price that is only an id', [line({ of: 'box', amount: 2000 })], {}],
  ['a price without an amount', [line({ of: price('box', 2000, { unit_amount: null }) })], {}],
  [
    'another currency',
    [line({ of: price('box', 2000, { currency: 'eur' }) })],
    { currency: 'eur' },
  ],
  ['more lines than the data has', [line()], { lines: { data: [line()], has_more: true } }],
  ['a coupon that is only an id', [line()], { discounts: [discount('HALF')] }],
  ['a discount that is only an id', [line()], { discounts: ['di_1'] }],
  [
    'a tax in the price',
    [line({ over: { taxes: [{ amount: 333, tax_behavior: 'inclusive' }] } })],
    {},
  ],
  [
    'several intervals',
    [line(), line({ item: 'si_2', of: price('week', 500, { recurring: { interval: 'week' } }) })],
    {},
  ],
  [
    'several periods',
    [line(), line({ item: 'si_2', over: { period: { start: seconds(1) } } })],
    {},
  ],
  ['an item twice', [line(), line()], {}],
  ['a proration of an unknown item', [line(), line({ item: null, day: 4 })], {}],
] as const) {
  test(`shows nothing of ${what}`, () => {
    assert.deepEqual(seen(lines, over), []);
  });
}
