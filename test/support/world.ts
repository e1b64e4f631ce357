import { randomInt } from 'node:crypto';
import { createUnloggedKey } from '../../src/access/keys/keys.ts';
import { type Clock, FixedClock } from '../../src/clock.ts';
import type { Config } from '../../src/config/config.ts';
import { type ImportCounts, type ImportOptions, importRecords } from '../../src/ingest/import.ts';
import type { Line } from '../../src/ingest/lines.ts';
import type { Snapshot } from '../../src/ingest/snapshot.ts';
import { createLog, type Log } from '../../src/log/log.ts';
import { minorDigitsOf } from '../../src/money.ts';
import type { Backoff } from '../../src/platforms/backoff.ts';
import type { PlatformConfig } from '../../src/config/platform-config.ts';
import type { RestVersion } from '../../src/operations/versions.ts';
import { type Service, type ServiceParts, startService } from '../../src/service.ts';
import { connectAll, type Store } from '../../src/store/open.ts';
import { insertShop } from '../../src/store/shops.ts';
import { checkAnswer } from './openapi-check.ts';
import { type Scope, scopes as allScopes, type Tier } from '../../src/vocabulary.ts';
import { serverUrl, shareStore } from './databases.ts';

export const now = '2026-11-20T12:00:00.000Z';
export const silentLog: Log = createLog(process.env['TEST_LOG'] ?? 'silent');

export interface ShopOptions {
  readonly tier?: Tier;
  readonly currency?: string;
}

/** Creates a shop with a unique id. */
export async function createShop(
  store: Store,
  { tier = 'enterprise_plus', currency = 'USD' }: ShopOptions = {},
) {
  const shop = {
    id: randomInt(1, 2 ** 47),
    name: 'Test',
    tier,
    currency,
    createdAt: new Date(now),
  };
  await insertShop(store.write, shop);
  return { ...shop, minorDigits: minorDigitsOf(currency) ?? 2 };
}

export type TestShop = Awaited<ReturnType<typeof createShop>>;

export async function createTestKey(
  store: Store,
  shopId: number,
  scopes: readonly Scope[] = allScopes,
) {
  return createUnloggedKey(store.write, shopId, {
    name: 'test',
    scopes,
    createdBy: 'test',
    createdAt: new Date(now),
  });
}

export interface Imported {
  readonly counts: ImportCounts;
  readonly refused: readonly { line: number; reason: string }[];
}

/**
 * Imports records (objects or lines) in one run, as from a file or a feed.
 * @param clock the importer's
 */
export async function importAll(
  store: Store,
  shop: TestShop,
  records: readonly (object | string)[],
  isFromFeed = false,
  clock: Clock = new FixedClock(now),
): Promise<Imported> {
  return importLines(store, shop, records, { isFromFeed, clock });
}

/** The same for an input that has everything of some types. */
export async function importSnapshot(
  store: Store,
  shop: TestShop,
  records: readonly (object | string)[],
  snapshot: Snapshot,
  options: Partial<ImportOptions> = {},
): Promise<Imported> {
  return importLines(store, shop, records, { snapshot, ...options });
}

async function importLines(
  store: Store,
  shop: TestShop,
  records: readonly (object | string)[],
  options: Partial<ImportOptions>,
): Promise<Imported> {
  const refused: { line: number; reason: string }[] = [];
  const lines = records.map((record, index): Line => ({
    number: index + 1,
    text: typeof record === 'string' ? record : JSON.stringify(record),
  }));
  async function* source() {
    yield lines;
  }
  const counts = await importRecords([{ name: 'test', lines: source() }], {
    sql: store.write,
    shop,
    feed: 'records',
    clock: new FixedClock(now),
    log: silentLog,
    ...options,
    refuse: (_source, line, reason) => void refused.push({ line: line.number, reason }),
  });
  return { counts, refused };
}

