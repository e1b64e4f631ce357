import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
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

describe('revenue and the cancel flow in a browser', { skip: browserMissing }, () => {
  let world: World;
  let browser: Browser;
  let shop: TestShop;
  before(async () => {
    world = await startWorld(openAnyStore());
    browser = await shareBrowser();
    shop = await createShop(world.store, { currency: 'EUR' });
    const options = { subscriptions: 400, seed: 7, currency: 'EUR', minorDigits: 2 };
    await importAll(world.store, shop, [...generateShop({ ...options, endAt: Date.parse(now) })]);
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  /** Opens a shop's page as its owner. */
  async function open(path: string, of = shop, withScripts = true) {
    const opened = await openSignedIn(browser, world, of, withScripts);
    await opened.page.goto(`${world.service.baseUrl}/app/shops/${of.id}${path}`);
    return opened;
  }

  for (const [name, path] of [
    ['revenue', '/revenue'],
    ['revenue-movements', '/revenue/movements?days=90'],
    ['renewals', '/revenue/renewals'],
    ['payments', '/payments'],
    ['cancel-flow-90', '/cancel-flow?days=90'],
  ] as const) {
    test(`shows ${path} accessibly at any width`, async () => {
      const { context, page, problems } = await open(path);
      await inspect(page, name);
      await inspectRightToLeft(page);
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  test('shows both for a shop without records, accessibly', async () => {
    const empty = await createShop(world.store);
    for (const name of ['revenue', 'cancel-flow']) {
      const { context, page, problems } = await open(`/${name}`, empty);
      await inspect(page, `${name}-empty`);
      assert.deepEqual(problems, []);
      await context.close();
    }
  });

  test('answers which offer saves most within five clicks from the overview, without scripts', async () => {
    const { context, page } = await open('', shop, false);
    await follow(page.getByRole('link', { name: 'Cancel flow' }).first());
    await follow(page.getByRole('link', { name: '90 days' }));
    const answer = await page.locator('.answer').innerText();
    const [, offer = '', , ended] =
      /“(.+)” saves most: (\d+|[\d.]+%) of (\d+) sessions, against/.exec(answer) ?? [];
    assert.notEqual(offer, '', answer);
    // The sessions behind it are one click further.
    await page
      .locator('.matrix')
      .getByRole('link', { name: `All reasons, ${offer}:` })
      .click();
    await page.waitForURL('**/cancel-flow/sessions?offer=*');
    const offers = await page.locator('.rows tbody td:nth-child(3)').allInnerTexts();
    assert.ok(Number(ended) > 0 && offers.length > 0);
    assert.deepEqual([...new Set(offers.map((each) => each.replace('Offer: ', '')))], [offer]);
    await context.close();
  });

  test('opens what a figure means', async () => {
    const { context, page } = await open('/revenue');
    const definition = page.getByText('First subscriptions of customers, once their trial ended.');
    assert.equal(await definition.isVisible(), false);
    await page.getByRole('button', { name: 'New: definition' }).press('Enter');
    await definition.waitFor();
    await page.keyboard.press('Escape');
    await definition.waitFor({ state: 'hidden' });
    await context.close();
  });
});
