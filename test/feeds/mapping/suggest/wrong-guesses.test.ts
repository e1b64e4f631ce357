import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { parseMapping } from '../../../../src/mapping/read.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';

async function suggest(rows: readonly string[]) {
  const suggestion = await suggestMapping(
    'table',
    { bytes: Buffer.from(rows.join('\n')), isWhole: true },
    { clock: new FixedClock(now) },
  );
  const mapping = parseMapping('suggested', suggestion.text);
  const record = mapping.records.find(({ type }) => type === 'subscription');
  assert.ok(record?.type === 'subscription' && 'mrr' in suggestion.preview, suggestion.reason);
  const { preview } = suggestion;
  return {
    ...suggestion,
    when: record.when,
    fields: record.fields,
    price: record.lines.fields['currentPrice']?.column,
    end: record.statusEvents?.[0]?.at.column,
    statuses: { ...preview.statuses },
    mrr: preview.mrr,
    doubts: suggestion.checks.map(({ text }) => text).join('\n'),
    use: Object.fromEntries(suggestion.columns.map((column) => [column.name, column])),
  };
}

test('takes columns for what they are called, in four languages', async () => {
  for (const header of [
    'Customer,Plan,Price,Status,Started,Ended',
    'Customer ID,Plan,Price,Status,Started,Ended',
    'Kunde,Tarif,Preis,Status,Beginn,Ende',
    'Client,Formule,Prix,Statut,Début,Fin',
    'Cliente,Plan,Precio,Estado,Inicio,Fin',
  ]) {
    const [customer = '', plan = '', price = '', status = '', start = '', end = ''] =
      header.split(',');
    const { use, fields, statuses, mrr, doubts } = await suggest([
      header,
      'C-1,Gold,19.00,active,2026-01-02,',
      'C-2,Gold,19.00,cancelled,2026-01-03,2026-05-06',
      'C-3,Basic,9.00,active,2026-01-04,',
    ]);
    assert.deepEqual([statuses, mrr], [{ active: 2, cancelled: 1 }, 28], header);
    assert.equal(fields['customerId']?.column, customer);
    assert.deepEqual(
      [customer, plan, price, status, start, end].map((name) => use[name]?.role),
      [
        'subscription.id',
        'plan.id',
        'line.currentPrice',
        'subscription.status',
        'subscription.createdAt',
        'end.at',
      ],
      header,
    );
    assert.equal(doubts, 'no column says how often the price is charged; each month is a guess');
  }
});

test('takes no date, no flag and no word of a few for an id', async () => {
  const { fields, doubts } = await suggest([
    'Name,Started,Vip,Price,Status',
    ...Array.from(
      { length: 12 },
      (_, index) => `Name ${'abcdefghijkl'[index]},2026-01-${10 + index},${index % 2},9,active`,
    ),
  ]);
  assert.deepEqual([fields['id']?.line, fields['customerId']?.line], [true, true]);
  assert.match(doubts, /no column identifies the customers/);
});

const since = '2026-01-02';

test('tells a request to cancel from the end, and a booked end from one that has come', async () => {
  const stripe = await suggest([
    'id,customer_id,status,start_date,price,cancel_at,canceled_at,ended_at,current_period_end',
    `s1,k1,active,${since},9,,,,2026-12-01`,
    `s2,k2,active,${since},9,2026-12-31,2026-11-01,,2026-12-31`,
    `s3,k3,canceled,${since},9,2026-06-30,2026-06-01,2026-06-30,2026-06-30`,
    `s4,k4,canceled,${since},9,2026-07-31,2026-07-01,2026-07-31,2026-07-31`,
  ]);
  assert.deepEqual([stripe.end, stripe.statuses], ['ended_at', { active: 2, cancelled: 2 }]);
  assert.equal(stripe.use['canceled_at']?.role, undefined);
  const recurly = await suggest([
    'id,account_id,state,activated_at,unit_amount,canceled_at,expires_at',
    `s1,k1,active,${since},9,,`,
    `s2,k2,canceled,${since},9,2026-11-01,2026-12-02`,
    `s3,k3,expired,${since},9,2026-06-01,2026-06-30`,
  ]);
  assert.deepEqual([recurly.end, recurly.statuses], ['expires_at', { active: 2, expired: 1 }]);
  assert.match(recurly.doubts, /"expires_at" may be when a term ends/);
  // Nothing but the request is there: marked, since its end may be that of the period.
  const request = await suggest([
    'id,customer_id,status,start_date,price,cancelled_at,current_period_end',
    `s1,k1,active,${since},9,,2026-12-01`,
    `s2,k2,cancelled,${since},9,2026-06-01,2026-06-30`,
  ]);
  assert.equal(request.end, 'cancelled_at');
  assert.match(
    request.doubts,
    /"cancelled_at" may be when it was asked for, and "current_period_end"/,
  );
});

test('takes no booked cancellation for the status, no former value for the present one', async () => {
  for (const name of ['cancel_at_period_end', 'will_cancel', 'cancellation_requested']) {
    const { statuses, doubts } = await suggest([
      `id,customer_id,start_date,monthly_price,${name}`,
      `s1,k1,${since},9.50,true`,
      `s2,k2,${since},9.50,false`,
    ]);
    assert.deepEqual(statuses, { active: 2 }, name);
    assert.match(doubts, /no column says which subscriptions were cancelled/, name);
  }
  const { fields, use } = await suggest([
    'id,customer_id,start_date,monthly_price,previous_status,status,previous_plan,plan',
    `s1,k1,${since},9.50,paused,active,Gold,Basic`,
    `s2,k2,${since},9.50,active,cancelled,Basic,Gold`,
  ]);
  assert.equal(fields['status']?.column, 'status');
  assert.deepEqual([use['previous_plan']?.role, use['plan']?.role], [undefined, 'plan.id']);
});

