import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { toSummary } from '../../../../src/metrics/figures.ts';
import { summariseMetrics } from '../../../../src/metrics/summary.ts';
import type { Store } from '../../../../src/store/open.ts';
import { root, throwawayFolder } from '../../../cli/process.ts';
import { onOneDatabase } from '../../../support/databases.ts';
import { type TestShop, createShop } from '../../../support/world.ts';
import { importMapped } from '../mapped.ts';
import { type Expected, checkCase, storedOf, worldAt } from '../stripe/cases.ts';

type Row = Expected & { readonly id: string; readonly planType?: string };

const folder = path.join(root, 'test/feeds/mapping/vendors/worlds');
const textOf = (file: string) => readFileSync(path.join(folder, file), 'utf8');
const linesOf = (file: string) => textOf(file).trim().split('\n');
const rowsOf = <Each>(file: string): readonly Each[] =>
  linesOf(file).map((line) => JSON.parse(line));

interface World {
  readonly mapping: string;
  /** The rows as the vendor's file has them. */
  readonly rows: readonly string[];
  readonly fileOf: (rows: readonly string[]) => string;
  readonly idOf: (id: string) => string | number;
  /** Rows that are no subscriptions. */
  readonly others?: number;
  /** In USD, worked out by hand from the world's expected values. */
  readonly mrr: number;
}

const csv = (file: string) => {
  const [head, ...rows] = linesOf(file);
  return {
    rows,
    fileOf: (some: readonly string[]) => [head, ...some].join('\n'),
    idOf: Number,
  };
};
const text = (id: string) => id;

const worlds: Readonly<Record<string, World>> = {
  recurly: {
    mapping: 'recurly-objects',
    rows: linesOf('recurly.jsonl'),
    fileOf: (rows) => `{"object":"list","data":[${rows.join(',\n')}]}`,
    idOf: text,
    // Plans and coupons, of which only plans match a rule.
    others: 3,
    mrr: 1708.71,
  },
  chargebee: {
    mapping: 'chargebee-objects',
    rows: linesOf('chargebee.jsonl'),
    fileOf: (rows) => `{"list":[${rows.join(',\n')}]}`,
    idOf: text,
    mrr: 1264.98,
  },
  recharge: { mapping: 'recharge-subscriptions', ...csv('recharge.csv'), mrr: 273.87 },
  woocommerce: { mapping: 'woocommerce-subscriptions', ...csv('woocommerce.csv'), mrr: 354.06 },
};

