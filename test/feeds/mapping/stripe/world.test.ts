import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { toSummary } from '../../../../src/metrics/figures.ts';
import {
  type Movements,
  summariseMovements,
  toMovements,
} from '../../../../src/metrics/movements.ts';
import { summariseMetrics } from '../../../../src/metrics/summary.ts';
import type { Store } from '../../../../src/store/open.ts';
import { root, throwawayFolder } from '../../../cli/process.ts';
import { onOneDatabase } from '../../../support/databases.ts';
import { type TestShop, createShop } from '../../../support/world.ts';
import { importMapped } from '../mapped.ts';
import {
  type Case,
  type Expected,
  type Sequence,
  type Subscription,
  casesOf,
  checkCase,
  checkWarnings,
  currencies,
  eventOf,
  expected,
  readLines,
  storedOf,
  world,
  worldAt,
} from './cases.ts';

const readMapping = (name: string) => readFileSync(path.join(root, 'mappings', name), 'utf8');
const objects = readMapping('stripe-objects.json');
const webhooks = readMapping('stripe-webhooks.json');
const pick = ({ lines, mrr }: Pick<Expected, 'lines' | 'mrr'>) => ({ lines, mrr });
const expectedOf = (name: string) => expected.get(name) as Expected;

/** The sums of each shop, and what moved in November, worked out by hand; no other figure is above 0. */
const sums: Readonly<Record<string, readonly [mrr: number, moved: Partial<Movements>]>> = {
  USD: [4374.46, { new: 89, added: 43, paused: 23, cancelled: 175 }],
  EUR: [94.74, {}],
  JPY: [7494, {}],
  KWD: [23.583, {}],
  ISK: [1990, {}],
  UGX: [50_000, {}],
  MGA: [10_000, {}],
};

/** How Stripe and others write the same subscriptions. */
const layouts: Readonly<Record<string, (all: readonly Subscription[]) => string>> = {
  'a list response': (data) =>
    JSON.stringify({ object: 'list', url: '/v1', has_more: false, data }),
  'lines of list responses': (all) =>
    [all.slice(0, 2), all.slice(2)]
      .map((data) => JSON.stringify({ object: 'list', data }))
      .join('\n'),
  'an object on each line': (all) => all.map((each) => JSON.stringify(each)).join('\n'),
  'an indented array': (all) => JSON.stringify(all, null, 2),
};

