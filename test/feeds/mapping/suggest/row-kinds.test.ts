import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { parseMapping } from '../../../../src/mapping/read.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';

/** All tables are made up, in the shapes of exports by loaders and platforms. */
async function suggest(rows: readonly string[], answers: Readonly<Record<string, string>> = {}) {
  const suggestion = await suggestMapping(
    'table',
    { bytes: Buffer.from(rows.join('\n')), isWhole: true },
    { clock: new FixedClock(now), answers: new Map(Object.entries(answers)) },
  );
  const records = suggestion.text && parseMapping('suggested', suggestion.text).records;
  const { preview } = suggestion;
  return {
    ...suggestion,
    doubts: suggestion.checks.map(({ text }) => text).join('\n'),
    fields: Object.fromEntries(
      Object.entries((records || []).at(-1)?.fields ?? {}).map(([name, spec]) => [
        name,
        spec?.column,
      ]),
    ),
    problem: 'problem' in preview ? preview.problem : undefined,
    counts: 'counts' in preview ? { ...preview.counts } : {},
    statuses: 'counts' in preview ? { ...preview.statuses } : {},
    others: 'counts' in preview ? preview.others.map(({ record }) => record) : [],
    first: 'counts' in preview ? preview.first : [],
  };
}

const payments = [
  'payment_id,subscription_id,invoice_id,amount,tax_amount,status,paid_at,currency',
  'p1,s1,i1,19.00,3.00,paid,2026-10-01,USD',
  'p2,s2,i2,29.00,4.60,declined,2026-10-02,USD',
  'p3,s1,i3,19.00,3.00,refunded,2026-11-01,USD',
  'p4,s3,i4,19.00,3.00,void,2026-11-02,USD',
];

test('maps a table of payments as payments', async () => {
  const { kind, fields, counts, others, doubts } = await suggest(payments);
  assert.deepEqual([kind, counts], ['payment', { payment: 3 }]);
  assert.deepEqual(fields, {
    id: 'payment_id',
    subscriptionId: 'subscription_id',
    cycle: 'invoice_id',
    status: 'status',
    amount: 'amount',
    processedAt: 'paid_at',
  });
  assert.deepEqual(
    others.map((each) => each.type === 'payment' && [each.status, each.amount, each.cycle]),
    [
      ['succeeded', '19.00', 'i1'],
      ['failed', '29.00', 'i2'],
      ['succeeded', '19.00', 'i3'],
    ],
  );
  assert.match(doubts, /"refunded": "succeeded",? 1 row; what does it mean\?/);
});

test('refers to subscriptions by numbers, as their own table does, and reads cents', async () => {
  const { others, doubts } = await suggest([
    'payment_id,subscription_id,total_cents,status,paid_at',
    '1,41,1234,paid,2026-10-01',
    '2,42,567,failed,2026-10-02',
  ]);
  assert.deepEqual(
    others.map((each) => each.type === 'payment' && [each.subscriptionId, each.amount]),
    [
      [41, '12.34'],
      [42, '5.67'],
    ],
  );
  assert.match(doubts, /the name speaks of cents/);
});

test('maps invoices as payments, and marks that their date is that of the invoice', async () => {
  const { kind, fields, doubts } = await suggest([
    'Factura,Suscripción,Fecha de emisión,Fecha de vencimiento,Importe,IVA,Estado',
    'F-1,S-1,2026-10-01,2026-10-31,19.00,3.00,pagada',
    'F-2,S-2,2026-10-02,2026-11-01,29.00,4.60,pendiente',
  ]);
  assert.equal(kind, 'payment');
  assert.deepEqual(
    [fields['amount'], fields['processedAt'], fields['subscriptionId']],
    ['Importe', 'Fecha de emisión', 'Suscripción'],
  );
  assert.match(doubts, /"Fecha de emisión" may not be when it was paid/);
});

test('marks payments of which nothing says whether they were paid, or that have no id', async () => {
  const { kind, counts, doubts } = await suggest([
    'subscription_id,payment_date,amount',
    's1,2026-10-01,19',
    's1,2026-11-01,19',
    's2,2026-10-02,29',
  ]);
  assert.deepEqual([kind, counts], ['payment', { payment: 3 }]);
  assert.match(doubts, /no column identifies the payments/);
  assert.match(doubts, /all count as paid/);
});

