import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { generateShop } from '../../src/demo/generate.ts';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import { type World, importAll, now, openAnyStore, startWorld } from '../support/world.ts';
import { follow, inspect, openSignedIn } from './inspect.ts';

describe('a customer in a browser', { skip: browserMissing }, () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    world = await startWorld(openAnyStore());
    browser = await shareBrowser();
    const options = { subscriptions: 150, seed: 7, currency: 'USD', minorDigits: 2 };
    const demo = [...generateShop({ ...options, endAt: Date.parse(now) })];
    const id = (kind: string, text: string) => deriveId(kind, text);
    const stripe = Array.from({ length: 6 }, (_, index) => {
      const [sub, cus] = [`sub_1MowQVLkdIwHu7ixeRlqHVz${index}`, `cus_NffrFeUfNV2Hi${index}`];
      return [
        subscription(id('subscription', sub), {
          planId: 11,
          customerId: id('customer', cus),
          sourceIds: { id: sub, customerId: cus },
        }),
        session(7001 + index, { subscriptionId: id('subscription', sub) }),
        ...[1, 2].map((cycle) => ({
          type: 'payment',
          id: 99_000_000 + index * 10 + cycle,
          subscriptionId: id('subscription', sub),
          cycle: String(cycle),
          status: cycle === 1 ? 'succeeded' : 'failed',
          failureCode: 'insufficient_funds',
          amount: '30.60',
          processedAt: `2026-11-1${cycle}T10:00:00Z`,
        })),
      ];
    }).flat();
    const { refused } = await importAll(
      world.store,
      world.shop,
      [...demo, plan(), ...stripe],
      true,
    );
    assert.deepEqual(refused, []);
  });
  after(async () => {
    await leaveBrowser();
    await world.close();
  });

  test('is two steps away from anywhere, and one from the platform', async () => {
    const { context, page, problems } = await openSignedIn(browser, world, world.shop);
    await page.goto(`${world.service.baseUrl}/app/shops/${world.shop.id}`);
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox').fill('cus_NffrFeUfNV2Hi0');
    const atStripe = page.getByRole('link', { name: 'Open in Stripe' });
    await atStripe.waitFor();
    assert.equal(
      await atStripe.getAttribute('href'),
      'https://dashboard.stripe.com/customers/cus_NffrFeUfNV2Hi0',
    );
    await inspect(page, 'search-home');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/customers/*');
    await page.getByRole('heading', { name: 'Customer cus_NffrFeUfNV2Hi0' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Copy', exact: true }).count(), 2);
    await inspect(page, 'customer');
    await follow(page.getByRole('link', { name: 'Recovery', exact: true }));
    await page.goto(page.url().replace('/recovery', '/recovery/open'));
    await inspect(page, 'recovery-queue');
    await page.getByRole('row').getByRole('link', { name: 'Open in Stripe' }).first().waitFor();
    const arrow = `getComputedStyle(document.querySelector('tbody a[target]'), '::after').content`;
    assert.match(String(await page.evaluate(arrow)), /↗/);
    await page.getByRole('button', { name: 'Mark cus_NffrFeUfNV2Hi0' }).click();
    await page.getByRole('button', { name: 'Undo cus_NffrFeUfNV2Hi0' }).waitFor();
    await page.goto(page.url().replace('/recovery/open', '/sources/customer-link'));
    await inspect(page, 'customer-link');
    assert.deepEqual(problems, []);
    await context.close();
  });
});
