import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../src/clock.ts';
import type { UploadConfig } from '../../../src/config/settings.ts';
import type { Store } from '../../../src/store/open.ts';
import { until } from '../../support/until.ts';
import { type ShopOptions, createShop, startTestService } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { type Page, type Visitor, signedInOwner } from '../visitor.ts';

/** A service with a folder of its own for uploaded files. */
export async function startUploads(
  store: Store,
  limits: Partial<Omit<UploadConfig, 'folder'>> = {},
) {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-test-uploads-'));
  const startWith = (at: string) =>
    startTestService(store, {
      clock: systemClock,
      // Too little for rehearsals, which take seconds: tests that need them say so.
      uploads: { folder: at, maxBytes: 1024 * 1024, heapMegabytes: 120, ...limits },
    });
  const start = () => startWith(folder);
  const service = await start();
  return {
    store,
    service,
    folder,
    /** Another instance, with the same folder. */
    start,
    startWith,
    /** The files of a shop that are in it. */
    filesOf: ({ id }: { readonly id: number }) =>
      readdirSync(folder).filter((name) => name.startsWith(`${id}-`)),
    async openShop(options: ShopOptions = {}, at = service) {
      const shop = await createShop(store, options);
      const { visitor, email } = await signedInOwner({
        store,
        clock: systemClock,
        service: at,
        shop,
      });
      const file = `/app/shops/${shop.id}/sources/file`;
      await visitor.get(`${file}/new`);
      return { shop, visitor, email, file };
    },
    async close() {
      await service.close();
      await store.close();
    },
  };
}

export type Uploads = Awaited<ReturnType<typeof startUploads>>;

export const uploadIdOf = ({ text }: Page) => /name="upload" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** The selects of a page, with the value that is chosen in each. */
export function questionsOf({ text }: Page): Record<string, string> {
  const found = [...text.matchAll(/<select[^>]*name="q:([^"]*)"[^>]*>(.*?)<\/select>/gs)];
  return Object.fromEntries(
    found.map(([, name = '', options = '']) => [
      plain(name),
      plain(/<option\s+value="([^"]*)"\s+selected/.exec(options)?.[1] ?? '?'),
    ]),
  );
}

/** What the columns of a page are taken for, by their names. */
export function usesOf({ text }: Page): Record<string, string> {
  const found = [
    ...text.matchAll(/<select name="c:\d+" aria-label="What “(.*?)” is">(.*?)<\/select>/gs),
  ];
  return Object.fromEntries(
    found.map(([, name = '', options = '']) => [
      plain(name),
      /<option value="([^"]*)"\s+selected/.exec(options)?.[1] ?? '',
    ]),
  );
}

/** The fields of a form that say what columns are. */
export function chooseColumns(page: Page, uses: Readonly<Record<string, string>>) {
  const names = Object.keys(usesOf(page));
  return Object.fromEntries(
    Object.entries(uses).map(([name, use]) => [`c:${names.indexOf(name)}`, use]),
  );
}

/** Presses "Import" on the page that previews a file. */
export async function pressImport(
  visitor: Visitor,
  file: string,
  shown: Page,
  fields: Readonly<Record<string, string>> = {},
): Promise<Page> {
  const answers = Object.entries(questionsOf(shown)).map(([id, value]) => [`q:${id}`, value]);
  return visitor.post(`${file}/answers`, {
    ...Object.fromEntries(answers),
    ...fields,
    upload: uploadIdOf(shown),
    action: 'import',
  });
}

/** The page with the result of an import that was begun. */
export async function resultOf(visitor: Visitor, file: string): Promise<Page> {
  let page = await visitor.get(file);
  await until(async () => {
    page = await visitor.get(file);
    return !/data-refresh/.test(page.text);
  });
  assert.equal(page.status, 200);
  return page;
}

export const plan = {
  type: 'plan',
  id: 1,
  name: 'Box',
  planType: 'subscription',
  intervalUnit: 'month',
  intervalCount: 1,
};

export const subscription = (id: number, planId = 1) => ({
  type: 'subscription',
  id,
  customerId: id,
  planId,
  status: 'active',
  createdAt: '2026-01-05T00:00:00Z',
  lines: [
    { lineId: 1, productId: 1, productTitle: '', variantId: 1, quantity: 1, currentPrice: '10.00' },
  ],
});

export const ndjson = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
