import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';
import { businessTables } from './business-tables.ts';
import { churnTables, jsonTable } from './churn-tables.ts';
import { foreignTables } from './foreign-tables.ts';

const clock = new FixedClock(now);
const suggest = (bytes: Buffer) =>
  suggestMapping('table', { bytes, isWhole: true }, { clock, asOf: Date.parse('2026-11-20') });

/** The figures that the suggested mapping gives, without a change, and how many guesses it marks. */
async function figuresOf(bytes: Buffer) {
  const { preview, checks } = await suggest(bytes);
  assert.ok('mrr' in preview, JSON.stringify(preview));
  const { statuses, mrr, refused } = preview;
  return { statuses: { ...statuses }, mrr, refused, checks };
}

for (const { name, content, figures } of [...churnTables, ...businessTables, ...foreignTables]) {
  test(`gives the figures of a plain sum: ${name}`, async () => {
    const { checks, ...found } = await figuresOf(content);
    assert.deepEqual(found, { ...figures, refused: [] });
    assert.ok(checks.length <= 5, JSON.stringify(checks));
  });
}

test('gives the figures of a plain sum: JSON, as a document, a list and lines', async () => {
  const { subscriptions, figures } = jsonTable();
  const documents = [
    JSON.stringify({ meta: { page: 1, links: [{ rel: 'next' }] }, data: { subscriptions } }),
    JSON.stringify(subscriptions, null, 2),
    subscriptions.map((each) => JSON.stringify(each)).join('\n'),
  ];
  for (const document of documents) {
    const { checks, ...found } = await figuresOf(Buffer.from(document));
    assert.deepEqual(found, { ...figures, refused: [] });
    assert.ok(checks.length <= 5, JSON.stringify(checks));
  }
});
