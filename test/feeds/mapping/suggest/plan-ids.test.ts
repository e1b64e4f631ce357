import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { parseMapping } from '../../../../src/mapping/read.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';

/** The columns of the ids in the mapping that is suggested for these rows. */
async function idsOf(header: string, rows: readonly string[]) {
  const bytes = Buffer.from([header, ...rows, ''].join('\n'));
  const { text, preview } = await suggestMapping(
    'table',
    { bytes, isWhole: true },
    { clock: new FixedClock(now) },
  );
  assert.ok('plans' in preview);
  const mapping = parseMapping('suggested', text);
  const { fields } = mapping.records.find(({ type }) => type === 'subscription') ?? {};
  const column = (name: string) => fields?.[name]?.columns?.join(' ') ?? fields?.[name]?.column;
  return {
    subscription: column('id'),
    customer: column('customerId'),
    plan: column('planId'),
    plans: preview.plans,
  };
}

const rowsOf = (count: number, row: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => row(index));

test('takes no id of a subscription for the id of its plan in a short table', async () => {
  const header = 'subscription_id,customer_id,plan,unit_price,created,state';
  const rows = rowsOf(
    6,
    (index) => `s${index},c${index},${index % 2 ? 'Gold' : 'Basic'},9.99,2026-01-02,active`,
  );
  assert.deepEqual(await idsOf(header, rows), {
    subscription: 'subscription_id',
    customer: 'customer_id',
    plan: 'plan',
    plans: 2,
  });
});

test('takes no id of a subscription with several rows for the id of its plan', async () => {
  const header = 'subscription_id,product,price,created,state';
  const rows = rowsOf(
    60,
    (index) => `s${Math.floor(index / 3)},P${index % 3},9.99,2026-01-02,active`,
  );
  const { plan, plans } = await idsOf(header, rows);
  assert.deepEqual({ plan, plans }, { plan: 'product', plans: 3 });
});

test('tells the id of a plan from that of a subscription by its name', async () => {
  const header = 'customer_id,subscription_plan_id,price,created,state';
  const rows = rowsOf(6, (index) => `c${index},p${index % 2},9.99,2026-01-02,active`);
  assert.deepEqual(await idsOf(header, rows), {
    subscription: 'customer_id',
    customer: 'customer_id',
    plan: 'subscription_plan_id',
    plans: 2,
  });
});

test('takes the ids of subscriptions for what they are, also if their column is not called an id', async () => {
  for (const [count, several, name] of [
    [6, 1, 'subscription'],
    [300, 1, 'Subscription'],
    [300, 2, 'Membership'],
    [600, 12, 'Abo'],
  ] as const) {
    const rows = rowsOf(count, (index) => {
      const id = Math.floor(index / several);
      return `S-${1000 + id},C${id % 40},9.99,2026-01-${10 + (index % 12)},active`;
    });
    const found = await idsOf(`${name},customer,price,created,state`, rows);
    assert.deepEqual([found.plan, found.plans, found.customer], [undefined, 1, 'customer'], name);
    assert.equal(found.subscription?.split(' ')[0], name);
  }
});

test('takes codes of plans for plans, in a column that is called a subscription', async () => {
  const rows = rowsOf(
    40,
    (index) => `C${index},Abo${12 * (1 + (index % 2))},9.99,2026-01-02,active`,
  );
  const found = await idsOf('customer,subscription,price,created,state', rows);
  assert.deepEqual([found.plan, found.plans], ['subscription', 2]);
});

test('a flag about customers tells none of them apart', async () => {
  const rows = rowsOf(40, (index) => `${index + 1},${index % 2},9.99,2026-01-02,active`);
  const found = await idsOf('id,is_tv_subscriber,price,created,state', rows);
  assert.deepEqual([found.subscription, found.customer], ['id', 'id']);
});

test('names a plan by its interval only where it has several', async () => {
  const namesOf = async (intervals: readonly string[]) => {
    const rows = rowsOf(6, (index) => {
      const name = ['Monthly box', 'Yearly box'][index % 2];
      return `s${index},c${index},${name},${intervals[index % 4]},usd,9.99,2026-01-02,active`;
    });
    const header = 'subscription_id,customer_id,plan,interval,currency,price,created,state';
    const bytes = Buffer.from([header, ...rows, ''].join('\n'));
    const context = { clock: new FixedClock(now) };
    const { text, columns } = await suggestMapping('t', { bytes, isWhole: true }, context);
    const { fields } = parseMapping('suggested', text).records.find(({ type }) => type === 'plan')!;
    const { evidence } = columns.find(({ name }) => name === 'currency')!;
    assert.equal(evidence, '"currency" by its name and values: all 6 rows have one, 1 differ');
    return [fields['name']?.column, fields['name']?.columns, fields['id']?.columns];
  };
  const both = ['plan', 'interval'];
  assert.deepEqual(await namesOf(['month', 'year', 'month', 'year']), ['plan', undefined, both]);
  assert.deepEqual(await namesOf(['month', 'year', 'year', 'year']), [undefined, both, both]);
});
