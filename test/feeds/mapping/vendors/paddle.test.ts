import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { deriveId } from '../../../../src/ingest/source-ids.ts';
import type { Store } from '../../../../src/store/open.ts';
import { root, throwawayFolder } from '../../../cli/process.ts';
import { onOneDatabase } from '../../../support/databases.ts';
import { createShop } from '../../../support/world.ts';
import { importMapped } from '../mapped.ts';
import { storedOf } from '../stripe/cases.ts';

const mapping = readFileSync(path.join(root, 'mappings/paddle-webhooks.json'), 'utf8');
const samples = path.join(root, 'test/feeds/mapping/vendors/samples/paddle-webhooks.ndjson');
const [sample = ''] = readFileSync(samples, 'utf8').split('\n');
const began = '2026-11-01T00:00:00.000Z';
const planned = '2026-12-01T00:00:00.000Z';

/** An event of a subscription whose items began with a trial. */
function eventOf(at: string, data: object): string {
  const event = JSON.parse(sample);
  for (const item of event.data.items) item.trial_dates = { starts_at: began, ends_at: planned };
  Object.assign(event.data, { started_at: began, first_billed_at: null, ...data });
  return JSON.stringify({ ...event, event_type: 'subscription.updated', occurred_at: at });
}

onOneDatabase("Paddle's subscriptions", (open) => {
  let store: Store;
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('are worth nothing until their trial ends, as planned, later or at once', async () => {
    const shop = await createShop(store);
    const trialing = (next: string | null) => ({ status: 'trialing', next_billed_at: next });
    const extended = '2026-12-15T00:00:00.000Z';
    const activated = '2026-11-18T00:00:00.000Z';
    const paying = { status: 'active', first_billed_at: activated, next_billed_at: planned };
    for (const [at, data, expected] of [
      ['2026-11-01T00:00:05Z', trialing(planned), { mrr: 0, trialEndsAt: planned }],
      ['2026-11-10T00:00:00Z', trialing(extended), { mrr: 0, trialEndsAt: extended }],
      // Cancelled for the end of the trial.
      ['2026-11-15T00:00:00Z', trialing(null), { mrr: 0, trialEndsAt: planned }],
      ['2026-11-18T00:00:00Z', paying, { mrr: 36, trialEndsAt: activated }],
    ] as const) {
      const file = path.join(throwawayFolder(), 'paddle.ndjson');
      writeFileSync(file, eventOf(at, data));
      const { refused } = await importMapped(store, shop, mapping, file);
      assert.deepEqual(refused, []);
      const found = await storedOf(store, shop, deriveId('subscription', 'sub_01hpA'));
      assert.deepEqual({ ...found, ...expected }, found);
    }
  });
});
