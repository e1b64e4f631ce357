import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { plan, subscription } from '../rest/records.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import { type World, importAll, openAnyStore, startWorld } from '../support/world.ts';
import { inspect, openSignedIn } from './inspect.ts';

const customer = deriveId('customer', 'cus_Ab1');

describe('the owner’s search in a browser', { skip: browserMissing }, () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    world = await startWorld(openAnyStore());
    browser = await shareBrowser();
    const records = [
      plan(),
      ...Array.from({ length: 60 }, (_, index) => subscription(1001 + index, { customerId: 501 })),
      subscription(2001, { customerId: customer, sourceIds: { customerId: 'cus_Ab1' } }),
    ];
    assert.deepEqual((await importAll(world.store, world.shop, records, true)).refused, []);
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  /** The overview, in a new browser context. */
  async function overview(javaScriptEnabled = true) {
    const opened = await openSignedIn(browser, world, world.shop, javaScriptEnabled);
    await opened.page.goto(`${world.service.baseUrl}/app/shops/${world.shop.id}`);
    return opened;
  }

  test('finds one customer by the platform’s id, in two clicks from the overview', async () => {
    const { page, context, problems } = await overview();
    await page.getByRole('link', { name: 'Search' }).click();
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await dialog.getByRole('link', { name: 'Cancel flow' }).waitFor();
    await inspect(page, 'search-dialog');
    await page.keyboard.type('cus_Ab1');
    await dialog.getByText('1 result').waitFor();
    await dialog
      .getByRole('link', {
        name: `Customer cus_Ab1 1 subscription, 1 entitled now · number here ${customer}`,
      })
      .click();
    await page.getByRole('heading', { name: 'Customer cus_Ab1' }).waitFor();
    await page.getByRole('link', { name: '2001' }).first().waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('opens with Ctrl+K and ⌘K, is used by keyboard alone, and closes with Escape', async () => {
    const { page, context, problems } = await overview();
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const opener = page.getByRole('link', { name: 'Search' });
    await opener.focus();
    for (const keys of ['Control+k', 'Meta+k']) {
      await page.keyboard.press(keys);
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      assert.equal(await opener.evaluate('document.activeElement.className'), 'search');
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.type('create key');
    await dialog.getByText('1 result', { exact: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate('document.activeElement.textContent.trim()'), 'Create key');
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.evaluate('document.activeElement.id'), 'search-field');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Create key' }).waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('opens the only result with Enter, and else the page that lists them', async () => {
    const { page, context, problems } = await overview();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('cus_Ab1');
    // Does not wait for the results that are shown while typing.
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Customer cus_Ab1' }).waitFor();
    // Its script.
    await page.waitForLoadState();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('key');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Search' }).waitFor();
    await page.getByRole('link', { name: 'Create key' }).waitFor();
    await page.waitForLoadState();
    // It does something, which a link does not.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('sign out');
    await page.keyboard.press('Enter');
    await page.waitForURL(/search\?q=sign\+out$/);
    await page.getByRole('listitem').getByRole('button', { name: 'Sign out' }).waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('stays where it is if it is closed before what Enter asked for has come', async () => {
    const { page, context, problems } = await overview();
    const home = page.url();
    const answered = page.waitForEvent('requestfinished', (each) => each.url().endsWith('q='));
    await page.route(/q=1001/, async (route) => {
      await answered;
      await route.continue().catch(() => {});
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('1001');
    await page.keyboard.press('Enter');
    // The first clears the field, which looks for everything again.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await answered;
    await page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'hidden' });
    await page.waitForLoadState('networkidle');
    assert.equal(page.url(), home);
    assert.deepEqual(problems, []);
    await context.close();
  });

  for (const hasScripts of [true, false]) {
    test(`signs out from a result, ${hasScripts ? 'with' : 'without'} scripts`, async () => {
      const { page, context } = await overview(hasScripts);
      await page.getByRole('link', { name: 'Search' }).click();
      await page.getByLabel('Search by number or id').fill('sign out');
      if (!hasScripts) await page.getByRole('button', { name: 'Search' }).click();
      const results = page.locator('.results');
      await results.getByRole('listitem').nth(1).waitFor({ state: 'detached' });
      await results.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      await context.close();
    });
  }

  test('knows the files of the page that it is opened on', async () => {
    const { page, context, problems } = await overview();
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('csv');
    const files = dialog.getByRole('link', { name: 'Download CSV' });
    await files.first().waitFor();
    const labels = await files.allTextContents();
    assert.ok(labels.length > 1 && new Set(labels).size === labels.length, labels.join(', '));
    assert.ok(labels.includes('Download CSV: Overview'));
    const download = page.waitForEvent('download');
    await page.keyboard.type(' new and');
    // Until the results of what was typed first are gone.
    await dialog.locator('.results li').nth(1).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.match((await download).suggestedFilename(), /\.csv$/);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('is a page without scripts', async () => {
    const { page, context, problems } = await overview(false);
    await page.getByRole('link', { name: 'Search' }).click();
    await page.getByRole('heading', { name: 'Search' }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.getByLabel('Search by number or id').fill('cus_Ab1');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'Customer cus_Ab1' }).click();
    await page.getByRole('link', { name: '2001' }).first().waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('is accessible as a page, and is left out on paper', async () => {
    const { page, context } = await overview();
    await page.goto(`${page.url()}/search?q=cus_none`);
    await inspect(page, 'search');
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.getByRole('link', { name: 'Search' }).isVisible(), false);
    assert.equal(await page.getByRole('navigation', { name: 'Main' }).isVisible(), false);
    for (const path of ['', '/subscriptions', '/cohorts']) {
      await page.goto(page.url().replace(/(\/shops\/\d+).*/, `$1${path}`));
      const controls = page.locator('main').locator('.periods, .filters, select, input, button');
      const shown = await controls.evaluateAll((all) =>
        all.filter((each) => each.checkVisibility()),
      );
      assert.equal(shown.length, 0, path);
    }
    await context.close();
  });
});
