import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { FixedClock } from '../../src/clock.ts';
import { generateShop } from '../../src/demo/generate.ts';
import { inviteOwner } from '../../src/accounts/links.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import { createShop, importAll, now, openAnyStore, startTestService } from '../support/world.ts';
import { follow, inspect, openOwnerPage } from './inspect.ts';
import { newEmail, password } from './visitor.ts';

describe('segments in a browser', { skip: browserMissing }, () => {
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

  test('are chosen, narrowed, saved and shown again', async (t) => {
    const shop = await createShop(store, { tier: 'growth', currency: 'EUR' });
    const options = { subscriptions: 150, seed: 7, endAt: Date.parse(now), currency: 'EUR' };
    await importAll(store, shop, [...generateShop({ ...options, minorDigits: 2 })]);
    const { context, page, problems } = await openOwnerPage(browser, [service.baseUrl]);
    t.after(() => context.close());
    const email = newEmail();
    const { path } = await inviteOwner(store.write, clock, { shopId: shop.id, email });
    await page.goto(service.baseUrl + path);
    await page.getByRole('textbox', { name: /password/i }).fill(password);
    await follow(page.getByRole('button', { name: 'Accept' }));

    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/subscriptions`);
    await page.locator('.segment summary').first().click();
    const hint = page.getByText('Subscriptions that meet all of this today:');
    await page.getByLabel('Group').waitFor();
    assert.equal(await hint.isVisible(), false);
    await page.getByLabel('Group').selectOption('House Blend');
    await hint.waitFor();
    await page.locator('#segment-status').selectOption('Active');
    await page.getByLabel('Price from, EUR').fill('20');
    await inspect(page, 'segment-picker');
    await page.getByRole('button', { name: 'Show', exact: true }).last().click();
    await page.getByText('at least €20.00').waitFor();
    assert.match(page.url(), /\?group=House\+Blend&status=active&price=20&price=$/);
    await page.getByRole('link', { name: 'Remove at least €20.00' }).click();
    await page.waitForURL(/\?group=House\+Blend&status=active$/);

    await page.getByText('Saved segments').click();
    await page.getByLabel('Name').fill('Active coffee');
    await page.getByRole('button', { name: 'Save segment' }).click();
    await page.getByText('Active coffee').first().waitFor();
    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/subscriptions`);
    await page.getByText('Saved segments').click();
    await inspect(page, 'segments-saved');
    await page.getByRole('link', { name: 'Active coffee' }).click();
    await page.waitForURL(/\?group=House\+Blend&status=active$/);
    assert.deepEqual(problems, []);
  });
});