test('takes no refund among payments for a payment, and asks what is below 0', async () => {
  const { kind, counts, others, doubts } = await suggest([
    'payment_id,subscription_id,type,amount,status,paid_at',
    'p1,s1,charge,19.00,paid,2026-10-01',
    'p2,s2,Refund,19.00,paid,2026-10-02',
    'p3,s3,charge,-19.00,paid,2026-10-03',
  ]);
  assert.deepEqual([kind, counts], ['payment', { payment: 2 }]);
  assert.deepEqual(
    others.map((each) => each.type === 'payment' && each.amount),
    ['19.00', '0.00'],
  );
  assert.match(doubts, /amounts below 0 are read as 0; are they refunds\?/);
  assert.match(doubts, /rows with these values are skipped/);
});

test('maps refunds and plans as what they are', async () => {
  const refunds = await suggest([
    'refund_id,payment_id,amount,refunded_at',
    'r1,p1,5.00,2026-10-03',
    'r2,p2,29.00,2026-10-04',
  ]);
  assert.deepEqual([refunds.kind, refunds.counts], ['refund', { refund: 2 }]);
  assert.equal(refunds.fields['refundedAt'], 'refunded_at');
  const plans = await suggest([
    'id,_fivetran_synced,active,amount,created,currency,interval,interval_count,is_deleted,nickname',
    'plan_a,2026-01-01,true,1900,2024-01-01,usd,month,1,false,Basic',
    'plan_b,2026-01-01,true,19900,2024-01-02,usd,year,1,false,Pro',
    'plan_c,2026-01-01,true,900,2024-01-03,usd,month,1,true,Old',
  ]);
  assert.deepEqual([plans.kind, plans.counts], ['plan', { plan: 2 }]);
  assert.deepEqual([plans.fields['id'], plans.fields['intervalUnit']], ['id', 'interval']);
});

test('refuses tables of other things, and says what they are or lack', async () => {
  for (const [problem, rows] of [
    [
      /Each row is a payment: .* Missing: the subscription that it is for\./,
      ['charge_id,customer_id,amount,status,created', 'c1,k1,19,paid,2026-10-01'],
    ],
    [
      /Each row is an event\./,
      ['subscription_id,event_type,event_date,mrr', 's1,upgrade,2026-10-01,19'],
    ],
    [
      /Each row is a customer\./,
      ['id,email,first_name,created_at,state', '1,a@example.com,Ann,2026-10-01,active'],
    ],
    [
      /Each row is a part of a subscription\./,
      ['id,subscription_id,quantity,unit_amount,created_at', 'i1,s1,1,5,2026-10-01'],
    ],
    [
      /Each row is about a payment or an invoice/,
      ['id,invoice_id,amount,created_at', 'l1,i1,5,2026-10-01'],
    ],
    [
      /Each row is a discount or a coupon\./,
      ['id,amount_off,percent_off,duration,created,valid', 'c1,5,,once,2026-10-01,true'],
    ],
    [
      /Each row is a refund: .* Missing: the payment that it refunds\./,
      ['id,amount,refund_date,refund_number,status', 'x1,5,2026-10-01,R-1,Processed'],
    ],
    [
      /Nothing in it names customers/,
      ['month,new_mrr,churned_mrr', '2026-10,50,20', '2026-11,60,5'],
    ],
  ] as const) {
    const { problem: found, kind, questions, text, checks } = await suggest(rows);
    assert.deepEqual([text, checks], ['', []], 'no mapping that would have to be all wrong');
    assert.match(found ?? '', problem);
    // A person may know better.
    assert.equal(questions.find(({ id }) => id === 'kind')?.chosen, kind ?? 'none');
  }
  const rows = ['id,subscription_id,price,status,created_at', 'x1,s1,5,active,2026-10-01'];
  assert.deepEqual((await suggest(rows, { kind: 'subscription' })).counts['subscription'], 1);
});

test('recognises refunds by how Stripe begins their ids', async () => {
  const { kind, fields, counts, doubts } = await suggest([
    'id,amount,balance_transaction_id,charge_id,created,currency,reason,status',
    're_1a,1234,txn_1,ch_1,2026-10-01,usd,duplicate,succeeded',
    're_2b,5678,txn_2,ch_2,2026-10-02,usd,,succeeded',
  ]);
  assert.deepEqual([kind, counts], ['refund', { refund: 2 }]);
  assert.deepEqual([fields['paymentId'], fields['refundedAt']], ['charge_id', 'created']);
  assert.match(doubts, /"amount" has whole numbers, such as cents/);
});

