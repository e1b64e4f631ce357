import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../src/clock.ts';
import { createLog } from '../../../src/log/log.ts';
import { postgres } from '../../../src/platforms/postgres/platform.ts';
import type { Store } from '../../../src/store/open.ts';
import {
  chargeStream,
  createSource,
  createTables,
  planStream,
  subscriptionStream,
} from '../../feeds/postgres/source.ts';
import { until } from '../../support/until.ts';
import { type ShopOptions, createShop, startTestService } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { type Page, signedInOwner } from '../visitor.ts';
import { syncDue } from './connecting.ts';

export const streams = [chargeStream, subscriptionStream, planStream];

interface PastingOptions extends ShopOptions {
  readonly credentialsKeys?: readonly Buffer[];
}

/** A service whose owners can connect their shops to a database of their own, and such an owner. */
export async function startPasting(store: Store, options: PastingOptions = {}) {
  const shop = await createShop(store, options);
  const source = await createSource();
  await createTables(source);
  const { credentialsKeys = [randomBytes(32)] } = options;
  const sourceNetworks = ['127.0.0.0/8', '::1'];
  const logLines: string[] = [];
  const log = createLog('debug', { write: (line) => void logLines.push(line) });
  const clock = systemClock;
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-test-uploads-'));
  const uploads = { folder, maxBytes: 1024 * 1024, heapMegabytes: 256 };
  const service = await startTestService(store, {
    clock,
    log,
    credentialsKeys,
    sourceNetworks,
    uploads,
  });
  const { visitor } = await signedInOwner({ store, clock, service, shop });
  const config = { platforms: {}, credentialsKeys, sourceNetworks, baseUrl: undefined };
  const sources = `/app/shops/${shop.id}/sources`;
  const at = `${sources}/postgres`;
  return {
    store,
    shop,
    source,
    service,
    visitor,
    logLines,
    credentialsKeys,
    /** The paths of the pages. */
    sources,
    form: `${at}/form`,
    check: `${at}/check`,
    /** The name of the shop's database. */
    account: `${new URL(source.url).hostname}:${new URL(source.url).port}/${source.name}`,
    sync: () => syncDue(postgres, { store, shopId: shop.id, config, clock, log }),
    async paste(fields: Readonly<Record<string, string>> = {}): Promise<Page> {
      await visitor.get(`${at}/form`);
      const given = { url: source.url, streams: JSON.stringify(streams), ...fields };
      return visitor.post(`${at}/form`, given);
    },
    /** The page of the check, once the rehearsal has ended. */
    async rehearsed(): Promise<Page> {
      let page = await visitor.get(`${at}/check`);
      await until(async () => {
        page = await visitor.get(`${at}/check`);
        return !page.text.includes('is being rehearsed');
      });
      return page;
    },
    async start(fields: Readonly<Record<string, string>> = {}): Promise<Page> {
      const { text } = await visitor.get(`${at}/check`);
      const version = /name="version" value="([^"]*)"/.exec(text)?.[1] ?? '';
      return visitor.post(`${at}/check`, { version, ...fields });
    },
    show: async (address: string) => plain((await visitor.get(address)).text),
    async close() {
      await service.close();
      await source.remove();
    },
  };
}

export type Pasting = Awaited<ReturnType<typeof startPasting>>;
