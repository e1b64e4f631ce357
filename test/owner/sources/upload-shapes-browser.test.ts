import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { openAnyStore } from '../../support/world.ts';
import { inspect, inspectText, openOwnerPage } from '../inspect.ts';
import { startUploads } from './upload-world.ts';

/** Two customers have two subscriptions each, and only their addresses tell them apart. */
const addresses = [
  'Email,Plan,Status,Start date,Cancelled at,Monthly price',
  'ana@example.com,Basic,active,2024-01-13,,$9.00',
  'ana@example.com,Pro,active,2024-02-14,,$29.00',
  'ben@example.com,Basic,active,2024-03-15,,$9.00',
  'ben@example.com,Pro,cancelled,2024-03-16,2025-05-17,$29.00',
  'cleo@example.com,Pro,paused,2024-04-18,,$29.00',
  ...Array.from({ length: 15 }, (_, i) => `d${i}@example.com,Basic,active,2024-05-19,,$9.00`),
];

const german = [
  'Kundennummer;Name;Tarif;Status;Vertragsbeginn;Gekündigt zum;Preis;Abrechnung',
  'K-1001;Jürgen Weiß;Premium;aktiv;13.01.2024;;1.199,00 €;jährlich',
  'K-1002;Zoë Groß;Basis;aktiv;01.02.2024;;12,90 €;monatlich',
  'K-1003;Max Muster;Basis;gekündigt;02.03.2024;28.02.2025;12,90 €;monatlich',
  'K-1004;Eva Muster;Basis;pausiert;03.04.2024;;12,90 €;monatlich',
  ...Array.from(
    { length: 16 },
    (_, i) => `K-20${i + 10};Mitglied ${i};Basis;aktiv;15.06.2024;;12,90 €;monatlich`,
  ),
];

/** As Stripe's API lists it: 20 a month, a tenth off forever; 120 a year; and one that has ended. */
const stripe = {
  object: 'list',
  data: [
    ofStripe(1, 'month', 2000, {
      discounts: [
        {
          id: 'di_1',
          object: 'discount',
          coupon: { id: 'c', percent_off: 10, duration: 'forever' },
        },
      ],
    }),
    ofStripe(2, 'year', 12_000),
    ofStripe(3, 'month', 5000, {
      status: 'canceled',
      canceled_at: 1_740_000_000,
      ended_at: 1_740_000_000,
    }),
  ],
};

function ofStripe(id: number, interval: string, amount: number, more: object = {}) {
  const price = {
    id: `price_${id}`,
    unit_amount: amount,
    unit_amount_decimal: String(amount),
    billing_scheme: 'per_unit',
    currency: 'usd',
    product: 'prod_1',
    recurring: { interval, interval_count: 1, usage_type: 'licensed' },
  };
  return {
    id: `sub_${id}`,
    object: 'subscription',
    customer: `cus_${id}`,
    status: 'active',
    currency: 'usd',
    created: 1_700_000_000,
    start_date: 1_700_000_000,
    discounts: [],
    items: {
      object: 'list',
      has_more: false,
      data: [{ id: `si_${id}`, object: 'subscription_item', quantity: 1, discounts: [], price }],
    },
    ...more,
  };
}

const shapes = [
  {
    name: 'addresses',
    file: 'members.csv',
    content: addresses.join('\n'),
    currency: 'USD',
    figures: { mrr: '$182.00', activeSubscribers: '17' },
    records: /Subscriptions\s+20\s+0\s/,
  },
  {
    name: 'german',
    file: 'abos.csv',
    content: `\uFEFF${german.join('\r\n')}`,
    currency: 'EUR',
    figures: { mrr: '€319.22', activeSubscribers: '18' },
    records: /Subscriptions\s+20\s+0\s/,
  },
  {
    name: 'stripe',
    file: 'subscriptions.json',
    content: JSON.stringify(stripe),
    currency: 'USD',
    figures: { mrr: '$28.00', activeSubscribers: '2' },
    records: /Subscriptions\s+3\s+0\s/,
  },
];

describe('a file of another shape, in a browser', { skip: browserMissing }, () => {
  const store = openAnyStore();
  let browser: Browser;
  let world: Awaited<ReturnType<typeof startUploads>>;
  before(async () => {
    browser = await shareBrowser();
    // Enough for rehearsals.
    world = await startUploads(store, { heapMegabytes: 256 });
  });
  after(async () => {
    await leaveBrowser();
    await world?.service.close();
    await store.close();
  });

  for (const { name, file, content, currency, figures, records } of shapes) {
    // The pages of the others differ in their texts.
    const look = name === 'addresses' ? inspect : inspectText;
    test(`gives the right figures without help: ${name}`, async () => {
      const { shop, visitor } = await world.openShop({ currency });
      const { baseUrl: url } = world.service;
      const { context, page, problems } = await openOwnerPage(browser, [url]);
      await context.addCookies(
        [...visitor.cookies].map(([key, value]) => ({ name: key, value, url })),
      );
      const chosen = path.join(world.folder, file);
      writeFileSync(chosen, content);
      const valueAfter = async (figure: string) =>
        (await page.getByRole('row').filter({ hasText: figure }).first().innerText()).split(
          /\t|\n/,
        );

      await page.goto(`${url}/app/shops/${shop.id}/sources/file/new`);
      await page.getByLabel('File').setInputFiles(chosen);
      await page.getByRole('button', { name: 'Upload and check' }).click();
      await page.getByRole('heading', { name: 'Check before importing' }).waitFor();
      // The rehearsal is shown when it is done.
      await page.getByRole('columnheader', { name: 'After' }).waitFor();
      await look(page, `upload-${name}-check`);
      assert.equal((await valueAfter('Monthly recurring revenue')).at(-1), figures.mrr);
      assert.equal((await valueAfter('Active subscribers')).at(-1), figures.activeSubscribers);

      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await page.getByText('The file was imported').waitFor();
      await look(page, `upload-${name}-result`);
      assert.match(await page.locator('main').innerText(), records);
      assert.equal((await valueAfter('Monthly recurring revenue')).at(-1), figures.mrr);
      await page.getByRole('link', { name: 'See the overview' }).click();
      for (const [figure, value] of Object.entries(figures)) {
        assert.equal(await page.locator(`[data-figure=${figure}]`).innerText(), value);
      }
      assert.deepEqual(problems, []);
      await context.close();
    });
  }
});
