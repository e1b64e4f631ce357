import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { parseMapping } from '../../../../src/mapping/read.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';
import { root } from '../../../cli/process.ts';
import { sample } from '../mapped.ts';

const clock = new FixedClock(now);

async function suggest(content: string | Buffer, isWhole = true) {
  const suggestion = await suggestMapping(
    'table',
    { bytes: Buffer.from(content), isWhole },
    { clock },
  );
  const mapping = parseMapping('suggested', suggestion.text);
  const record = mapping.records.find(({ type }) => type === 'subscription');
  assert.ok(record?.type === 'subscription' && 'mrr' in suggestion.preview);
  return {
    ...suggestion,
    preview: suggestion.preview,
    input: mapping.input,
    fields: record.fields,
    lines: record.lines.fields,
    events: record.statusEvents,
    doubts: suggestion.checks.map(({ text }) => text),
  };
}

/** A table with these columns and as many rows as there are values in each. */
function csv(columns: Readonly<Record<string, readonly (string | number)[]>>): string {
  const names = Object.keys(columns);
  const [first = []] = Object.values(columns);
  const rows = first.map((_, row) => names.map((name) => columns[name]?.[row] ?? '').join(','));
  return [names.join(','), ...rows, ''].join('\n');
}

const base = { id: [1, 2, 3], status: ['active', 'active', 'cancelled'], price: [5, 6, 7] };

test('never suggests or shows names, addresses and telephone numbers', async () => {
  const personal = {
    'Customer Name': ['Planted Ann', 'Planted Bob', 'Planted Cy'],
    Username: ['planted1', 'planted2', 'planted3'],
    'E-Mail': ['planted1@example.com', 'planted2@example.com', 'planted3@example.com'],
    'Account Phone Number': ['planted-555-1', 'planted-555-2', 'planted-555-3'],
    customer: ['Planted Ann', 'Planted Bob', 'Planted Cy'],
    Telefon: ['planted030/1', 'planted030/2', 'planted030/3'],
    Nachname: ['Planted1', 'Planted2', 'Planted3'],
  };
  const { status, price } = base;
  for (const content of [
    csv({ ...personal, status, price }),
    csv({ ...base, ...personal }),
    JSON.stringify(
      [1, 2, 3].map((id) => ({
        id,
        user: { email: 'planted@example.com', name: 'Planted' },
        status: 'active',
        price: 5,
      })),
    ),
  ]) {
    const { text, preview, checks } = await suggest(content);
    assert.doesNotMatch(JSON.stringify({ text, preview, checks }), /planted/i);
  }
});

test('shows no value of a column in the reasons for which rows are refused', async () => {
  const prices = Array.from({ length: 40 }, (_, index) => (index === 39 ? 'planted' : index));
  const { preview } = await suggest(
    csv({
      id: prices.map((_, index) => index + 1),
      status: prices.map(() => 'active'),
      price: prices,
    }),
  );
  assert.deepEqual(preview.refused, [
    {
      reason: 'column price: "…" must be an amount such as 1234.50',
      line: 41,
      record: 'subscription 40',
      rows: 1,
    },
  ]);
  assert.deepEqual({ ...preview.statuses }, { active: 39 });
});

test('recognises the samples of all shipped mappings', async () => {
  const samples = path.join(root, 'test/feeds/mapping/vendors/samples');
  const found: Record<string, string | undefined> = {};
  for (const file of readdirSync(samples)) {
    const { text, known } = await suggestMapping(
      file,
      { bytes: readFileSync(path.join(samples, file)), isWhole: true },
      { clock },
    );
    parseMapping('suggested', text);
    found[file] = known;
  }
  const vendor = (name = '') => name.split('-')[0];
  for (const [file, known] of Object.entries(found))
    assert.equal(vendor(known), vendor(file), file);
});

