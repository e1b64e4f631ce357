import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { generateShop } from '../../src/demo/generate.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import {
  type TestShop,
  type World,
  createShop,
  importAll,
  now,
  openAnyStore,
  startWorld,
} from '../support/world.ts';
import { follow, inspect, inspectRightToLeft, openSignedIn } from './inspect.ts';

describe('the recovery page in a browser', { skip: browserMissing }, () => {
  let world: World;
  let browser: Browser;
  let demo: TestShop;
  before(async () => {
    world = await startWorld(openAnyStore());
    browser = await shareBrowser();
    demo = await createShop(world.store, { currency: 'EUR' });
    const options = { subscriptions: 600, seed: 7, currency: 'EUR', minorDigits: 2 };
    await importAll(world.store, demo, [...generateShop({ ...options, endAt: Date.parse(now) })]);
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  async function open(shop: TestShop, hasScripts = true) {
    const opened = await openSignedIn(browser, world, shop, hasScripts);
    await opened.page.goto(`${world.service.baseUrl}/app/shops/${shop.id}`);
    return opened;
  }
  const rows = (page: Page) => page.locator('table.rows tbody tr');

  test('shows figures and lists accessibly, at any width and in any colour scheme', async () => {
    const { context, page, problems } = await open(demo);
    await page.setViewportSize({ width: 1440, height: 800 });
    await follow(page.getByRole('link', { name: 'Recovery', exact: true }));
    await page.getByText('outstanding now,').waitFor();
    await inspect(page, 'recovery');
    await page.goto(`${page.url()}/open`);
    await inspect(page, 'recovery-open');
    await page.goto(page.url().replace('/open', '/closed?days=90&attempts=2%2B'));
    await inspect(page, 'recovery-closed');
    await inspectRightToLeft(page);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('leads from a bar and from a number to their rows', async () => {
    const { context, page, problems } = await open(demo);
    await page.setViewportSize({ width: 1280, height: 2000 });
    await follow(page.getByRole('link', { name: 'Recovery', exact: true }));
    const ended = page
      .locator('section.chart:has(#recovery-codes) tbody tr')
      .first()
      .locator('td a')
      .first();
    const count = Number(await ended.innerText());
    await ended.click();
    await page.waitForURL('**/recovery/closed?*');
    assert.equal(await rows(page).count(), count);
    await follow(page.locator('.breadcrumb a'));

    const chart = page.locator('figure:has(#recovered)');
    await chart.getByRole('link', { name: 'Table' }).click();
    const day = chart
      .locator('tbody tr', { has: page.locator('td:nth-of-type(1):not(:text-is("0"))') })
      .first();
    await day.waitFor();
    const [recovered = '', gone = ''] = await day.locator('td').allInnerTexts();
    await day.locator('a').click();
    await page.waitForURL('**/recovery/closed?*');
    assert.equal(await rows(page).count(), Number(recovered) + Number(gone));
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('opens the customer or the subscription of a row, also without scripts', async () => {
    const { context, page } = await open(demo, false);
    await page.setViewportSize({ width: 1280, height: 1200 });
    await follow(page.getByRole('link', { name: 'Recovery', exact: true }));
    await follow(page.locator('table.rows thead').getByRole('link', { name: 'Amount' }));
    await rows(page).first().locator('td a').click();
    await page.waitForURL('**/customers/*');
    await page.goBack();
    // Anywhere in the row except on its links.
    await rows(page)
      .first()
      .click({ position: { x: 300, y: 8 } });
    await page.getByRole('heading', { name: /^Subscription \d+$/ }).waitFor();
    await context.close();
  });

  test('explains itself in an empty shop', async () => {
    const { context, page } = await open(await createShop(world.store));
    await page.setViewportSize({ width: 1440, height: 800 });
    await follow(page.getByRole('link', { name: 'Recovery', exact: true }));
    await page.getByText('No payments yet').waitFor();
    await inspect(page, 'recovery-empty');
    await context.close();
  });
});
