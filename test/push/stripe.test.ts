import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createSecret } from '../../src/access/secrets.ts';
import { createShell } from '../../src/http/shell.ts';
import { JobQueue } from '../../src/platforms/webhooks/queue.ts';
import { startPush } from '../../src/push/routes.ts';
import { pushSources } from '../../src/push/sources.ts';
import type { Store } from '../../src/store/open.ts';
import {
  type Expected,
  casesOf,
  checkCase,
  checkWarnings,
  eventOf,
  expected,
} from '../feeds/mapping/stripe/cases.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { createShop, silentLog } from '../support/world.ts';
import { type BatchAnswer, sealing } from './world.ts';

interface WarnedBatch extends BatchAnswer {
  readonly warnings?: readonly { readonly line: number; readonly reason: string }[];
}

onOneOwnDatabase("Stripe's webhooks", (open) => {
  const secret = 'whsec_made_up_for_tests';
  let store: Store;
  let queue: JobQueue;
  let app: ReturnType<typeof createShell>;
  let baseUrl = '';
  before(async () => {
    store = open();
    queue = new JobQueue(store.jobs, silentLog);
    const { routes } = startPush({ store, clock: systemClock, log: silentLog, sealing, queue });
    await queue.open();
    app = createShell({ log: silentLog, routes, unrouted: (_path, answer) => answer });
    baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    await app.close();
    await queue.close();
    await store.close();
  });

  /** Sends events as Stripe signs them, and waits until they are stored. */
  async function createSender() {
    const shop = await createShop(store);
    const parts = { sql: store.write, clock: systemClock, log: silentLog };
    const sourceId = pushSources.newId();
    const target = { shopId: shop.id, id: sourceId, actor: { who: 'command line' } };
    const vendor = { name: 'Stripe', scheme: 'stripe', given: secret, sealing } as const;
    assert.equal((await createSecret(pushSources, parts, target, vendor)).kind, 'created');
    const call = async (to: string, body = '', method = 'GET') => {
      const seconds = Math.floor(Date.now() / 1000);
      const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
      const response = await fetch(`${baseUrl}/ingest/v1/${sourceId}/${to}`, {
        method,
        headers: { 'stripe-signature': `t=${seconds},v1=${digest}` },
        ...(method === 'POST' && { body }),
      });
      return { status: response.status, body: (await response.json()) as WarnedBatch };
    };
    const send = async (...events: readonly object[]) => {
      const body = events.map((event) => JSON.stringify(event)).join('\n');
      const sent = await until(
        () => call('mapped/stripe-webhooks', body, 'POST'),
        ({ status }) => status !== 503,
      );
      assert.equal(sent.status, 202);
      const read = () => call(`batches/${sent.body.batchId}`);
      return (await until(read, ({ body: batch }) => batch.status === 'done')).body;
    };
    return { shop, send };
  }

  test('give the same as the objects, and say what they leave out', async () => {
    const { shop, send } = await createSender();
    // Only a table has lists as text.
    const cases = casesOf('USD').filter(({ case: name }) => name !== 'sync-engine-row-text');
    const wantedOf = (name: string) => expected.get(name) as Expected;
    const batch = await send(...cases.map(({ subscription }) => eventOf(subscription)));
    assert.deepEqual(batch.refused, []);
    for (const { case: name, subscription } of cases) {
      await checkCase(store, shop, subscription.id, wantedOf(name));
    }
    const all = cases.map(({ case: name, subscription }) => {
      return [subscription.id, wantedOf(name).warnings] as const;
    });
    const found = (batch.warnings ?? []).map(({ reason }) => reason);
    checkWarnings(found, all);
  });
});
