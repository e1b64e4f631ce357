import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { type Clock, systemClock } from '../../../src/clock.ts';
import type { PlatformConfig } from '../../../src/config/platform-config.ts';
import { type Log, createLog } from '../../../src/log/log.ts';
import {
  type PlatformsConfig,
  appOf,
  createConnections,
  openPlatform,
} from '../../../src/platforms/open.ts';
import type { Platform } from '../../../src/platforms/platform.ts';
import { type Backoff, realBackoff } from '../../../src/platforms/backoff.ts';
import { shopify } from '../../../src/platforms/shopify/platform.ts';
import { syncUntilIdle } from '../../../src/platforms/sync/scheduler.ts';
import type { Store } from '../../../src/store/open.ts';
import { findConnection } from '../../../src/store/feeds/platforms.ts';
import { ShopLocks } from '../../../src/store/locks.ts';
import { startStandIn } from '../../feeds/shopify/stand-in.ts';
import { sampleWorld } from '../../feeds/shopify/stand-in-world.ts';
import { type ShopOptions, createShop, startTestService } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { type Page, type Visitor, signedInOwner } from '../visitor.ts';

export interface ConnectingOptions extends ShopOptions {
  readonly shopify?: Partial<PlatformConfig>;
  readonly credentialsKeys?: readonly Buffer[];
  /** Between the service's attempts to ask Shopify. */
  readonly backoff?: Backoff;
  /** Whether the operator has connected the shop. */
  readonly isOperated?: boolean;
}

/** For a suite: opens the store before its tests, and closes it and what they have started afterwards. */
export function connectingShops(open: () => Store) {
  const started: Connecting[] = [];
  let opened: Store;
  before(() => {
    opened = open();
  });
  after(async () => {
    for (const each of started) await each.close();
    await opened.close();
  });
  return {
    get store() {
      return opened;
    },
    async start(options: ConnectingOptions = {}) {
      const connecting = await startConnecting(opened, options);
      started.push(connecting);
      return connecting;
    },
  };
}

/** A service whose owners can connect their shops to a stand-in for Shopify, and such an owner. */
export async function startConnecting(store: Store, options: ConnectingOptions = {}) {
  const shop = await createShop(store, options);
  // An account belongs to one shop, and tests share a database.
  const domain = `shop-${shop.id}.myshopify.com`;
  const world = sampleWorld();
  world.shop.myshopifyDomain = domain;
  const standIn = await startStandIn(world);
  const { tokens, baseUrl } = standIn;
  const platform: PlatformConfig = {
    credentialsFile: options.isOperated
      ? writeCredentials({ standIn, domain }, shop.id)
      : undefined,
    webhookSecrets: [tokens.clientSecret, tokens.olderSecret],
    clientId: tokens.clientId,
    baseUrl,
    pointsShare: 0.5,
    ...options.shopify,
  };
  const { credentialsKeys = [randomBytes(32)] } = options;
  const logLines: string[] = [];
  const log = createLog('debug', { write: (line) => void logLines.push(line) });
  const clock = systemClock;
  const service = await startTestService(store, {
    clock,
    log,
    shopify: platform,
    credentialsKeys,
    backoff: options.backoff,
  });
  const { visitor, email } = await signedInOwner({ store, clock, service, shop });

  const config = { platforms: { shopify: platform }, credentialsKeys, baseUrl: undefined };
  const sync = () => syncDue(shopify, { store, shopId: shop.id, config, clock, log });

  return {
    store,
    standIn,
    service,
    shop,
    domain,
    email,
    visitor,
    logLines,
    sync,
    /** The path of the page. */
    path: `/app/shops/${shop.id}/sources`,
    credentialsKeys,
    async close() {
      await service.close();
      await standIn.close();
    },
  };
}

interface DueParts {
  readonly store: Store;
  readonly shopId: number;
  readonly config: PlatformsConfig;
  readonly clock: Clock;
  readonly log: Log;
}

