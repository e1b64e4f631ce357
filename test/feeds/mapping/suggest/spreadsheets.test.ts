import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { parseMapping } from '../../../../src/mapping/read.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';
import { utf16, windows } from './tables.ts';

const header = 'Customer ID;Plan;Monthly Price;Start;Status';
const rows = [
  'C1;Gold;10,00;2026-01-02;active',
  'C2;Gold;20,50;2026-02-03;active',
  'C3;Silver;5,00;2026-03-04;cancelled',
];

async function suggest(content: string | Buffer) {
  const { text, preview, checks } = await suggestMapping(
    'table',
    { bytes: Buffer.from(content), isWhole: true },
    { clock: new FixedClock(now) },
  );
  assert.ok('mrr' in preview, JSON.stringify(preview));
  const { input, records } = parseMapping('suggested', text);
  assert.ok(input.format === 'csv');
  return { text, input, records, preview, checks: checks.map((each) => each.text) };
}

async function assertRead(content: string | Buffer, skipLines: number, firstLine: number) {
  const { input, preview } = await suggest(content);
  assert.equal(input.skipLines, skipLines);
  assert.equal(input.header, true);
  assert.deepEqual([preview.subscriptions, preview.mrr, preview.refusedRows], [3, 30.5, 0]);
  assert.equal(preview.first[0]?.line, firstLine);
}

test('a first line that tells Excel the delimiter is no part of the table', async () => {
  const table = [header, ...rows, ''].join('\r\n');
  for (const content of [
    `sep=;\r\n${table}`,
    `"sep=;"\r\n${table}`,
    `\uFEFFsep=;\r\n${table}`,
    utf16(`SEP=;\r\n${table}`),
    windows(`sep=;\r\n${table}`),
  ]) {
    await assertRead(content, 0, 3);
  }
  // It decides, whatever else occurs as often.
  const { input } = await suggest(`sep=|\n${[header, ...rows].join('\n').replaceAll(';', '|')}`);
  assert.equal(input.delimiter, '|');
});

test('lines above a table are skipped, and empty rows below it', async () => {
  const table = [header, ...rows, ';;;;', ' ; ;;;', ''].join('\n');
  await assertRead(`Subscriptions\n${table}`, 1, 3);
  await assertRead(`Subscriptions;;;;\nAs of;2026-11-01;;;\n;;;;\n\n${table}`, 3, 6);
  await assertRead(`sep=;\nAll of them; "as of today"\n\n${table}`, 2, 5);
  await assertRead(`"Subscriptions\nof all shops"\n${table}`, 2, 4);
});

test('a header with an empty cell is one', async () => {
  const indexed = [`;${header}`, ...rows.map((row, index) => `${index};${row}`)].join('\n');
  const { input, preview } = await suggest(indexed);
  assert.deepEqual([input.skipLines, preview.subscriptions, preview.mrr], [0, 3, 30.5]);
});

test("reads Excel's days as dates, and marks the guess", async () => {
  const table = [
    'Customer;Price per month;Start date;Cancelled on;Visits since start',
    'C1;10,00;45231;;45231',
    'C2;20,50;45231,5;;45300',
    'C3;5,00;45000,25;46000;45400',
  ].join('\n');
  const { preview, checks, text } = await suggest(table);
  const guess = 'numbers are read as days, as Excel counts them';
  const asked = '"Cancelled on" may be when it was asked for; dates to come do not count yet';
  assert.deepEqual(checks, [asked, guess, guess]);
  assert.match(text, /"Start date", "time": "excel"/);
  assert.deepEqual(
    preview.first.map(({ createdAt, endedAt }) => [createdAt, endedAt]),
    [
      ['2023-11-01', ''],
      ['2023-11-01', ''],
      ['2023-03-15', '2025-12-09'],
    ],
  );
  // Numbers of other sizes are no such days.
  const other = await suggest(table.replace(';45000,25;', ';123;').replaceAll('4523', '99'));
  assert.doesNotMatch(other.text, /"Start date", "time": "excel"/);
});

test('a word among dates stands for no date', async () => {
  const table = [
    'Kunde;Preis;von;bis',
    'K1;10,00 € / Monat;02.01.26;unbefristet',
    'K2;20,50 € / Monat;13.01.26;unbefristet',
    'K3;5,00 € / Monat;03.02.26;28.02.26',
    'K4;5,00 € / Monat;03.02.26;27.02.26',
    'K5;5,00 € / Monat;03.02.26;26.02.26',
  ].join('\n');
  const { preview, records } = await suggest(table);
  assert.deepEqual({ ...preview.statuses }, { active: 2, cancelled: 3 });
  assert.equal(preview.mrr, 30.5);
  assert.deepEqual(records[0]?.fields['intervalUnit'], { value: 'month' });
});