test('reads a table of plans with a status as plans', async () => {
  const { kind, fields } = await suggest([
    'id,created_at,code,state,name,interval_unit,interval_length,trial_unit,trial_length',
    'x1,2025-01-02,gold,active,Gold,months,1,days,0',
    'x2,2025-01-03,basic,active,Basic,months,12,days,7',
  ]);
  assert.equal(kind, 'plan');
  assert.deepEqual([fields['id'], fields['name']], ['id', 'name']);
});

test('marks a list in which nothing tells customers apart', async () => {
  const { doubts } = await suggest([
    'Nom,Prix (€),Fréquence,Date de début',
    'Vidéo,15.99,Mensuel,2025-09-28',
    'Musique,9.99,Mensuel,2025-10-01',
    'Logiciel,99.00,Annuel,2025-01-05',
  ]);
  assert.match(doubts, /nothing tells customers apart: is a row a subscription\?/);
});

test('maps the end of a trial, which is no end of the subscription', async () => {
  for (const name of ['trial_end', 'trialEndsAt', 'Trial end', 'Testphase bis', "Fin d'essai"]) {
    const { fields, doubts, statuses } = await suggest([
      `id,customer_id,price,interval,status,start_date,${name}`,
      's1,k1,19,month,active,2026-01-02,2026-01-16',
      's2,k2,29,month,active,2026-02-02,2026-12-16',
      's3,k3,29,month,cancelled,2026-02-02,',
    ]);
    assert.equal(fields['trialEndsAt'], name);
    assert.equal(fields['createdAt'], 'start_date');
    assert.deepEqual(statuses, { active: 2, cancelled: 1 });
    assert.doesNotMatch(doubts, new RegExp(name));
  }
  const { doubts } = await suggest([
    'id,customer_id,price,interval,status,start_date,Fin de prueba',
    's1,k1,19,month,active,2026-01-02,2025-01-16',
    's2,k2,29,month,active,2026-02-02,2026-02-16',
  ]);
  assert.match(doubts, /some "Fin de prueba" are before "start_date"/);
});

test('marks a table that may be one of subscriptions or of something else', async () => {
  const { doubts } = await suggest([
    'id,customer_id,product_title,price,quantity,created_at',
    'o1,k1,Mug,9.50,1,2026-10-01',
    'o2,k2,Cup,8.50,2,2026-10-02',
    'o3,k1,Mug,9.50,1,2026-10-03',
  ]);
  assert.match(doubts, /"records": \[ .*is a row a subscription\?|is a row a subscription\?/);
});

test('reads a ledger as one subscription an id, whose latest period counts', async () => {
  const ledger = ['2026-09', '2026-10', '2026-11'].flatMap((month, index) =>
    ['a', 'b', 'c'].map((id, nth) => `${id}1,${month}-01,${10 * (nth + 1) + index},active`),
  );
  const { doubts, preview, fields, counts } = await suggest([
    'subscription_id,month,mrr,status',
    ...ledger.toReversed(),
  ]);
  assert.equal(fields['updatedAt'], 'month');
  assert.match(doubts, /each row is a period, "month": the latest one counts/);
  assert.deepEqual('mrr' in preview && [preview.subscriptions, preview.mrr], [3, 66]);
  assert.equal(counts['subscription'], 9);
});

test('reads a table of changes as one subscription an id', async () => {
  const { first, preview } = await suggest([
    'id,customer_id,plan_id,state,unit_amount,interval,activated_at,updated_at',
    'x1,k1,gold,active,19.00,month,2026-01-02,2026-01-02',
    'x1,k1,gold,canceled,19.00,month,2026-01-02,2026-06-03',
    'x2,k2,gold,active,19.00,month,2026-02-02,2026-02-02',
    'x2,k2,gold,active,29.00,month,2026-02-02,2026-03-02',
  ]);
  assert.deepEqual('mrr' in preview && [preview.subscriptions, preview.mrr], [2, 29]);
  assert.equal(first[0]?.createdAt, '2026-01-02');
});
