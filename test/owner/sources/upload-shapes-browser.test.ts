import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { openAnyStore } from '../../support/world.ts';
import { inspect, openOwnerPage } from '../inspect.ts';
import { type Uploads, startUploads } from './upload-world.ts';

/** Two customers have two subscriptions each, and only their addresses tell them apart. */
const addresses = [
  'Email,Plan,Status,Start date,Cancelled at,Monthly price',
  'ana@example.com,Basic,active,2024-01-13,,$9.00',
  'ana@example.com,Pro,active,2024-02-14,,$29.00',
  'ben@example.com,Basic,active,2024-03-15,,$9.00',
  'ben@example.com,Pro,cancelled,2024-03-16,2025-05-17,$29.00',
  'cleo@example.com,Pro,paused,2024-04-18,,$29.00',
  ...Array.from({ length: 15 }, (_, i) => `d${i}@example.com,Basic,active,2024-05-19,,$9.00`),
];

describe('a file of another shape, in a browser', { skip: browserMissing }, () => {
  let browser: Browser;
  let world: Uploads;
  before(async () => {
    browser = await shareBrowser();
    // Enough for rehearsals.
    world = await startUploads(openAnyStore(), { heapMegabytes: 256 });
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  // `upload-shapes.test.ts` has others.
  test('gives the right figures without help', async () => {
    const { shop, visitor } = await world.openShop({ currency: 'USD' });
    const { baseUrl: url } = world.service;
    const figures = { mrr: '$182.00', activeSubscribers: '17' };
    const { context, page, problems } = await openOwnerPage(browser, [url]);
    await context.addCookies(
      [...visitor.cookies].map(([key, value]) => ({ name: key, value, url })),
    );
    const chosen = path.join(world.folder, 'members.csv');
    writeFileSync(chosen, addresses.join('\n'));
    const valueAfter = async (figure: string) =>
      (await page.getByRole('row').filter({ hasText: figure }).first().innerText()).split(/\t|\n/);

    await page.goto(`${url}/app/shops/${shop.id}/sources/file/new`);
    await page.getByLabel('File').setInputFiles(chosen);
    await page.getByRole('button', { name: 'Upload and check' }).click();
    await page.getByRole('heading', { name: 'Check before importing' }).waitFor();
    // The rehearsal is shown when it is done.
    await page.getByRole('columnheader', { name: 'After' }).waitFor();
    await inspect(page, 'upload-addresses-check');
    assert.equal((await valueAfter('Monthly recurring revenue')).at(-1), figures.mrr);
    assert.equal((await valueAfter('Active subscribers')).at(-1), figures.activeSubscribers);

    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByText('The file was imported').waitFor();
    await inspect(page, 'upload-addresses-result');
    assert.match(await page.locator('main').innerText(), /Subscriptions\s+20\s+0\s/);
    assert.equal((await valueAfter('Monthly recurring revenue')).at(-1), figures.mrr);
    await page.getByRole('link', { name: 'See the overview' }).click();
    for (const [figure, value] of Object.entries(figures)) {
      assert.equal(await page.locator(`[data-figure=${figure}]`).innerText(), value);
    }
    assert.deepEqual(problems, []);
    await context.close();
  });
});
