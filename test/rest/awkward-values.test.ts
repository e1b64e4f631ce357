import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryDatabase } from '../support/databases.ts';
import {
  createShop,
  createTestKey,
  get,
  importAll,
  startWorld,
  type World,
} from '../support/world.ts';
import { plan, subscription } from './records.ts';

/** Values that break careless JSON building: quotes, escapes, control characters and line ends. */
const texts = [
  '"quoted"',
  'back\\slash\\',
  'a\nb\r\nc\td',
  '\u0001\u001f\u007f\u0080',
  'a\u2028b\u2029c',
  '</script>',
  '%s {0} $1 \\u0041',
  '日本語 😀 é',
  'NULL',
  ' {a,"b"} ',
  '","isEntitled":true,"x":"',
];

onEveryDatabase('awkward texts and numbers', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  test('are returned unchanged by every listing', async () => {
    const shop = await createShop(world.store);
    const { key } = await createTestKey(world.store, shop.id);
    const { refused } = await importAll(
      world.store,
      shop,
      texts.flatMap((text, index) => [
        plan({
          id: index + 1,
          name: text,
          groupName: text,
          pricing: { discountType: 'fixed_amount', discountValue: '10.10', summary: text },
        }),
        subscription(index + 1, {
          planId: index + 1,
          nextBillingDate: '9999-12-31T23:59:59.999Z',
          createdAt: '1970-01-01T00:00:00.001Z',
          updatedAt: '1970-01-01T00:00:00.001Z',
          lines: [
            {
              lineId: 1,
              productId: Number.MAX_SAFE_INTEGER,
              productTitle: text,
              variantId: 1,
              variantTitle: text,
              quantity: 1,
              currentPrice: ['0', '0.00', '100', '999999999999.99', '0.10'][index % 5],
            },
          ],
        }),
      ]),
    );
    assert.deepEqual(refused, []);

    const send = async (path: string) => {
      const { status, body } = await get(`${world.base}${path}`, key);
      assert.equal(status, 200);
      return body as Record<string, any>;
    };
    const { plans } = await send('/plans');
    assert.deepEqual(
      plans.map((each: any) => [each.name, each.groupName, each.pricing.summary]),
      texts.map((text) => [text, text, text]),
    );
    assert.ok(plans.every((each: any) => each.pricing.discountValue === 10.1));

    const { subscriptions } = await send('/subscriptions');
    assert.deepEqual(
      subscriptions.map((each: any) => each.planName),
      texts.toReversed(),
    );
    const prices = [0, 0, 100, 999999999999.99, 0.1];
    for (const [index, text] of texts.entries()) {
      const { subscription: one } = await send(`/subscriptions/${index + 1}`);
      assert.deepEqual(one, {
        ...subscriptions.find((each: any) => each.subscriptionId === index + 1),
        currentPrice: prices[index % 5],
        nextBillingDate: '9999-12-31T23:59:59.999Z',
        createdAt: '1970-01-01T00:00:00.001Z',
        lineItems: [
          {
            lineId: 1,
            productId: Number.MAX_SAFE_INTEGER,
            productTitle: text,
            variantId: 1,
            variantTitle: text,
            quantity: 1,
            currentPrice: prices[index % 5],
          },
        ],
      });
    }
  });
});
