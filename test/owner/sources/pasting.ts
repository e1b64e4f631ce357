import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../src/clock.ts';
import { createLog } from '../../../src/log/log.ts';
import { postgres } from '../../../src/platforms/postgres/platform.ts';
import type { Platform } from '../../../src/platforms/platform.ts';
import type { Store } from '../../../src/store/open.ts';
import {
  chargeStream,
  createSource,
  createTables,
  planStream,
  subscriptionStream,
} from '../../feeds/postgres/source.ts';
import { until } from '../../support/until.ts';
import {
  type ServiceOptions,
  type ShopOptions,
  createShop,
  startTestService,
} from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { type Page, signedInOwner } from '../visitor.ts';
import { syncDue } from './connecting.ts';

export const streams = [chargeStream, subscriptionStream, planStream];

interface PastingOptions extends ShopOptions {
  readonly credentialsKeys?: readonly Buffer[];
  /** Whether first syncs are rehearsed, which takes seconds; true by default. */
  readonly rehearses?: boolean;
}

interface FormOptions extends PastingOptions, Pick<ServiceOptions, 'sourceNetworks' | 'uploads'> {
  /** Replaces the platform's address. */
  readonly baseUrl?: string;
}

/** A service whose owners connect a platform by a form, and such an owner. */
export async function openForm(store: Store, platform: Platform, options: FormOptions = {}) {
  const { credentialsKeys = [randomBytes(32)], sourceNetworks, uploads, baseUrl } = options;
  const shop = await createShop(store, options);
  const logLines: string[] = [];
  const log = createLog('debug', { write: (line) => void logLines.push(line) });
  const clock = systemClock;
  const settings = { ...standard, baseUrl };
  const platforms = baseUrl === undefined ? {} : { [platform.name]: settings };
  const shared = { platforms, credentialsKeys, ...(sourceNetworks && { sourceNetworks }) };
  const service = await startTestService(store, {
    clock,
    log,
    ...shared,
    ...(uploads && { uploads }),
  });
  const { visitor } = await signedInOwner({ store, clock, service, shop });
  const config = { ...shared, baseUrl: undefined };
  const sources = `/app/shops/${shop.id}/sources`;
  const form = `${sources}/${platform.name}/form`;
  return {
    store,
    shop,
    service,
    visitor,
    logLines,
    credentialsKeys,
    /** The paths of the pages. */
    sources,
    form,
    sync: () => syncDue(platform, { store, shopId: shop.id, config, clock, log }),
    async paste(fields: Readonly<Record<string, string>>): Promise<Page> {
      await visitor.get(form);
      return visitor.post(form, fields);
    },
    show: async (address: string) => plain((await visitor.get(address)).text),
  };
}

const standard = {
  credentialsFile: undefined,
  webhookSecrets: [],
  clientId: undefined,
  pointsShare: 1,
};

/** The same for a database of their own. */
export async function startPasting(store: Store, options: PastingOptions = {}) {
  const source = await createSource();
  await createTables(source);
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-test-uploads-'));
  const heapMegabytes = options.rehearses === false ? 120 : 256;
  const uploads = { folder, maxBytes: 1024 * 1024, heapMegabytes };
  const sourceNetworks = ['127.0.0.0/8', '::1'];
  const opened = await openForm(store, postgres, { ...options, sourceNetworks, uploads });
  const { service, sources, visitor, paste } = opened;
  const check = `${sources}/postgres/check`;
  return {
    ...opened,
    source,
    check,
    /** The name of the shop's database. */
    account: `${new URL(source.url).hostname}:${new URL(source.url).port}/${source.name}`,
    paste: (fields: Readonly<Record<string, string>> = {}) =>
      paste({ url: source.url, streams: JSON.stringify(streams), ...fields }),
    /** The page of the check, once the rehearsal has ended. */
    async rehearsed(): Promise<Page> {
      let page = await visitor.get(check);
      await until(async () => {
        page = await visitor.get(check);
        return !page.text.includes('is being rehearsed');
      });
      return page;
    },
    async start(fields: Readonly<Record<string, string>> = {}): Promise<Page> {
      const { text } = await visitor.get(check);
      const version = /name="version" value="([^"]*)"/.exec(text)?.[1] ?? '';
      return visitor.post(check, { version, ...fields });
    },
    async close() {
      await service.close();
      await source.remove();
    },
  };
}

export type Pasting = Awaited<ReturnType<typeof startPasting>>;