onOneDatabase("Stripe's subscriptions", (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  const shopOf = (currency: string) => createShop(store, { currency });

  async function importText(shop: TestShop, text: string, at = worldAt, rules = objects) {
    const file = path.join(throwawayFolder(), 'stripe');
    writeFileSync(file, text);
    const asOf = rules === objects ? { asOf: at } : {};
    return importMapped(store, shop, rules, file, { at, ...asOf });
  }

  async function checkAll(shop: TestShop, cases: readonly Case[], warnings: readonly string[]) {
    for (const { case: name, subscription } of cases) {
      await checkCase(store, shop, subscription.id, expectedOf(name));
    }
    const all = cases.map(({ case: name, subscription }) => {
      return [subscription.id, expectedOf(name).warnings] as const;
    });
    checkWarnings(warnings, all);
  }

  for (const currency of currencies) {
    test(`in ${currency} cost, and entitle to, what was worked out by hand`, async () => {
      const shop = await shopOf(currency);
      const cases = casesOf(currency);
      const all = cases.map(({ subscription }) => subscription);
      const { refused, warnings, left } = await importText(shop, JSON.stringify({ data: all }));
      assert.deepEqual(refused, []);
      assert.equal(left, cases.filter(({ case: name }) => !expectedOf(name).stored).length);
      await checkAll(shop, cases, warnings);
      const until = Date.parse(worldAt);
      const { analyse } = store.primary;
      const { mrr } = toSummary(await summariseMetrics(analyse, shop.id, until), currency, until);
      const period = { from: Date.parse('2026-11-01T00:00:00Z'), until };
      const moved = toMovements(await summariseMovements(analyse, shop.id, period), currency);
      const found = Object.entries(moved).filter(
        ([name, value]) => Number(value) > 0 && !['opening', 'closing'].includes(name),
      );
      assert.deepEqual([mrr, Object.fromEntries(found)], sums[currency]);
      const again = await importText(shop, JSON.stringify({ data: all }));
      assert.equal(again.counts['subscription']?.unchanged, cases.length - left);
    });
  }

  for (const { case: name, steps } of readLines<Sequence>('sequences.jsonl')) {
    test(`keep what later data does not say: ${name}`, async () => {
      const shop = await shopOf('USD');
      for (const step of steps) {
        const { subscription, expect } = step;
        const at = step.by === 'list' ? step.asOf : step.at;
        const { refused, warnings } = await (step.by === 'list'
          ? importText(shop, JSON.stringify({ data: [subscription] }), at)
          : importText(shop, JSON.stringify(eventOf(subscription, step)), at, webhooks));
        assert.deepEqual(refused, []);
        const found = await storedOf(store, shop, subscription.id, at);
        if (expect.stored === false) {
          assert.equal(found, undefined);
          continue;
        }
        assert.deepEqual({ lines: found?.lines, mrr: found?.mrr }, pick(expect), at);
        checkWarnings(warnings, [[subscription.id, expect.warnings]]);
      }
    });
  }

  for (const [name, write] of Object.entries(layouts)) {
    test(`are read from ${name}`, async () => {
      const shop = await shopOf('USD');
      const cases = casesOf('USD').slice(0, 5);
      const text = write(cases.map(({ subscription }) => subscription));
      const { refused, warnings } = await importText(shop, text);
      assert.deepEqual(refused, []);
      await checkAll(shop, cases, warnings);
    });
  }

  test("are read from rows of stripe-sync-engine's tables as CSV, and from its column of whole objects", async () => {
    const cases = casesOf('USD').filter(({ case: name }) => name.startsWith('sync-engine-row'));
    assert.equal(cases.length, 4);
    const [names = []] = cases.map(({ subscription }) => Object.keys(subscription));
    const cell = (value: unknown) => {
      if (value === null || value === undefined) return '';
      if (typeof value === 'boolean') return value ? 't' : 'f';
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
      return `"${text.replaceAll('"', '""')}"`;
    };
    const rows = cases.map(({ subscription }) => names.map((name) => cell(subscription[name])));
    const csv = [names, ...rows].map((row) => row.join(',')).join('\n');
    const raw = cases.map(({ subscription }) => {
      const { items } = subscription;
      const whole = typeof items === 'string' ? { items: JSON.parse(items) } : {};
      return JSON.stringify({ _raw_data: { ...subscription, ...whole } });
    });
    for (const text of [csv, raw.join('\n')]) {
      const shop = await shopOf('USD');
      const { refused, warnings } = await importText(shop, text);
      assert.deepEqual(refused, []);
      await checkAll(shop, cases, warnings);
    }
  });

  test('are paid by all of their invoices, whatever these were made for', async () => {
    const [subscription = assert.fail()] = casesOf('USD').map((each) => each.subscription);
    const reasons = ['manual', 'quote_accept', 'automatic_pending_invoice_item_invoice'];
    const created = 1_793_000_000;
    const invoiceOf = (reason: string, of: string | null) => ({
      object: 'invoice',
      id: `in_${reason}_${of ? 1 : 2}`,
      billing_reason: reason,
      status: 'paid',
      currency: 'usd',
      amount_due: 500,
      amount_paid: 500,
      created,
      parent: of && { subscription_details: { subscription: of } },
    });
    const invoices = [
      ...reasons.map((each) => invoiceOf(each, subscription.id)),
      ...reasons.map((each) => invoiceOf(each, null)),
    ];
    const event = (invoice: object) =>
      JSON.stringify({ object: 'event', type: 'invoice.paid', created, data: { object: invoice } });
    for (const [text, rules] of [
      [JSON.stringify({ data: [subscription, ...invoices] }), objects],
      [[JSON.stringify(eventOf(subscription)), ...invoices.map(event)].join('\n'), webhooks],
    ] as const) {
      const shop = await shopOf('USD');
      const { refused, counts, left } = await importText(shop, text, worldAt, rules);
      assert.deepEqual([refused, counts['payment']?.stored, left], [[], 3, 3]);
    }
  });

  test('are billed next unless they end before', async () => {
    const periodEnd = 1_796_893_200;
    const [subscription = assert.fail()] = world.flatMap((each) =>
      each.case === 'cancel-at-date' ? each.subscription : [],
    );
    const nextAfter = async (cancelAt: number | null) => {
      const shop = await shopOf('USD');
      const { refused } = await importText(
        shop,
        JSON.stringify({ ...subscription, cancel_at: cancelAt }),
      );
      assert.deepEqual(refused, []);
      const [found] = await store.write<{ at: Date | null }[]>`
        select next_billing_at as at from subscriptions where shop_id = ${shop.id}`;
      return found?.at && found.at.getTime() / 1000;
    };
    assert.equal(await nextAfter(null), periodEnd);
    assert.equal(await nextAfter(periodEnd + 1), periodEnd);
    // As the customer portal cancels subscriptions with flexible billing.
    assert.equal(await nextAfter(periodEnd), null);
    assert.equal(await nextAfter(periodEnd - 1), null);
  });

  test('as Stripe and stripe-sync-engine publish them', async () => {
    const files = readLines<Expected & { file: string; event?: true }>('published/expected.jsonl');
    for (const { file, event, ...wanted } of files) {
      const shop = await shopOf('USD');
      const folder = path.join(root, 'test/feeds/mapping/stripe/published');
      const text = readFileSync(path.join(folder, file), 'utf8');
      const object = event ? JSON.stringify(JSON.parse(text).data.object) : text;
      const { refused, warnings } = await importText(shop, object);
      assert.deepEqual(refused, [], file);
      const { id } = JSON.parse(object);
      checkWarnings(warnings, [[id, wanted.warnings]]);
      await checkCase(store, shop, id, { ...wanted, case: file });
    }
    const folder = readdirSync(path.join(root, 'test/feeds/mapping/stripe/published'));
    assert.equal(folder.filter((name) => /^[a-z_-]+[.]json$/.test(name)).length, files.length);
  });
});
