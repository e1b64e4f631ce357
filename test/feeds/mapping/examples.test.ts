import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { listFeeds } from '../../../src/store/feeds/feeds.ts';
import type { Store } from '../../../src/store/open.ts';
import { root } from '../../cli/process.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { tablesWith } from '../../support/tables-with.ts';
import { createShop } from '../../support/world.ts';
import { importMapped, sample } from './mapped.ts';

const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

// Ids above 2^52 are 2^52 + the first 52 bits of the SHA-256 of "plan:month 1", and so on.
const examples = {
  'shopify-contracts': {
    plans: [
      '401 "Monthly, 15% off" subscription 1 month',
      '402 "Every 2 weeks" subscription 2 week',
    ],
    subscriptions: [
      '4656730541036408 of 700002 on 402 paused 84.60 created 2026-01-01 00:00 next 2027-01-15 13:00 every 2 week',
      '5386725264082470 of 700003 on 401 cancelled 9.99 created 2026-01-01 00:00 every 1 month',
      '8789443310961724 of 700001 on 401 active 30.60 created 2026-01-01 00:00 next 2026-12-01 09:00 every 1 month',
    ],
    lines: [
      '4656730541036408/1 8001 "" 8001 "" 1 × 48.60',
      '4656730541036408/2 8002 "" 8002 "" 3 × 12.00',
      '5386725264082470/1 8003 "" 8003 "" 1 × 9.99',
      '8789443310961724/1 8001 "" 8001 "" 2 × 15.30',
    ],
    events: [],
    left: 0,
    found: 'every 2 weeks',
  },
  'stripe-subscriptions': {
    plans: [
      '4676267120082962 "price_year" subscription 1 year',
      '8742658946200316 "price_gold" subscription 1 month',
    ],
    subscriptions: [
      '4887087690884138 of 5975704620292475 on 4676267120082962 active 490.00 created 2025-12-31 23:59',
      '5429516816454952 of 6597392230487067 on 8742658946200316 cancelled 98.00 created 2026-01-05 10:00',
      '7911745119927789 of 6019020172285901 on 8742658946200316 active 49.00 created 2026-02-03 01:47 next 2026-12-03 01:47',
    ],
    lines: [
      '4887087690884138/1 4761032897075543 "price_year" 6913998057358123 "" 1 × 490.00',
      '5429516816454952/1 8288168294314286 "price_gold" 8443327432548312 "" 2 × 49.00',
      '7911745119927789/1 8288168294314286 "price_gold" 8443327432548312 "" 1 × 49.00',
    ],
    events: ['5429516816454952 cancelled 2026-07-05 10:00'],
    left: 1,
    found: 'price_gold',
  },
  'recharge-subscriptions': {
    plans: [
      '5508447869661293 "3 month" prepaid 3 month',
      '5684719224902357 "2 week" subscription 2 week',
      '8940845704920623 "1 month" subscription 1 month',
    ],
    subscriptions: [
      '3001 of 9001 on 8940845704920623 active 30.60 created 2026-03-01 10:00 next 2026-12-01 00:00',
      '3002 of 9001 on 5508447869661293 cancelled 24.00 created 2026-03-01 10:00',
      '3003 of 9002 on 5684719224902357 active 15.30 created 2026-04-01 00:00 next 2026-12-05 00:00',
    ],
    lines: [
      '3001/1 81 "House Blend" 91 "1 lb" 2 × 15.30',
      '3002/1 82 "Decaf" 92 "" 1 × 24.00',
      '3003/1 81 "House Blend" 91 "1 lb" 1 × 15.30',
    ],
    events: ['3002 cancelled 2026-09-15 08:30'],
    left: 0,
    found: '3 month',
  },
};

onOneDatabase('the example mappings', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function worldOf(shopId: number) {
    const sql = store.write;
    const text = async (rows: Promise<readonly { text: string }[]>) =>
      (await rows).map((row) => row.text);
    return {
      plans: await text(sql`
        select concat_ws(' ', plan_id, '"' || name || '"', plan_type, interval_count, interval_unit)
          as text from plans where shop_id = ${shopId} order by plan_id`),
      subscriptions: await text(sql`
        select concat(subscription_id, ' of ', customer_id, ' on ', plan_id, ' ', status, ' ',
          current_price, ' created ', to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'),
          to_char(next_billing_at at time zone 'UTC', '" next "YYYY-MM-DD HH24:MI'),
          ' every ' || own_interval_count || ' ' || own_interval_unit) as text
        from subscriptions where shop_id = ${shopId} order by subscription_id`),
      lines: await text(sql`
        select concat(subscription_id, '/', line_id, ' ', product_id, ' "', product_title, '" ',
          variant_id, ' "', variant_title, '" ', quantity, ' × ', current_price) as text
        from subscription_lines where shop_id = ${shopId} order by subscription_id, position`),
      events: await text(sql`
        select concat(subscription_id, ' ', to_status, ' ',
          to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')) as text
        from status_events where shop_id = ${shopId} order by subscription_id, position`),
    };
  }

  for (const [name, expected] of Object.entries(examples)) {
    test(`${name} stores the expected rows, the same again, and no personal data`, async () => {
      const shop = await createShop(store);
      const mapping = readFileSync(path.join(root, 'mappings', `${name}.json`), 'utf8');
      const { counts, refused, left } = await importMapped(
        store,
        shop,
        mapping,
        sample(`${name}.csv`),
      );
      assert.deepEqual(refused, []);
      const { found, ...world } = expected;
      assert.deepEqual({ ...(await worldOf(shop.id)), left }, world);
      assert.deepEqual(counts, {
        plan: { ...none, stored: expected.plans.length },
        subscription: { ...none, stored: expected.subscriptions.length },
      });

      const again = await importMapped(store, shop, mapping, sample(`${name}.csv`));
      assert.deepEqual(again.counts, {
        plan: { ...none, unchanged: expected.plans.length },
        subscription: { ...none, unchanged: expected.subscriptions.length },
      });
      const feeds = await listFeeds(store.write, shop.id);
      assert.deepEqual(
        [...feeds].map(({ feed }) => feed),
        ['export'],
      );

      const planted = String.raw`Plantedfirst|Plantedlast|planted@example|\+1503555`;
      assert.deepEqual(await tablesWith(store, [shop.id], planted), []);
      // Proves that the search above can find something.
      assert.ok((await tablesWith(store, [shop.id], found)).includes('plans'));
    });
  }
});