test('recognises exports by the columns of the shipped mappings, in any dialect', async () => {
  for (const name of ['stripe-subscriptions', 'recharge-subscriptions', 'shopify-contracts']) {
    const content = readFileSync(sample(`${name}.csv`), 'utf8');
    const { known, text, preview } = await suggest(content);
    assert.equal(known, `${name}.json`);
    assert.match(text, new RegExp(`// recognised by its columns: mappings/${name}\\.json`));
    assert.ok(preview.subscriptions > 0);

    const [head = ''] = content.split('\n');
    const [, ...others] = head.split(',');
    const without = await suggestMapping(
      'table',
      {
        bytes: Buffer.from(`${others.join(',')}\n${'1,'.repeat(others.length).slice(0, -1)}\n`),
        isWhole: true,
      },
      { clock },
    );
    assert.equal(without.known, undefined);
  }
  const stripe = readFileSync(sample('stripe-subscriptions.csv'), 'utf8');
  const german = await suggest(
    Buffer.from(`\uFEFF${stripe.replaceAll('"', '').replaceAll(',', ';')}`, 'utf16le'),
  );
  assert.equal(german.known, 'stripe-subscriptions.json');
  assert.deepEqual(
    german.input.format === 'csv' && [german.input.delimiter, german.input.encoding],
    [';', 'utf-16'],
  );
});

test('marks days and months that could be swapped, unless another column decides', async () => {
  const start = ['03/04/2025', '05/06/2025', '01/02/2024'];
  const alone = await suggest(csv({ ...base, start_date: start }));
  assert.equal(alone.fields['createdAt']?.time, 'M/D/YYYY');
  assert.deepEqual(
    alone.doubts.filter((doubt) => doubt.startsWith('day and month')),
    ['day and month may be the other way round: D/M/YYYY'],
  );
  const decided = await suggest(
    csv({ ...base, start_date: start, updated: ['25/12/2025', '05/06/2025', '01/02/2024'] }),
  );
  assert.equal(decided.fields['createdAt']?.time, 'D/M/YYYY');
  assert.deepEqual(
    decided.doubts.filter((doubt) => doubt.startsWith('day and month')),
    [],
  );
  // A subscription cannot begin in the future.
  const past = await suggest(
    csv({ ...base, start_date: ['12/03/2026', '10/05/2026', '01/02/2024'] }),
  );
  assert.equal(past.fields['createdAt']?.time, 'D/M/YYYY');
});

test('marks words that it does not know or that mean two things', async () => {
  const { fields, doubts } = await suggest(
    csv({ ...base, status: ['active', 'suspended', 'grandfathered'] }),
  );
  const { active, suspended, grandfathered, ...known } = fields['status']?.table ?? {};
  assert.deepEqual([active, suspended, grandfathered], ['active', 'paused', undefined]);
  // The next file may have others.
  assert.deepEqual(known, {
    trialing: 'active',
    trial: 'active',
    past_due: 'active',
    paused: 'paused',
    unpaid: 'failed',
    canceled: 'cancelled',
    cancelled: 'cancelled',
    expired: 'expired',
  });
  assert.deepEqual(
    doubts.filter((doubt) => /what does it mean|other texts/.test(doubt)),
    [
      'rows with other texts in "status" (1) are refused until they are given a meaning',
      '"suspended": "paused", 1 row; what does it mean?',
    ],
  );
});

test('marks which rows it skips', async () => {
  const { doubts, preview } = await suggest(
    csv({ ...base, status: ['active', 'incomplete', 'canceled'] }),
  );
  assert.ok(doubts.includes('rows with these values are skipped'));
  assert.equal(preview.skipped, 1);
  assert.deepEqual({ ...preview.statuses }, { active: 1, cancelled: 1 });
});

test('marks ids that occur more than once, and joins columns that tell them apart', async () => {
  const customers = { customer_id: ['a1', 'a1', 'b2'], status: base.status, price: [5, 6, 7] };
  const joined = await suggest(csv({ ...customers, plan: ['S', 'M', 'S'] }));
  assert.deepEqual(joined.fields['id']?.columns, ['customer_id', 'plan']);
  assert.ok(
    joined.doubts.includes('"customer_id" and "plan" together tell the subscriptions apart'),
  );
  assert.equal(joined.preview.customers, 2);

  const twice = await suggest(
    csv({ customer_id: ['a1', 'a1'], status: ['active', 'active'], price: [5, 5] }),
  );
  assert.ok(
    twice.doubts.includes('rows with the same "customer_id" replace each other (1 of those read)'),
    JSON.stringify(twice.doubts),
  );
});

