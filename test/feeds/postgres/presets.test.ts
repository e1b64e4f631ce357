import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMerchant } from './merchant.ts';
import { dlt } from './stripe-dlt.ts';
import { fivetran, fivetranExpected } from './stripe-fivetran.ts';
import {
  airbyte,
  customers,
  expected,
  invoices,
  refunds,
  subscriptions,
  syncEngine,
} from './stripe-tables.ts';
import { openSuggesting } from './suggesting.ts';
import { createTablesOf } from './tables.ts';

onMerchant('presets', (at) => {
  const service = openSuggesting(at);

  test('stripe-sync-engine, with invoices of versions since 2025-03-31', async () => {
    const isNew = ({ id }: { readonly id: string }) => id === 'in_3';
    const lines = {
      data: [{ parent: { subscription_item_details: { subscription: 'sub_2' } } }],
    };
    const rows = withColumn('updated_at', {
      customers,
      subscriptions,
      refunds,
      invoices: invoices.map((each) =>
        isNew(each) ? { ...each, lines, subscription: null, payment_intent: null } : each,
      ),
      invoice_payments: [
        {
          id: 'inpay_0',
          invoice: 'in_3',
          status: 'canceled',
          created: 1,
          payment: { payment_intent: 'pi_0' },
        },
        {
          id: 'inpay_1',
          invoice: 'in_3',
          status: 'paid',
          created: 2,
          payment: { payment_intent: 'pi_in_3' },
        },
      ],
    });
    await createTablesOf(at.source, 'stripe', syncEngine, rows);
    const { out, err } = await service.suggest(at.source);
    assert.match(err, /the tables of stripe-sync-engine/);
    assert.deepEqual(await service.follow(out), expected);
  });

  test("Airbyte's Stripe, with a prefix and without customers", async () => {
    const { customers: _, ...tables } = airbyte;
    const rows = withColumn('_airbyte_extracted_at', { subscriptions, invoices, refunds });
    const prefixed = (all: object) =>
      Object.fromEntries(Object.entries(all).map(([name, each]) => [`stripe_${name}`, each]));
    await createTablesOf(at.source, 'raw', prefixed(tables), prefixed(rows));
    const { out, err } = await service.suggest(at.source);
    assert.match(err, /the tables of Airbyte's Stripe/);
    const discounted = expected.subscriptions.map((each) =>
      each.replace(/^(2026-04-05 .* for) 1 x 12 /, '$1 1 x 15 '),
    );
    assert.deepEqual(await service.follow(out), { ...expected, subscriptions: discounted });
  });

  for (const when of ['_synced_at', '_last_synced_at']) {
    test(`Stripe's sync-engine, with ${when}`, async () => {
      const columns = { jsonb: '_raw_data', timestamptz: `_updated_at ${when}` };
      const tables = {
        subscriptions: { ...columns, text: 'id object status customer', bigint: 'created' },
        customers: { ...columns, text: 'id object email' },
        invoices: { ...columns, text: 'id object status subscription', bigint: 'created' },
        refunds: {
          ...columns,
          text: 'id object status currency payment_intent',
          bigint: 'amount created',
        },
      };
      const rows = Object.entries({ customers, subscriptions, invoices, refunds }).map(
        ([name, each]) => [name, each.map((row) => ({ status: null, ...row, _raw_data: row }))],
      );
      await createTablesOf(at.source, 'stripe', tables, withColumn(when, Object.fromEntries(rows)));
      const { out, err } = await service.suggest(at.source);
      assert.match(err, /the tables of Stripe's sync-engine/);
      assert.deepEqual(await service.follow(out), expected);
    });
  }

  test('Stripe Database, with the columns of the API', async () => {
    const isOfApi = (name: string) => !name.startsWith('_airbyte');
    const tables = Object.entries(airbyte).map(([name, columns]) => [
      name,
      Object.fromEntries(
        Object.entries(columns).map(([type, names]) => [
          type,
          names.split(' ').filter(isOfApi).join(' '),
        ]),
      ),
    ]);
    await createTablesOf(at.source, 'public', Object.fromEntries(tables), {
      customers,
      subscriptions,
      invoices,
      refunds,
    });
    const { out, err } = await service.suggest(at.source);
    assert.match(err, /the tables of Stripe Database/);
    assert.deepEqual(await service.follow(out), expected);
  });

  test("dlt's Stripe", async () => {
    const { tables, rows } = dlt();
    await createTablesOf(at.source, 'stripe_data', tables, rows);
    const { out, err } = await service.suggest(at.source);
    assert.match(err, /the tables of dlt's Stripe/);
    const discounted = expected.subscriptions.map((each) =>
      each.replace(/^(2026-04-05 .* for) 1 x 12 /, '$1 1 x 15 '),
    );
    assert.deepEqual(await service.follow(out), { ...expected, subscriptions: discounted });
  });

  for (const form of ['history and prices', 'present rows and plans'] as const) {
    test(`Fivetran's Stripe, with ${form}`, async () => {
      const { tables, rows } = fivetran(form);
      await createTablesOf(at.source, 'stripe', tables, withColumn('_fivetran_synced', rows));
      const { out, err } = await service.suggest(at.source);
      assert.match(err, /the tables of Fivetran's Stripe/);
      assert.deepEqual(await service.follow(out), fivetranExpected(form));
    });
  }
});

type Rows = Readonly<Record<string, readonly object[]>>;

/** Rows with the time at which they were loaded. */
function withColumn(column: string, tables: Rows): Rows {
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows.map((row) => ({ ...row, [column]: '2026-11-01T00:00:00Z' })),
    ]),
  );
}