test('takes no end of a pause, a discount or a commitment for the end', async () => {
  for (const name of ['pause_end_date', 'paused_until', 'promo_end', 'commitment_end']) {
    const { statuses, doubts } = await suggest([
      `id,customer_id,start_date,monthly_price,${name}`,
      `s1,k1,${since},9.50,2026-06-16`,
      `s2,k2,${since},9.50,`,
    ]);
    assert.deepEqual(statuses, { active: 2 }, name);
    assert.match(doubts, /no column says which subscriptions were cancelled/, name);
  }
});

test('marks a status that the dates contradict', async () => {
  const { doubts, end } = await suggest([
    'id,customer_id,status,start_date,price,end_date',
    ...[1, 2, 3, 4].map((nth) => `s${nth},k${nth},active,${since},9,2026-0${nth + 2}-01`),
  ]);
  assert.equal(end, undefined);
  assert.match(doubts, /some rows are active although their "end_date" is past/);
});

test('marks a price that may be something else, or takes none', async () => {
  const table = (name: string, value: string) => [
    `id,customer_id,status,start_date,interval,${name}`,
    `s1,k1,active,${since},month,${value}`,
    `s2,k2,cancelled,${since},month,${value}`,
  ];
  for (const name of ['price', 'monthly_price', 'unit_amount', 'plan_price', 'MRR', 'Preis']) {
    const { doubts, price } = await suggest(table(name, '9.50'));
    assert.deepEqual([price, doubts.includes(name)], [name, false], name);
  }
  for (const name of ['total_charges', 'amount_paid', 'amount_authorised', 'revenue so far']) {
    const { use, price } = await suggest(table(name, '9.50'));
    assert.deepEqual([price, use[name]?.confidence], [name, 'check'], name);
  }
  for (const name of ['billing_threshold_amount', 'charge_limit', 'price_increase', 'tax_amount']) {
    const { use, price } = await suggest(table(name, '9.50'));
    assert.deepEqual([price, use[name]?.role], [undefined, undefined], name);
  }
  const cents = await suggest(table('amount', '1900'));
  assert.match(cents.doubts, /"amount" has whole numbers, such as cents/);
});

test('leaves out columns of loaders, and rows that the source deleted', async () => {
  const { use, statuses, when } = await suggest([
    '_fivetran_id,_airbyte_raw_id,_dlt_load_id,id,customer_id,status,start_date,price,_fivetran_deleted',
    `f1,r1,1700000001.5,s1,k1,active,${since},9,false`,
    `f2,r2,1700000002.5,s2,k2,active,${since},9,true`,
    `f3,r3,1700000003.5,s3,k3,cancelled,${since},9,false`,
  ]);
  assert.deepEqual(statuses, { active: 1, cancelled: 1 });
  assert.deepEqual(Object.keys(when), ['_fivetran_deleted']);
  for (const name of ['_fivetran_id', '_airbyte_raw_id', '_dlt_load_id']) {
    assert.deepEqual(
      [use[name]?.role, use[name]?.evidence],
      [undefined, 'a loader wrote it, not the source'],
    );
  }
  const dates = await suggest([
    'id,customer_id,status,start_date,price,_ab_cdc_deleted_at',
    `s1,k1,active,${since},9,`,
    `s2,k2,active,${since},9,2026-10-01`,
  ]);
  assert.deepEqual(dates.statuses, { active: 1 });
});

test('knows words of statuses that the file does not have, as the file writes them', async () => {
  const table = (...words: readonly string[]) => [
    'id,customer_id,status,start_date,price',
    ...words.map((word, index) => `s${index},k${index},${word},${since},9`),
  ];
  const status = async (...words: readonly string[]) =>
    (await suggest(table(...words))).fields['status']?.table ?? {};
  assert.equal((await status('ACTIVE', 'PAUSED'))['PAST_DUE'], 'active');
  assert.equal((await status('Active', 'Paused'))['Past due'], 'active');
  assert.equal((await status('aktiv', 'pausiert'))['gekündigt'], 'cancelled');
  assert.equal((await status('Actif', 'Résilié'))['Expiré'], 'expired');
  // Yes and no have no others.
  assert.deepEqual(Object.keys(await status('yes', 'no')).length <= 2, true);
});

test('says of each field and column how sure it is, and why, without any value of the file', async () => {
  const { text, columns } = await suggest([
    'id,customer_id,status,start_date,price,note',
    `planted1,planted2,active,${since},9,planted`,
    `planted3,planted4,cancelled,${since},9,planted`,
  ]);
  const record = text.slice(text.indexOf('"type": "subscription"'));
  for (const name of ['id', 'customerId', 'planId', 'createdAt', 'quantity', 'currentPrice']) {
    assert.match(record, new RegExp(`"${name}": .* // (?:sure|CHECK): `), name);
  }
  assert.match(
    text,
    /"customerId": "customer_id", \/\/ sure: "customer_id" by its name and values: all 2 rows have one, 2 differ/,
  );
  assert.deepEqual(
    columns.map(({ name, role, confidence }) => [name, role, confidence]),
    [
      ['id', 'subscription.id', 'sure'],
      ['customer_id', 'subscription.customerId', 'sure'],
      ['status', 'subscription.status', 'sure'],
      ['start_date', 'subscription.createdAt', 'sure'],
      ['price', 'line.currentPrice', 'sure'],
      ['note', undefined, 'sure'],
    ],
  );
  assert.doesNotMatch(text + JSON.stringify(columns), /planted/);
});
