import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../../support/databases.ts';
import { plain } from '../page-text.ts';
import { pressImport, resultOf, type Uploads, startUploads } from './upload-world.ts';

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
    name: 'german',
    file: 'abos.csv',
    content: `\uFEFF${german.join('\r\n')}`,
    currency: 'EUR',
    figures: { mrr: '€319.22', activeSubscribers: '18' },
    records: /Subscriptions 20 0 /,
  },
  {
    name: 'stripe',
    file: 'subscriptions.json',
    content: JSON.stringify(stripe),
    currency: 'USD',
    figures: { mrr: '$28.00', activeSubscribers: '2' },
    records: /Subscriptions 3 0 /,
  },
];

// `upload-shapes-browser.test.ts` has another shape.
onOneDatabase('a file of another shape', (open) => {
  let world: Uploads;
  before(async () => {
    // Enough for rehearsals.
    world = await startUploads(open(), { heapMegabytes: 256 });
  });
  after(() => world.close());

  for (const { name, file: fileName, content, currency, figures, records } of shapes) {
    test(`gives the right figures without help: ${name}`, async () => {
      const { shop, visitor, file } = await world.openShop({ currency });
      await visitor.upload(file, { name: fileName, content });
      const checked = await resultOf(visitor, file);
      const { mrr, activeSubscribers } = figures;
      const nothing = mrr.replace(/\d.*/, '0.00');
      for (const text of [
        `Active subscribers 0 ${activeSubscribers} `,
        `Monthly recurring revenue ${nothing} ${mrr} `,
      ]) {
        assert.ok(plain(checked.text).includes(text), text);
      }
      await pressImport(visitor, file, checked);
      const result = plain((await resultOf(visitor, file)).text);
      assert.match(result, records);
      assert.ok(result.includes(`Monthly recurring revenue ${nothing} ${mrr} `), result);
      const overview = (await visitor.get(`/app/shops/${shop.id}`)).text;
      for (const [figure, value] of Object.entries(figures)) {
        assert.ok(overview.includes(`data-figure="${figure}">${value}<`), figure);
      }
    });
  }
});
