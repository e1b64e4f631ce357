import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../../support/databases.ts';
import { plain } from '../page-text.ts';
import type { Page, Visitor } from '../visitor.ts';
import {
  chooseColumns,
  pressImport,
  resultOf,
  type Uploads,
  startUploads,
  usesOf,
} from './upload-world.ts';

const subscriptions =
  'subscription_id,customer_id,start,status,monthly price\nS1,C1,2024-01-13,active,10.00';

/** The same table with the headings and words of four languages. */
const languages = {
  English: [
    'Customer ID,Plan,Status,Start date,End date,Price,Billing interval',
    'C1,Box,active,2024-01-13,,12.00,monthly',
    'C2,Box,cancelled,2024-01-14,2025-02-15,12.00,monthly',
    'C3,Tea,paused,2024-01-15,,120.00,yearly',
  ],
  German: [
    'Kundennummer;Tarif;Status;Vertragsbeginn;Vertragsende;Preis;Abrechnungsintervall',
    'C1;Box;aktiv;13.01.2024;;12,00;monatlich',
    'C2;Box;gekündigt;14.01.2024;15.02.2025;12,00;monatlich',
    'C3;Tea;pausiert;15.01.2024;;120,00;jährlich',
  ],
  French: [
    'Numéro client;Formule;Statut;Date de début;Date de fin;Prix;Périodicité',
    'C1;Box;actif;13/01/2024;;12,00;mensuel',
    'C2;Box;résilié;14/01/2024;15/02/2025;12,00;mensuel',
    'C3;Tea;suspendu;15/01/2024;;120,00;annuel',
  ],
  Spanish: [
    'ID cliente;Plan;Estado;Fecha de inicio;Fecha de baja;Precio;Periodicidad',
    'C1;Box;activo;13/01/2024;;12,00;mensual',
    'C2;Box;cancelado;14/01/2024;15/02/2025;12,00;mensual',
    'C3;Tea;pausado;15/01/2024;;120,00;anual',
  ],
};

onOneDatabase('the columns of an uploaded file', (open) => {
  let world: Uploads;
  before(async () => {
    world = await startUploads(open(), { maxBytes: 4 * 1024 * 1024 });
  });
  after(() => world.close());

  async function upload(visitor: Visitor, file: string, content: string): Promise<Page> {
    assert.equal((await visitor.upload(file, { name: 'table.csv', content })).location, file);
    return visitor.get(file);
  }
  /** Imports what is shown, and returns the page with the result. */
  async function importShown(visitor: Visitor, file: string, shown: Page): Promise<string> {
    assert.equal((await pressImport(visitor, file, shown)).location, file);
    return plain((await resultOf(visitor, file)).text);
  }

  for (const [language, rows] of Object.entries(languages)) {
    test(`are taken right in ${language}`, async () => {
      const { visitor, file } = await world.openShop();
      const shown = await upload(visitor, file, rows.join('\n'));
      assert.deepEqual(Object.values(usesOf(shown)), [
        'customer',
        'plan',
        'status',
        'start',
        'ended',
        'price',
        'interval',
      ]);
      assert.match(plain(shown.text), /: 1 active, 1 cancelled, 1 paused\. MRR would be \$12\.00/);
      assert.match(plain(shown.text), / C2 cancelled 2024-01-14 2025-02-15 12\.00 month Box/);
    });
  }

  test('are those of payments, refunds and plans, where the rows are such', async () => {
    const { visitor, file } = await world.openShop();
    await importShown(visitor, file, await upload(visitor, file, subscriptions));

    // Neither name says which amount was charged, and when.
    const payments = [
      'payment_id,subscription_id,status,first,second,one,two',
      'P1,S1,paid,7.00,9.00,2026-01-02,2026-01-05',
    ].join('\n');
    const shown = await upload(visitor, file, payments);
    assert.deepEqual(usesOf(shown), {
      payment_id: 'id',
      subscription_id: 'subscription',
      status: 'status',
      first: '',
      second: '',
      one: '',
      two: '',
    });
    assert.match(plain(shown.text), /Needed and not found: Amount, Date\./);
    assert.doesNotMatch(shown.text, /value="import"/);
    const columns = chooseColumns(shown, { second: 'amount', one: 'date' });
    const chosen = await pressImport(visitor, file, shown, columns);
    assert.match(plain(chosen.text), / payment \d+ succeeded 2026-01-02 9(?:\.00)? /);
    assert.match(await importShown(visitor, file, chosen), /Payments 1 0 0 0 0 0/);

    const refunds = 'refund_id,payment_id,amount,refunded_at\nR1,P1,2.50,2026-01-09';
    const refund = await upload(visitor, file, refunds);
    assert.deepEqual(Object.values(usesOf(refund)), ['id', 'payment', 'amount', 'date']);
    assert.match(await importShown(visitor, file, refund), /Refunds 1 0 0 0 0 0/);

    const plans = [
      'plan_id,plan_name,price,interval',
      'tea,Tea,5.00,month',
      'box,Box,9.00,year',
    ].join('\n');
    const plan = await upload(visitor, file, plans);
    assert.deepEqual(Object.values(usesOf(plan)), ['id', 'name', '', 'interval']);
    assert.match(await importShown(visitor, file, plan), /Plans 2 0 0 0 0 0/);
  });

  test('of a table that is not recognised need one choice', async () => {
    const { visitor, file } = await world.openShop();
    const rows = [
      'k,m,fee',
      ...Array.from({ length: 12 }, (_, i) => `k${i}1,${i % 3 ? 'no' : 'yes'},9.50`),
    ];
    const shown = await upload(visitor, file, rows.join('\n'));
    assert.doesNotMatch(shown.text, /value="import"/);
    const chosen = await pressImport(visitor, file, shown, chooseColumns(shown, { m: 'status' }));
    assert.match(plain(chosen.text), /The file has 12 subscriptions of 12 customers/);
    assert.match(chosen.text, /value="import"/);
  });

  test('may have a value of a megabyte, whichever it is', async () => {
    const { visitor, file } = await world.openShop();
    const names = ['customer', 'plan', 'status', 'start', 'price', 'interval', 'note'];
    const usual = ['', 'Box', 'active', '2024-05-06', '9.50', 'month', 'hello'];
    for (const [column, name] of names.entries()) {
      const rows = Array.from({ length: 20 }, (_, row) => {
        const values = [`C${row}`, ...usual.slice(1)];
        if (row === 5) values[column] = 'x y'.repeat(350_000);
        return values.join(',');
      });
      const shown = await upload(visitor, file, [names.join(','), ...rows].join('\n'));
      assert.equal(shown.status, 200, name);
      assert.match(plain(shown.text), /The file has (?:19|20) subscriptions/, name);
      assert.ok(shown.text.length < 100_000, `${name}: ${shown.text.length}`);
    }
  });
});
