import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Store } from '../../../src/store/open.ts';
import { upsertSyncState } from '../../../src/store/feeds/platforms.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { openAnyStore } from '../../support/world.ts';
import { type Connecting, type ConnectingOptions, due, startConnecting } from './connecting.ts';
import { follow, inspect, openOwnerPage } from '../inspect.ts';

describe('connecting a shop in a browser', { skip: browserMissing }, () => {
  let store: Store;
  let browser: Browser;
  const started: Connecting[] = [];
  before(async () => {
    store = openAnyStore();
    browser = await shareBrowser();
  });
  after(async () => {
    await leaveBrowser();
    for (const each of started) await each.close();
    await store.close();
  });

  async function start(options: ConnectingOptions = {}) {
    const connecting = await startConnecting(store, options);
    started.push(connecting);
    await store.write`
      update shops set name = 'Kaffee & Kuchen' where shop_id = ${connecting.shop.id}`;
    return connecting;
  }

  /** The owner's browser. */
  async function openBrowser(connecting: Connecting, javaScriptEnabled = true) {
    const { service, standIn, visitor } = connecting;
    const { baseUrl: url } = service;
    const places = [url, standIn.baseUrl];
    const { context, page, problems } = await openOwnerPage(browser, places, javaScriptEnabled);
    // What loads again cannot be inspected.
    if (javaScriptEnabled) await page.addInitScript('setInterval = () => 0');
    await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url })));
    return { context, page, problems, goto: (at: string) => page.goto(url + at) };
  }

  /** Checks a page as `inspect` does, and on the narrowest phones, where all of the navigation must fit. */
  async function inspectAll(page: Page, name: string): Promise<void> {
    await inspect(page, name);
    await page.setViewportSize({ width: 320, height: 640 });
    const sizes = `(() => {
      const links = [...document.querySelectorAll('nav .bar :is(a, button)')];
      const texts = links.map((link) => link.querySelector('span').getBoundingClientRect());
      return {
        wide: document.documentElement.scrollWidth,
        touching: texts.filter(({ right }, index) => right + 2 > (texts[index + 1]?.left ?? 322)).length,
      };
    })()`;
    assert.deepEqual(await page.evaluate(sizes), { wide: 320, touching: 0 }, name);
    assert.ok(await page.locator('.user summary').isVisible());
    assert.ok(await page.getByRole('button', { name: 'More' }).isVisible());
    const folder = process.env['TEST_SCREENSHOTS'];
    if (folder) await page.screenshot({ path: `${folder}/${name}-320-dark.png` });
  }

  const dot = (page: Page, word: string) => page.locator('#shopify .dot', { hasText: word });

  test('leads from Connect to the first figures, on accessible pages, and back', async () => {
    const connecting = await start();
    const { shop, standIn, domain, path: sources } = connecting;
    const { context, page, problems, goto } = await openBrowser(connecting);
    await goto(`/app/shops/${shop.id}`);
    await page.getByRole('link', { name: 'Connect Shopify' }).waitFor();
    await inspectAll(page, 'overview-without-data');
    await page.getByRole('link', { name: 'Connect Shopify' }).click();
    await page.waitForURL(`**${sources}#shopify`);
    await dot(page, 'Not connected').waitFor();
    await inspectAll(page, 'sources-free');

    const field = page.getByLabel('Your shop’s Shopify domain');
    await field.fill('shop.example.com');
    await follow(page.getByRole('button', { name: 'Connect Shopify' }));
    await page.getByRole('alert').waitFor();
    assert.equal(await field.inputValue(), 'shop.example.com');
    // The field gets the focus with the first frame.
    await page.locator('[name=account]:focus').waitFor();
    await inspectAll(page, 'sources-wrong-domain');

    await field.fill(domain.replace('.myshopify.com', ''));
    await field.press('Enter');
    await page.getByRole('heading', { name: 'Connect Shopify' }).waitFor();
    await page.getByText('amounts and refunds of subscriptions’ orders').waitFor();
    await inspectAll(page, 'sources-consent');

    await page.getByRole('link', { name: 'Continue to Shopify' }).click();
    await page.waitForURL(`${standIn.baseUrl}/admin/oauth/authorize?*`);
    await page.getByRole('link', { name: 'Install app' }).click();
    await page.waitForURL(`**${sources}?done=connected`);
    await dot(page, 'First sync').waitFor();
    await inspectAll(page, 'sources-connected');
    await page.getByRole('link', { name: 'overview', exact: true }).click();
    await page.getByText('Shopify is connected.').waitFor();
    await inspectAll(page, 'overview-before-first-data');

    await connecting.sync();
    await page.getByRole('link', { name: 'See how far it is' }).click();
    await dot(page, 'Up to date').waitFor();
    await inspectAll(page, 'sources-current');
    await page.getByRole('link', { name: 'Overview' }).click();
    assert.equal(await page.locator('[data-figure=activeSubscribers]').innerText(), '5');
    await inspectAll(page, 'overview-first-figures');
    await page.getByRole('link', { name: 'Manage sources' }).click();

    await page.getByRole('link', { name: 'Disconnect Shopify' }).click();
    await page.getByRole('heading', { name: 'Disconnect Shopify?' }).waitFor();
    await inspectAll(page, 'sources-disconnect');
    await page.getByRole('button', { name: 'Disconnect Shopify' }).click();
    await page.getByText('Disconnected. The data that is here stays').waitFor();
    await inspectAll(page, 'sources-disconnected');
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('works without scripts', async () => {
    const connecting = await start();
    const { domain, path: sources } = connecting;
    const { context, page, problems, goto } = await openBrowser(connecting, false);
    await goto(sources);
    await page.getByLabel('Your shop’s Shopify domain').fill(domain);
    await page.getByRole('button', { name: 'Connect Shopify' }).click();
    await page.getByRole('link', { name: 'Continue to Shopify' }).click();
    await page.getByRole('link', { name: 'Install app' }).click();
    await dot(page, 'First sync').waitFor();
    await connecting.sync();
    await page.getByRole('link', { name: 'Refresh' }).click();
    await dot(page, 'Up to date').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('shows accessibly what is wrong, and what to do', async () => {
    const connecting = await start();
    const { shop, standIn, domain, path: sources } = connecting;
    const { context, page, problems, goto } = await openBrowser(connecting);
    standIn.world.shop.currencyCode = 'EUR';
    const connect = async () => {
      await goto(`${sources}/shopify/connect?account=${domain}`);
      await page.getByRole('link', { name: 'Continue to Shopify' }).click();
      await page.getByRole('link', { name: 'Install app' }).click();
    };
    await connect();
    await page.getByRole('alert').waitFor();
    await inspectAll(page, 'sources-wrong-currency');
    await goto('/app/connected/shopify?code=1');
    await page.getByRole('alert').waitFor();
    await inspectAll(page, 'sources-not-verified');

    standIn.world.shop.currencyCode = 'USD';
    await connect();
    await dot(page, 'First sync').waitFor();
    const problem = `Querying ${domain} failed 6 times: it answered 503.`;
    const failed = { ...due(), dueAt: new Date(Date.now() + 600_000), problem };
    await upsertSyncState(store.write, shop.id, 'shopify', failed);
    await goto(sources);
    await dot(page, 'Sync failed').waitFor();
    await inspectAll(page, 'sources-failing');

    standIn.tokens.revokeAll();
    await upsertSyncState(store.write, shop.id, 'shopify', due());
    await connecting.sync();
    await goto(sources);
    await dot(page, 'Access ended').waitFor();
    await inspectAll(page, 'sources-ended');
    await page.getByRole('link', { name: 'Connect again' }).click();
    await page.getByRole('link', { name: 'Continue to Shopify' }).click();
    await page.getByRole('link', { name: 'Install app' }).click();
    await dot(page, 'First sync').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('shows accessibly that the operator connected a shop, and that none can be connected', async () => {
    for (const [name, options, word] of [
      ['sources-by-operator', { isOperated: true }, 'First sync'],
      ['sources-off', { shopify: { clientId: undefined } }, 'Not available'],
    ] as const) {
      const connecting = await start(options);
      const opened = await openBrowser(connecting);
      await opened.goto(connecting.path);
      await opened.page.locator('#shopify .dot').filter({ hasText: word }).waitFor();
      await inspectAll(opened.page, name);
      assert.deepEqual(opened.problems, []);
      await opened.context.close();
    }
  });
});
