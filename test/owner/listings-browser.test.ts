import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { FixedClock } from '../../src/clock.ts';
import { generateShop } from '../../src/demo/generate.ts';
import { inviteOwner } from '../../src/accounts/links.ts';
import { deriveId } from '../../src/ingest/source-ids.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import {
  type TestShop,
  createShop,
  importAll,
  now,
  openAnyStore,
  startTestService,
} from '../support/world.ts';
import { line, plan, subscription } from '../rest/records.ts';
import { follow, inspect, inspectText, openOwnerPage } from './inspect.ts';
import { newEmail, password } from './visitor.ts';

describe('the owner’s listings in a browser', { skip: browserMissing }, () => {
  const clock = new FixedClock(now);
  let store: Store;
  let service: Service;
  let browser: Browser;
  before(async () => {
    store = openAnyStore();
    service = await startTestService(store, { clock });
    browser = await shareBrowser();
  });
  after(async () => {
    await leaveBrowser();
    await service?.close();
    await store.close();
  });

  /** A shop with realistic data. */
  async function fullShop(name: string): Promise<TestShop> {
    const shop = await createShop(store, { tier: 'growth', currency: 'EUR' });
    await store.write`update shops set name = ${name} where shop_id = ${shop.id}`;
    const options = { subscriptions: 150, seed: 7, endAt: Date.parse(now), currency: 'EUR' };
    const records = [...generateShop({ ...options, minorDigits: 2 })];
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    return shop;
  }

  /** Signs in by accepting an invitation to each shop. */
  async function enter(page: Page, ...shops: readonly TestShop[]): Promise<void> {
    const email = newEmail();
    for (const { id: shopId } of shops) {
      const { path } = await inviteOwner(store.write, clock, { shopId, email });
      await page.goto(service.baseUrl + path);
      await page.getByRole('textbox', { name: /password/i }).fill(password);
      await page.getByRole('button', { name: 'Accept' }).click();
      await page.locator('.user summary').waitFor();
    }
  }

  test('shows subscriptions, one subscription and the cancel flow accessibly', async () => {
    const { context, page, problems } = await openOwnerPage(browser, [service.baseUrl]);
    await enter(page, await fullShop('Kaffee & Kuchen'));
    await follow(page.getByRole('link', { name: 'Subscriptions', exact: true }));
    await inspect(page, 'subscriptions', ['light', 'dark']);
    const heads = page.locator('.rows thead th:visible');
    await page.setViewportSize({ width: 768, height: 800 });
    assert.deepEqual(await heads.allInnerTexts(), [
      'Subscription',
      'Plan',
      'Status',
      'Price',
      'Next billing',
    ]);
    await page.setViewportSize({ width: 1440, height: 800 });
    assert.equal(await heads.count(), 8);
    await page.getByText('1 to 50 of 150').waitFor();
    await page.getByRole('link', { name: '100 rows' }).click();
    await page.getByText('1 to 100 of 150').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('101 to 150 of 150').waitFor();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy ids' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    const ids = await page.locator('.rows tbody th > a:first-child').allInnerTexts();
    assert.equal(ids.length, 50);
    assert.equal(copied, ids.join('\n'));
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByText('1 to 100 of 150').waitFor();
    await page.getByRole('link', { name: 'Columns' }).click();
    await page.getByLabel('Next billing').uncheck();
    await page.locator('.shown-columns button').click();
    await page.waitForURL('**/subscriptions?rows=100&columns=*');
    assert.equal(await heads.count(), 7);
    await page.goBack();
    await page.getByRole('link', { name: 'Paused' }).click();
    await page.waitForURL('**/subscriptions?status=paused&rows=100');

    // The date has its own tooltip, but is still part of the row's link.
    const date = page.locator('tbody tr').first().locator('time').last();
    await date.hover();
    assert.match((await date.getAttribute('title')) ?? '', /^\d{4}-.*:\d{2}Z$/);
    await date.click();
    await page.getByRole('heading', { name: /^Subscription \d+$/ }).waitFor();
    await inspectText(page, 'subscription-paused');
    await page.locator('dd a').click();
    await page.getByRole('heading', { name: /^Customer \d+$/ }).waitFor();
    await inspect(page, 'customer-demo');
    await follow(page.getByRole('link', { name: 'Subscriptions', exact: true }));

    await page.getByLabel('Subscription id').fill('1');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('alert').waitFor();
    await inspectText(page, 'subscriptions-missing');
    await page.getByLabel('Subscription id').fill('1003');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.waitForURL('**/subscriptions/1003');
    await inspect(page, 'subscription');

    await follow(page.getByRole('link', { name: 'Cancel flow' }));
    await follow(page.getByRole('link', { name: /^\d+ sessions$/ }));
    await inspect(page, 'cancel-flow-sessions');
    await page
      .locator('tbody tr', { has: page.locator('a') })
      .first()
      .click();
    await page.waitForURL('**/subscriptions/*');
    await page.goto(`${page.url().replace(/\/\d+$/, '')}?status=none`);
    await inspect(page, 'subscriptions-refused');
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('lists customers by value and by risk, and leads to their subscriptions', async () => {
    const { context, page, problems } = await openOwnerPage(browser, [service.baseUrl]);
    await enter(page, await fullShop('Kaffee & Kuchen'));
    await follow(page.getByRole('link', { name: 'Customers' }));
    await inspect(page, 'customers');
    const heads = page.locator('.rows thead th:visible');
    await page.setViewportSize({ width: 768, height: 800 });
    assert.deepEqual(await heads.allInnerTexts(), [
      'Customer',
      'Subscriptions',
      'Worth',
      'Risk',
      'Since',
    ]);
    await page.setViewportSize({ width: 1440, height: 800 });
    await page.getByRole('link', { name: 'Since' }).click();
    await page.waitForURL('**/customers?order=newest');
    await page.getByRole('link', { name: 'Cancel flow' }).last().click();
    await page.waitForURL('**/customers?risk=leaving&order=newest');
    await page.getByText('with a cancel-flow session in the last 90 days').waitFor();
    await inspectText(page, 'customers-leaving');
    const [row] = await page.locator('.rows tbody tr').all();
    const number = await row?.locator('th').innerText();
    await row?.click();
    await page.getByRole('heading', { name: `Customer ${number}` }).waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('switches shops by keyboard, and stays on the same kind of page', async () => {
    const { context, page, problems } = await openOwnerPage(browser, [service.baseUrl]);
    const [one, other] = [await fullShop('Kaffee & Kuchen'), await createShop(store)];
    await store.write`update shops set name = 'Teehaus am Markt' where shop_id = ${other.id}`;
    await enter(page, one, other);
    assert.equal(await page.getByRole('link', { name: 'Subscriptions' }).count(), 0);
    await page.goto(`${service.baseUrl}/app/shops/${one.id}/subscriptions?status=paused`);
    const menu = page.locator('details.shop.menu');
    const focused = () => page.evaluate('document.activeElement.tagName');

    await menu.locator('summary').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Teehaus am Markt' }).waitFor();
    await inspect(page, 'shop-switch');
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'A');
    await page.keyboard.press('Escape');
    assert.deepEqual([await menu.getAttribute('open'), await focused()], [null, 'SUMMARY']);
    await page.keyboard.press('Enter');
    // Clicks beside the title, where the menu does not cover the page.
    await page.locator('.title').click({ position: { x: 600, y: 10 } });
    assert.equal(await menu.getAttribute('open'), null);

    await menu.locator('summary').focus();
    await page.keyboard.press('Enter');
    const target = page.getByRole('link', { name: 'Teehaus am Markt' });
    while (!(await target.evaluate((link) => link.matches(':focus')))) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/app/shops/${other.id}/subscriptions`);
    await page.getByText('No subscriptions yet').waitFor();
    await inspect(page, 'subscriptions-empty');
    await follow(page.getByRole('link', { name: 'Cancel flow' }));
    await page.locator('.user summary').click();
    await follow(page.getByRole('link', { name: 'Your shops' }));
    await inspect(page, 'shops');
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('wraps very long words, and fits long ids', async () => {
    const { context, page } = await openOwnerPage(browser, [service.baseUrl]);
    const [shop, other] = [await createShop(store), await createShop(store)];
    const endless = 'Kaffeehausbohnen'.repeat(12);
    await store.write`
      update shops set name = ${endless} where shop_id in (${shop.id}, ${other.id})`;
    const item = { ...line, productTitle: endless, variantTitle: endless, quantity: 1_000_000 };
    const records = [
      plan({ name: endless }),
      subscription(1001, {
        customerId: deriveId('customer', 'cus_1'),
        lines: [{ ...item, currentPrice: '123456789.99' }],
        sourceIds: { id: `sub_${'a'.repeat(100)}`, customerId: `cus_${'a'.repeat(100)}` },
      }),
      subscription(deriveId('subscription', 'sub_2')),
      { type: 'payment', id: 1, subscriptionId: 1001, cycle: endless, status: 'failed' },
    ];
    const paid = { amount: '999999999999.99', processedAt: now };
    assert.deepEqual(
      (await importAll(store, shop, [...records.slice(0, 3), { ...records[3], ...paid }], true))
        .refused,
      [],
    );
    await enter(page, shop, other);
    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/subscriptions`);
    await inspectText(page, 'subscriptions-endless');
    await page.setViewportSize({ width: 360, height: 800 });
    await page.locator('details.shop.menu summary').click();
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/subscriptions/1001`);
    await inspectText(page, 'subscription-endless');
    await context.close();
  });

  test('works without scripts', async () => {
    const { context, page, problems } = await openOwnerPage(browser, [service.baseUrl], false);
    const [one, other] = [await createShop(store), await fullShop('Kaffee & Kuchen')];
    await enter(page, one, other);
    await page.goto(`${service.baseUrl}/app/shops/${other.id}/customers`);
    assert.equal(await page.getByRole('button', { name: 'Copy ids' }).count(), 0);
    await page.goto(`${service.baseUrl}/app/shops/${one.id}/subscriptions`);
    await page.getByText('No subscriptions yet').waitFor();
    await page.getByRole('link', { name: 'Go to Sources' }).waitFor();
    await page.locator('details.shop.menu summary').click();
    await page.getByRole('link', { name: 'Kaffee & Kuchen' }).click();
    await page.waitForURL(`**/app/shops/${other.id}/subscriptions`);
    await follow(page.getByRole('link', { name: 'Columns' }));
    await page.getByLabel('Next billing').waitFor();
    await follow(page.getByRole('link', { name: 'Active' }));
    // Anywhere in the row except on its dates.
    await page
      .locator('tbody tr')
      .first()
      .click({ position: { x: 300, y: 8 } });
    await page.getByRole('heading', { name: /^Subscription \d+$/ }).waitFor();
    await page.locator('.user summary').click();
    await page.getByRole('link', { name: 'Your shops' }).waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });
});
