import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { plan, subscription } from '../rest/records.ts';
import { createShop, importAll, openAnyStore } from '../support/world.ts';

const one = subscription(1001, {});

/** A record with a list of that many equal entries. */
const withEntries = (record: object, list: string, entry: string, count: number) =>
  JSON.stringify({ ...record, [list]: ['…'] }).replace('"…"', Array(count).fill(entry).join(','));

describe('a record with an endless list', () => {
  const store = openAnyStore();
  after(() => store.close());
  let shop: Awaited<ReturnType<typeof createShop>>;
  before(async () => {
    shop = await createShop(store);
  });

  for (const [title, record, reason] of [
    ['of lines', withEntries(one, 'lines', '{}', 1_300_000), 'lines must have at most 250 entries'],
    [
      'of status events',
      withEntries(one, 'statusEvents', '{}', 1_300_000),
      'statusEvents must have at most 10000 entries',
    ],
    [
      'of products',
      withEntries(plan(), 'productIds', '1', 2_000_000),
      'productIds must have at most 100000 entries',
    ],
  ] as const) {
    test(`${title} is refused for that, and no other is`, async () => {
      const { refused } = await importAll(store, shop, [plan(), record, subscription(1002)]);
      assert.deepEqual(refused, [{ line: 2, reason }]);
    });
  }

  test('is refused for ten problems, however many it has', async () => {
    const { refused } = await importAll(store, shop, [
      withEntries(one, 'lines', '{}', 250),
      withEntries(one, 'lines', '{}', 2),
      withEntries(plan(), 'productIds', '1e300', 100_000),
      withEntries(plan(), 'productIds', '0', 10),
    ]);
    const ofLines =
      'lines[0].lineId is missing; lines[0].productId is missing; lines[0].productTitle is missing; lines[0].variantId is missing; lines[0].quantity is missing; lines[0].currentPrice is missing; lines[1].lineId is missing; lines[1].productId is missing; lines[1].productTitle is missing; lines[1].variantId is missing; and more problems';
    const ofProducts = Array.from(
      { length: 10 },
      (_, index) => `productIds[${index}] must be an integer from 1 to 9007199254740991`,
    ).join('; ');
    assert.deepEqual(refused, [
      { line: 1, reason: ofLines },
      { line: 2, reason: ofLines },
      { line: 3, reason: `${ofProducts}; and more problems` },
      { line: 4, reason: ofProducts },
    ]);
  });
});