test('names the columns of a file without a header by number', async () => {
  const { input, fields } = await suggest(
    'A1,active,5.00,2025-01-02\nB2,cancelled,6.00,2025-01-03\n',
  );
  assert.deepEqual(input.format === 'csv' && input.header, [
    'column1',
    'column2',
    'column3',
    'column4',
  ]);
  assert.equal(fields['id']?.column, 'column1');
  assert.equal(fields['status']?.column, 'column2');
});

test('reads the beginning of a longer file, which ends inside a row', async () => {
  const rows = Array.from({ length: 100 }, (_, index) => ({
    id: index + 1,
    status: 'active',
    price: 5,
  }));
  const lines = rows.map((row) => Object.values(row).join(',')).join('\n');
  const contents = [
    `id,status,price\n${lines}\n101,"acti`,
    `${JSON.stringify({ list: rows }).slice(0, -2)},{"id":101,"sta`,
  ];
  for (const content of contents) {
    const { preview } = await suggest(content, false);
    assert.equal(preview.isWhole, false);
    assert.equal(preview.subscriptions, 100);
    assert.equal(preview.mrr, 500);
  }
});

test('reads texts for nothing as empty, and marks what rows without a value are given', async () => {
  const { fields, lines, doubts, preview } = await suggest(
    csv({
      ...base,
      price: ['5', 'N/A', '7'],
      start_date: ['2025-01-01', 'NULL', '2025-03-01'],
      status: ['active', 'active', 'active'],
    }),
  );
  assert.equal(fields['createdAt']?.empty, '2025-01-01T00:00:00Z');
  assert.equal(lines['currentPrice']?.empty, '0');
  assert.deepEqual(
    doubts.filter((doubt) => doubt.includes('are given')),
    [
      'rows without "start_date" (1 of those read) are given "empty", "2025-01-01T00:00:00Z"',
      'rows without "price" (1 of those read) are given "empty", "0"',
    ],
  );
  assert.equal(preview.mrr, 12);
});

test('counts rows with an amount below 0, as 0, and marks that', async () => {
  const prices = Array.from({ length: 40 }, (_, index) => (index === 7 ? -4 : 10));
  const rows = { id: prices.map((_, index) => index), status: prices.map(() => 'active'), prices };
  const { preview, doubts } = await suggest(csv(rows));
  assert.deepEqual({ ...preview.statuses }, { active: 40 });
  assert.equal(preview.mrr, 390);
  assert.ok(doubts.includes('amounts below 0 are read as 0, so that the rows still count'));
});

test('takes no birthday for a beginning', async () => {
  const born = ['1990-01-02', '1991-01-02', '1992-01-02'];
  const { text } = await suggest(csv({ ...base, 'Fecha de nacimiento': born, Geburtsdatum: born }));
  assert.doesNotMatch(text, /nacimiento|geburt/i);
});

test('keeps rows active until an end that is still to come, in this file or the next', async () => {
  const { events, preview, doubts } = await suggest(
    csv({ ...base, cancelled_at: ['', '', '2027-01-01'] }),
  );
  assert.deepEqual({ ...preview.statuses }, { active: 3 });
  assert.deepEqual(events?.[0]?.until, { value: 'active' });
  assert.ok(doubts.some((doubt) => doubt.includes('are still to come: active until then')));
  const past = await suggest(csv({ ...base, cancelled_at: ['', '', '2026-01-01'] }));
  assert.deepEqual(past.events?.[0]?.until, { value: 'active' });
});

test('writes names of columns so that they stay inside their text or comment', async () => {
  const name = 'price "x"\n}, {';
  const content = `id,status,"${name.replaceAll('"', '""')}",seats\n1,active,5,2\n2,active,6,3\n`;
  const { lines, preview } = await suggest(content);
  assert.equal(lines['currentPrice']?.column, name);
  assert.equal(preview.mrr, 28);
});
