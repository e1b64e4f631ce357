import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/clock.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { type TestSource, createSource, credentialsKeys } from '../../test/push/world.ts';
import { type Visitor, signedInOwner } from '../../test/owner/visitor.ts';
import { line, plan, session, subscription } from '../../test/rest/records.ts';
import { freePort, startPostgres } from '../../test/support/postgres.ts';
import { createShop, createTestKey, importAll } from '../../test/support/world.ts';
import { secret as webhookSecret } from '../../test/webhooks/world.ts';
import { Instance } from '../instance.ts';
import { HealthProbe } from './health.ts';
import type { LongestStop } from './stops.ts';

/** A service whose event loop is watched, and everything that bodies are sent as. */
export interface Place {
  readonly instance: Instance;
  readonly baseUrl: string;
  readonly health: HealthProbe;
  readonly shopId: number;
  /** With all scopes and no rate limit. */
  readonly key: string;
  readonly keyId: string;
  readonly source: TestSource;
  /** The shop's at Shopify. */
  readonly domain: string;
  /** An owner's browser. */
  readonly owner: Visitor;
  /** How long the event loop stood still at most since the last question. */
  takeLongestStop(): Promise<LongestStop>;
}

const customers = { many: 501, others: 502 } as const;
const counts = { plans: 3_000, ofOneCustomer: 3_000, sessions: 1_000, lines: 250 } as const;

/**
 * @param deferred disposes of everything that was started, even after a failure
 * @param folder for the log of the service, and its files
 */
export async function openPlace(deferred: AsyncDisposableStack, folder: string): Promise<Place> {
  const server = await startPostgres(['fsync=off'], { isNew: true });
  if (!server) throw new Error('PostgreSQL is not installed.');
  deferred.defer(() => server.destroy());
  const store: Store = { ...connectAll(server.url), failed: new Promise(() => {}) };
  deferred.defer(() => store.close());
  await migrate(store.write);
  const shop = await createShop(store);
  const { refused } = await importAll(store, shop, largeShop());
  if (refused.length > 0) throw new Error(`The shop cannot be imported: ${refused[0]?.reason}`);
  const { key, id: keyId } = await createTestKey(store, shop.id);
  const source = await createSource(store, shop);

  const domain = `shop-${randomUUID()}.myshopify.com`;
  const credentials = path.join(folder, 'shopify.json');
  // Nothing listens there: only the service's answers to webhooks are of interest.
  const entry = {
    shop: shop.id,
    domain,
    accessToken: 'shpat_0123456789',
    baseUrl: 'http://127.0.0.1:9',
  };
  writeFileSync(credentials, JSON.stringify({ shops: [entry] }));
  const uploads = path.join(folder, 'uploads');
  mkdirSync(uploads);
  const stopsPort = await freePort();
  const instance = await Instance.start('one', folder, {
    DATABASE_URL: server.url,
    CREDENTIALS_KEY: credentialsKeys.map((each) => each.toString('base64')).join(),
    SHOPIFY_CLIENT_SECRET: webhookSecret,
    SHOPIFY_CREDENTIALS_FILE: credentials,
    SYNC: 'off',
    UPLOAD_DIR: uploads,
    LOG_LEVEL: 'warn',
    STOP_SECONDS: '2',
    NODE_OPTIONS: `--import ${fileURLToPath(new URL('./stops.ts', import.meta.url))}`,
    STOPS_PORT: String(stopsPort),
  });
  deferred.defer(() => instance.kill());
  const { baseUrl, pid } = instance;
  const { visitor: owner } = await signedInOwner({
    store,
    clock: systemClock,
    service: { baseUrl },
    shop,
  });
  const health = deferred.use(new HealthProbe(baseUrl, pid));
  return {
    instance,
    baseUrl,
    health,
    shopId: shop.id,
    key,
    keyId,
    source,
    domain,
    owner,
    async takeLongestStop() {
      const response = await fetch(`http://127.0.0.1:${stopsPort}`, {
        headers: { connection: 'close' },
      });
      return (await response.json()) as LongestStop;
    },
  };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Lists that are as long as a shop may have them, or longer than most. */
function largeShop(): object[] {
  return [
    ...upTo(counts.plans).map((id) => plan({ id })),
    subscription(1, {
      planId: 1,
      customerId: customers.others,
      lines: upTo(counts.lines).map((lineId) => ({ ...line, lineId })),
    }),
    ...upTo(counts.ofOneCustomer).map((id) =>
      subscription(id + 1, { planId: id, customerId: customers.many }),
    ),
    ...upTo(counts.sessions).map((id) => session(id, { subscriptionId: id })),
  ];
}