onOneDatabase('Subscriptions of other vendors', (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  async function importRows(shop: TestShop, { mapping, fileOf }: World, rows: readonly string[]) {
    const file = path.join(throwawayFolder(), 'export');
    writeFileSync(file, fileOf(rows));
    const rules = readFileSync(path.join(root, 'mappings', `${mapping}.json`), 'utf8');
    return importMapped(store, shop, rules, file, { at: worldAt, asOf: worldAt });
  }

  async function planTypeOf(shop: TestShop, id: string | number) {
    const [row] = await store.write<{ type: string }[]>`
      select p.plan_type as type
      from subscriptions s join plans p on p.shop_id = s.shop_id and p.plan_id = s.plan_id
      where s.shop_id = ${shop.id} and s.subscription_id = ${id}`;
    return row?.type;
  }

  for (const [name, world] of Object.entries(worlds)) {
    const expected = rowsOf<Row>(`${name}-expected.jsonl`);
    const count = (status: string) => expected.filter((each) => each.status === status).length;

    test(`of ${name} cost, and entitle to, what was worked out by hand`, async () => {
      const shop = await createShop(store, { currency: 'USD' });
      const { refused, left, warnings, counts } = await importRows(shop, world, world.rows);
      assert.equal(refused.length, count('refused'), refused.join('\n'));
      assert.equal(left, count('skipped') + (world.others ?? 0));
      for (const row of expected) {
        const isStored = !['refused', 'skipped'].includes(row.status);
        await checkCase(store, shop, world.idOf(row.id), { ...row, stored: isStored });
        if (row.planType) assert.equal(await planTypeOf(shop, world.idOf(row.id)), row.planType);
      }
      const wanted = expected.flatMap((row) => row.warnings ?? []);
      assert.equal(warnings.length, wanted.length, warnings.join('\n'));
      for (const [index, each] of wanted.entries())
        assert.ok(warnings[index]?.includes(each), each);
      const until = Date.parse(worldAt);
      const { mrr } = toSummary(
        await summariseMetrics(store.primary.analyse, shop.id, until),
        'USD',
        until,
      );
      assert.equal(mrr, world.mrr);
      const again = await importRows(shop, world, world.rows);
      const stored = expected.length - count('refused') - count('skipped');
      assert.equal(again.counts['subscription']?.unchanged, stored);
      assert.equal(counts['subscription']?.stored, stored);
    });
  }

  /** A row of a world, changed in JSON or in its columns. */
  function changed(world: World, id: string, change: (text: string) => string): string {
    const found = world.rows.find((row) => row.includes(id));
    assert.ok(found, id);
    const row = change(found);
    assert.notEqual(row, found);
    return row;
  }

  const later: readonly {
    readonly vendor: string;
    readonly title: string;
    readonly id: string;
    /** The change before the first import. */
    readonly first: (row: string) => string;
    readonly stored: object;
    /** The row of the second import, made from that of the world. */
    readonly second: (row: string) => string;
    readonly kept: object;
  }[] = [
    {
      vendor: 'recurly',
      title: 'a price from before an active coupon stays',
      id: 'nrs000000009',
      first: (row) =>
        row
          .replace(/"coupon_redemptions":\[.*?\],"pending/, '"coupon_redemptions":[],"pending')
          .replace('"unit_amount":30.0', '"unit_amount":27.0'),
      stored: { currentPrice: 27, mrr: 27 },
      second: (row) => row.replace('"quantity":1', '"quantity":2'),
      kept: { currentPrice: 54, mrr: 54 },
    },
    {
      vendor: 'chargebee',
      title: 'a price from before a coupon stays',
      id: 'cbsub010',
      first: (row) =>
        row.replace(/"coupons":\[.*?\],/, '').replace('"amount":10000', '"amount":9000'),
      stored: { currentPrice: 90, mrr: 90 },
      second: (row) => row.replace('"applied_count":3', '"applied_count":4'),
      kept: { currentPrice: 90, mrr: 90 },
    },
    {
      vendor: 'chargebee',
      title: 'a price stays if its amount is not in the data',
      id: 'cbsub004',
      first: (row) => row.replace('"quantity":15', '"quantity":15,"amount":12000'),
      stored: { currentPrice: 120, mrr: 120 },
      second: (row) => row.replace('"quantity":15', '"quantity":20'),
      kept: { currentPrice: 160, mrr: 160 },
    },
    {
      vendor: 'recharge',
      title: 'a price stays if it is empty',
      id: '4020',
      first: (row) => row.replace('1,,USD', '1,12.50,USD'),
      stored: { currentPrice: 12.5, mrr: 12.5 },
      second: (row) => row.replace('1,,USD', '3,,USD'),
      kept: { currentPrice: 37.5, mrr: 37.5 },
    },
    {
      vendor: 'woocommerce',
      title: 'a trial stays when WooCommerce deletes its end',
      id: '504',
      first: (row) => row.replace('20.00,USD', '20.00,usd'),
      stored: { mrr: 0, trialEndsAt: '2026-12-01T08:00:00.000Z' },
      second: (row) =>
        row.replace('wc-active', 'wc-pending-cancel').replace('2026-12-01 08:00:00', '0'),
      kept: { status: 'active', currentPrice: 20, mrr: 0, trialEndsAt: '2026-12-01T08:00:00.000Z' },
    },
    {
      vendor: 'woocommerce',
      title: 'a trial that was taken back is over',
      id: '504',
      first: (row) => row.replace('20.00,USD', '20.00,usd'),
      stored: { mrr: 0, trialEndsAt: '2026-12-01T08:00:00.000Z' },
      second: (row) => row.replace('2026-12-01 08:00:00', '0'),
      kept: { status: 'active', mrr: 20, trialEndsAt: null },
    },
  ];

  for (const { vendor, title, id, first, stored, second, kept } of later) {
    test(`of ${vendor}: ${title}`, async () => {
      const world = worlds[vendor] as World;
      const shop = await createShop(store, { currency: 'USD' });
      const plans = world.rows.filter((row) => row.includes('"object":"plan","code"'));
      for (const [change, wanted] of [
        [first, stored],
        [second, kept],
      ] as const) {
        const { refused } = await importRows(shop, world, [...plans, changed(world, id, change)]);
        assert.deepEqual(refused, []);
        const found = await storedOf(store, shop, world.idOf(id));
        assert.ok(found);
        assert.deepEqual({ ...found, ...wanted }, found);
      }
    });
  }
});
