import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { inspect, inspectText, openOwnerPage, painted, watchShifts } from '../owner/inspect.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { pagePaths } from './serving.ts';

describe('the documentation in a browser', { skip: browserMissing }, () => {
  let world: World;
  let baseUrl: string;
  let browser: Browser;
  before(async () => {
    world = await startWorld(openAnyStore());
    ({ baseUrl } = world.service);
    browser = await shareBrowser();
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });
  const open = async (path: string, hasScripts = true) => {
    const opened = await openOwnerPage(browser, [baseUrl], hasScripts);
    await opened.page.goto(baseUrl + path);
    return opened;
  };

  /** The languages of the examples that are shown. */
  const shownLanguages = (page: Page) =>
    page
      .locator('.example .code:visible')
      .evaluateAll((blocks) => [...new Set(blocks.map((each) => each.dataset['language']))]);

  test('is accessible and fits every screen, page by page', async () => {
    const { context, page, problems } = await open('/docs');
    for (const path of pagePaths) {
      await page.goto(baseUrl + path);
      const name = path.slice(1).replace('/', '-');
      if (path === '/docs' || path === '/docs/quick-start') {
        await inspect(page, name, ['light', 'dark']);
      } else {
        await inspectText(page, name);
      }
    }
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('moves nothing while a page arrives', async () => {
    const { context, page } = await open('/docs');
    await context.addInitScript(watchShifts);
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      for (const path of ['/docs', '/docs/quick-start', '/docs/limits']) {
        await page.goto(baseUrl + path);
        await page.evaluate(painted);
        assert.deepEqual(await page.evaluate('shifts'), [], `${path} at ${width} px`);
      }
    }
    await context.close();
  });

  test('finds sections while typing, by keyboard', async () => {
    const { context, page, problems } = await open('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('retry-after 429');
    await page
      .getByRole('status')
      .filter({ hasText: /^\d+ results?$/ })
      .waitFor();
    await page.getByRole('link', { name: /^At the limit · Limits/ }).waitFor();
    await inspect(page, 'docs-search');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.found').isVisible(), false);

    await page.getByRole('searchbox').fill('customeridof');
    await page.locator('.found li:first-child a[href$="#customeridof"]').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('.found a:focus').waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/ids#customeridof');

    await page.getByRole('searchbox').fill('xyzzy');
    await page.getByText('No results. Try fewer or other words.').waitFor();
    await page.getByRole('searchbox').fill('retry-after 429');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^\d+ results for/ }).waitFor();
    await inspect(page, 'docs-results');
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('shows all examples in the chosen language, also on other pages, and copies them', async () => {
    const { context, page, problems } = await open('/docs/quick-start');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    assert.deepEqual(await shownLanguages(page), ['sh']);
    await page.getByRole('radio', { name: 'Python' }).first().check();
    assert.deepEqual(await shownLanguages(page), ['python']);
    await page.goto(`${baseUrl}/docs/entitlements`);
    assert.deepEqual(await shownLanguages(page), ['python']);

    await page.goto(`${baseUrl}/docs/versions`);
    await page.locator('.code:visible').first().getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    assert.match(copied, /^import os, urllib\.request\n/);
    assert.equal(copied, await page.locator('.code:visible code').first().textContent());
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('works without scripts: navigation, contents, languages and search', async () => {
    const { context, page, problems } = await open('/docs/quick-start', false);
    assert.equal(await page.getByRole('button', { name: 'Copy' }).count(), 0);
    await page.getByRole('radio', { name: 'JavaScript' }).first().check();
    assert.deepEqual((await shownLanguages(page)).toSorted(), ['js', 'sh']);
    await page.getByRole('link', { name: 'Check a customer' }).last().click();
    await page.waitForURL('**/docs/quick-start#check-a-customer');
    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByText('All pages').click();
    await page.getByRole('link', { name: 'Paging', exact: true }).first().click();
    await page.waitForURL('**/docs/paging');
    await page.getByRole('link', { name: 'Next Limits' }).click();
    await page.waitForURL('**/docs/limits');
    await page.getByRole('searchbox').fill('retry-after 429');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/search?q=retry-after+429');
    await page.getByRole('heading', { name: /^\d+ results for/ }).waitFor();
    await page.getByRole('link', { name: 'At the limit · Limits' }).click();
    await page.waitForURL('**/docs/limits#at-the-limit');
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('leads from the addresses of the reference when it was one page', async () => {
    const { context, page, problems } = await open('/docs#selling-plans');
    await page.waitForURL('**/docs/reference/selling-plans');
    await page.goto('about:blank');
    await page.goto(`${baseUrl}/docs#errors`);
    await page.waitForURL('**/docs/reference#errors');
    await page.goto('about:blank');
    await page.goto(`${baseUrl}/docs#all-pages`);
    await page.evaluate(painted);
    assert.equal(page.url(), `${baseUrl}/docs#all-pages`);
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('is a page with a way on where no page exists', async () => {
    const { context, page } = await open('/docs/quickstart');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await inspect(page, 'docs-not-found');
    await page.getByRole('main').getByRole('link', { name: 'Quick start' }).click();
    await page.waitForURL('**/docs/quick-start');
    await context.close();
  });

  test('leads owners to the console', async () => {
    const { visitor } = await signedInOwner(world);
    const { context, page } = await open('/docs');
    assert.equal(await page.getByRole('link', { name: 'Sign in' }).isVisible(), true);
    const cookies = [...visitor.cookies].map(([name, value]) => ({ name, value, url: baseUrl }));
    await context.addCookies(cookies);
    await page.reload();
    const link = page.getByRole('link', { name: 'Console' });
    assert.equal(await link.getAttribute('href'), `/app/shops/${world.shop.id}/developers`);
    await inspect(page, 'docs-owner');
    await context.close();
  });
});
