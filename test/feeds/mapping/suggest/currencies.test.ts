import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../../../../src/clock.ts';
import { suggestMapping } from '../../../../src/mapping/suggest/suggest.ts';
import { now } from '../../../support/world.ts';

async function suggest(amounts: readonly string[], currency?: string) {
  const rows = amounts.map((amount, index) => `${index + 1};active;"${amount}";monthly`);
  const bytes = Buffer.from(['id;status;amount;interval', ...rows, ''].join('\n'));
  const { preview, ...suggestion } = await suggestMapping(
    'table',
    { bytes, isWhole: true },
    { clock: new FixedClock(now), currency },
  );
  assert.ok('mrr' in preview);
  const doubts = suggestion.checks.map(({ text }) => text).filter((text) => / refused/.test(text));
  const refused = preview.refused.map(({ reason, rows: count }) => `${count}: ${reason}`);
  return { currency: suggestion.currency, mrr: preview.mrr, doubts, refused };
}

test('marks amounts in another currency than the shop, and refuses their rows', async () => {
  assert.deepEqual(await suggest(['USD 9.99', 'USD 10.01', 'EUR 5.00'], 'EUR'), {
    currency: 'EUR',
    mrr: 5,
    doubts: ["rows with amounts in USD are refused: the shop's currency is EUR"],
    refused: ['2: column amount: "…" is in USD, not in the shop\'s currency, EUR'],
  });
  const { mrr, doubts } = await suggest(['R$ 9.99', 'R$ 10.01'], 'EUR');
  assert.equal(mrr, 0);
  assert.deepEqual(doubts, ["rows with amounts in R$ are refused: the shop's currency is EUR"]);
});

test('takes the currency of the file for the shop that is not known, and USD without any', async () => {
  const of = async (amounts: readonly string[], given?: string) => {
    const { currency, mrr, doubts } = await suggest(amounts, given);
    return [currency, mrr, doubts.length];
  };
  assert.deepEqual(await of(['19,99 €', '9,99 €']), ['EUR', 29.98, 0]);
  assert.deepEqual(await of(['R$ 19.99', 'R$ 9.99']), ['BRL', 29.98, 0]);
  assert.deepEqual(await of(['$19.99', '$9.99']), ['USD', 29.98, 0]);
  assert.deepEqual(await of(['19.99 kr', '9.99 kr']), ['SEK', 29.98, 0]);
  assert.deepEqual(await of(['19.99', '9.99']), ['USD', 29.98, 0]);
  assert.deepEqual(await of(['USD 5', '€ 7', '€ 8']), ['EUR', 15, 1]);
  assert.deepEqual(await of(['$19.99', '$9.99'], 'CAD'), ['CAD', 29.98, 0]);
  assert.deepEqual(await of(['19.99 kr', '9.99 kr'], 'NOK'), ['NOK', 29.98, 0]);
});