export interface ServiceOptions {
  readonly clock?: Clock;
  readonly versions?: readonly RestVersion[];
  readonly log?: Log;
  readonly redisUrl?: string;
  readonly redisTimeoutMilliseconds?: number;
  readonly telemetry?: Partial<Pick<Config, 'metricsPort' | 'tracing'>>;
  readonly listen?: Partial<
    Pick<Config, 'port' | 'baseUrl' | 'trustedProxies' | 'securityContact'>
  >;
  readonly shopify?: Partial<PlatformConfig>;
  readonly credentialsKeys?: readonly Buffer[];
  readonly sourceNetworks?: readonly string[];
  readonly sso?: Config['sso'];
  readonly localPasswords?: boolean;
  readonly resolveTxt?: ServiceParts['resolveTxt'];
  readonly platforms?: Config['platforms'];
  readonly backoff?: Backoff | undefined;
  readonly uploads?: Config['uploads'];
  readonly mail?: Config['mail'];
  readonly secretScanningKeysUrl?: string | undefined;
  readonly requiresSecondFactor?: boolean;
}

// One thread of the embedded database serves all files that run at the same time.
const anyTarget = (serverUrl ?? process.env['TEST_EMBEDDED']) as string;

/** A store for tests of code that is the same on every database. */
export const openAnyStore = (): Store => shareStore(anyTarget);

/** The same with connections of its own, for a test that closes them under a service. */
export const openOwnStore = (): Store => connectAll(anyTarget);

/** Starts the whole service on a free port. */
export async function startTestService(
  store: Store,
  options: ServiceOptions = {},
): Promise<Service> {
  return startService({
    config: {
      host: '127.0.0.1',
      port: 0,
      metricsHost: '127.0.0.1',
      baseUrl: undefined,
      redisUrl: options.redisUrl,
      ...options.listen,
      ...options.telemetry,
      ...(options.uploads && { uploads: options.uploads }),
      mail: options.mail,
      secretScanningKeysUrl: options.secretScanningKeysUrl,
      requiresSecondFactor: options.requiresSecondFactor ?? false,
      credentialsKeys: options.credentialsKeys ?? [],
      sourceNetworks: options.sourceNetworks ?? [],
      sso: options.sso,
      localPasswords: options.localPasswords ?? true,
      platforms: {
        shopify: {
          credentialsFile: undefined,
          webhookSecrets: [],
          clientId: undefined,
          baseUrl: undefined,
          pointsShare: 0.5,
          ...options.shopify,
        },
        ...options.platforms,
      },
    },
    store,
    clock: options.clock ?? new FixedClock(now),
    log: options.log ?? silentLog,
    ...(options.versions && { versions: options.versions }),
    redisTimeoutMilliseconds: options.redisTimeoutMilliseconds,
    backoff: options.backoff,
    resolveTxt: options.resolveTxt,
  });
}

/** A service, with a frozen clock unless given another, and one shop with a key that has all scopes. */
export async function startWorld<C extends Clock = FixedClock>(
  store: Store,
  options: ShopOptions & ServiceOptions & { readonly clock?: C } = {},
) {
  const clock: C | FixedClock = options.clock ?? new FixedClock(now);
  const shop = await createShop(store, options);
  const { id: keyId, key } = await createTestKey(store, shop.id);
  const service = await startTestService(store, { ...options, clock });
  return {
    store,
    clock,
    service,
    /** The base path of the first version. */
    base: `${service.baseUrl}/api/external/v1`,
    shop,
    keyId,
    key,
    async close() {
      await service.close();
      await store.close();
    },
  };
}

export type World<C extends Clock = FixedClock> = Awaited<ReturnType<typeof startWorld<C>>>;

/** Sends a GET with a key; parses the body as JSON and checks it against the contract. */
export async function get(url: string, key?: string) {
  const response = await fetch(
    url,
    key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } },
  );
  const { status, headers } = response;
  const text = await response.text();
  checkAnswer(new URL(url).pathname, status, headers.get('content-type') ?? '', text);
  return { status, headers, body: JSON.parse(text) };
}