/** What `serve` does for all shops, for one: syncs it if it is due. */
export async function syncDue(
  platform: Platform,
  { store, shopId, config, clock, log }: DueParts,
): Promise<void> {
  const { signal } = new AbortController();
  const opened = await openPlatform(platform, { config, clock, log, signal });
  const shops = {
    list: async (sql: Store['write']) =>
      (await opened.shops.list(sql)).filter((each) => each.shop === shopId),
  };
  const dataDir = mkdtempSync(path.join(tmpdir(), 'retention-locks-'));
  const locks = new ShopLocks(store.write, { databaseUrl: undefined, dataDir });
  // The stand-in is never busy, and has its results at once.
  const backoff = { ...realBackoff, wait: async () => {} };
  const { sourceNetworks } = config;
  const app = appOf(config.platforms[platform.name]);
  const connectionTo = createConnections(opened.code, {
    app,
    sourceNetworks,
    clock,
    log,
    signal,
    backoff,
  });
  const leftAlone = new Map<number, number>();
  const parts = { ...opened, connectionTo, shops, store, locks, leftAlone, clock, log, signal };
  await syncUntilIdle({
    ...parts,
    backoff: realBackoff,
    intervalSeconds: 120,
    linesPerTransaction: undefined,
  });
}

export type Connecting = Awaited<ReturnType<typeof startConnecting>>;

/** Writes a credentials file by which the operator connects a shop. @returns its path */
export function writeCredentials(
  { standIn, domain }: Pick<Connecting, 'standIn' | 'domain'>,
  shop: number,
  file = path.join(mkdtempSync(path.join(tmpdir(), 'retention-credentials-')), 'shops.json'),
): string {
  const { accessToken, baseUrl } = standIn;
  writeFileSync(file, JSON.stringify({ shops: [{ shop, domain, accessToken, baseUrl }] }));
  return file;
}

/** Connects the shop. @returns the path by which Shopify sent the owner back */
export async function connect(connecting: Connecting): Promise<string> {
  const { visitor, domain, path: sources } = connecting;
  const back = await agree(visitor, connecting, domain);
  assert.equal((await visitor.get(back)).location, `${sources}?done=connected`);
  return back;
}

/** A sync that is due now, and was fine so far. */
export function due() {
  return {
    dueAt: new Date(),
    failures: 0,
    problem: null,
    refusedAt: null,
    refusedVersion: null,
  };
}

/** What is stored of the shop's connection. */
export function findStored({ store, shop }: Connecting) {
  return findConnection(store.write, shop.id, 'shopify');
}

/** Checks that nothing was connected, and why. */
export async function assertRefused(
  connecting: Connecting,
  page: Page,
  reason: RegExp,
): Promise<void> {
  assert.equal(page.status, 422, page.text);
  assert.match(plain(page.text), reason);
  assert.equal(await findStored(connecting), undefined);
}

/** The text of a page. */
export async function show(visitor: Visitor, at: string): Promise<string> {
  return plain((await visitor.get(at)).text);
}

/** Goes to Shopify and agrees. @returns the path by which Shopify sends the owner back */
export async function agree(
  visitor: Visitor,
  { path: sources }: Pick<Connecting, 'path'>,
  account: string,
): Promise<string> {
  const { text } = await visitor.get(
    `${sources}/shopify/connect?account=${encodeURIComponent(account)}`,
  );
  const asked = linkOf(text, 'Continue to Shopify');
  const page = await fetch(asked).then((response) => response.text());
  const back = new URL(linkOf(page, 'Install app'));
  return back.pathname + back.search;
}

/** Where a page's link leads. */
export function linkOf(page: string, label: string): string {
  const link = new RegExp(`<a [^>]*href="([^"]+)"[^>]*>\\s*${label}\\s*</a`).exec(page)?.[1];
  if (link === undefined) throw new Error(`There is no link "${label}" in ${page}`);
  return link.replaceAll('&amp;', '&');
}
