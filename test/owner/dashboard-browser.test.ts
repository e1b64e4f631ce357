import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { generateShop } from '../../src/demo/generate.ts';
import {
  browserMissing,
  leaveBrowser,
  shareBrowser,
  timeoutMilliseconds,
} from '../support/browser.ts';
import {
  type TestShop,
  type World,
  createShop,
  importAll,
  now,
  openAnyStore,
  startWorld,
} from '../support/world.ts';
import { createAwkwardShop } from './awkward-shop.ts';
import { inspect, inspectText, inspectRightToLeft, painted, watchShifts } from './inspect.ts';
import { signedInOwner } from './visitor.ts';

describe('the dashboard in a browser', { skip: browserMissing }, () => {
  let world: World;
  let browser: Browser;
  let demo: TestShop;
  before(async () => {
    world = await startWorld(openAnyStore());
    browser = await shareBrowser();
    demo = await createShop(world.store);
    const options = { subscriptions: 400, seed: 7, currency: 'USD', minorDigits: 2 };
    await importAll(world.store, demo, [...generateShop({ ...options, endAt: Date.parse(now) })]);
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  /** A shop's page in a new browser context, with its console errors and foreign requests. */
  async function open(shop: TestShop, query = '', options: BrowserContextOptions = {}) {
    const { visitor } = await signedInOwner({ ...world, shop });
    const context = await browser.newContext({
      locale: 'en-US',
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(timeoutMilliseconds);
    const url = world.service.baseUrl;
    await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url })));
    await context.addInitScript(watchShifts);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('request', (request) => {
      if (!/^(?:data:|http:\/\/127\.0\.0\.1:)/.test(request.url())) problems.push(request.url());
    });
    await page.goto(`${url}/app/shops/${shop.id}${query}`);
    return { page, problems, context };
  }

  const figuresOf = async (page: Page) =>
    (await page.locator('[data-figure]').allTextContents()).map((text) =>
      text.replace(/\u00A0/g, ' '),
    );

  for (const days of [30, 365]) {
    test(`shows ${days} days without layout shifts or overflow, and accessibly`, async () => {
      const { page, problems, context } = await open(demo, `?days=${days}`);
      // Loads the page again, with the script arriving after everything was painted.
      const arrival = Promise.withResolvers<void>();
      await page.route('**/charts-*.js', async (route) => {
        await arrival.promise;
        await route.continue();
      });
      // Layout shifts are reported only within the viewport.
      await page.setViewportSize({ width: 1280, height: 3200 });
      await page.goto(page.url(), { waitUntil: 'commit' });
      await page.locator('.reasons').waitFor();
      await page.evaluate(painted);
      assert.equal(await page.getByRole('slider').count(), 0);
      arrival.resolve();
      await page.getByRole('slider').last().waitFor();
      await page.evaluate(painted);
      assert.deepEqual(await page.evaluate('shifts'), []);
      if (days === 30) await inspect(page, 'dashboard-30', ['light', 'dark']);
      else await inspectText(page, `dashboard-${days}`);
      await inspectRightToLeft(page);
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  test('explains accessibly what to do in a shop without records', async () => {
    const { page, problems, context } = await open(await createShop(world.store));
    await page.getByText('See your own figures here').waitFor();
    await inspect(page, 'dashboard-empty');
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('formats large amounts for two locales, and fits them on phones and tablets', async () => {
    for (const currency of ['JPY', 'KWD'] as const) {
      const { shop, expected } = await createAwkwardShop(world.store, currency);
      for (const locale of ['en-US', 'de-DE'] as const) {
        const { page, context } = await open(shop, '', { locale });
        assert.deepEqual(await figuresOf(page), expected.texts[locale]);
        await page.setViewportSize({ width: 360, height: 800 });
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        assert.equal(wide, 360, `${currency}, ${locale}`);
        await page.setViewportSize({ width: 768, height: 800 });
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 768);
        await context.close();
      }
    }
  });

  test('shows the table’s values by pointer and arrow keys', async () => {
    const { page, context } = await open(demo, '?per=day');
    const figure = page.locator('figure.chart');
    const slider = page.getByRole('slider', { name: 'New and cancelled' });
    await figure.getByText('Table').click();
    await figure.locator('tbody tr').first().waitFor();
    const rows = (await figure.locator('tbody tr').allInnerTexts()).map((text) =>
      text.split(/\s*\t\s*/),
    );
    const readout = () => figure.locator('.tip :is(strong, b)').allInnerTexts();
    assert.equal(rows.length, 31);
    assert.equal(await figure.locator('.tip').isVisible(), false);
    await slider.focus();
    assert.deepEqual(await readout(), rows[30]);
    await slider.press('Home');
    assert.deepEqual(await readout(), rows[0]);
    await slider.press('ArrowRight');
    assert.deepEqual(await readout(), rows[1]);
    const [day, added, cancelled] = rows[1] ?? [];
    const valueText = await slider.getAttribute('aria-valuetext');
    assert.ok(valueText?.startsWith(`${day}: New ${added}, Cancelled ${cancelled}, New, before `));
    await slider.press('End');
    await slider.press('ArrowRight');
    assert.deepEqual(await readout(), rows[30]);
    await figure.locator('.marks').hover({ position: { x: 4, y: 80 } });
    assert.deepEqual(await readout(), rows[0]);
    await context.close();
  });

  test('shows the values of the main figures by pointer and arrow keys', async () => {
    const { page, context } = await open(demo);
    const hero = page.locator('.hero').filter({ hasText: 'Monthly recurring revenue' });
    const [value] = await hero.locator('[data-figure]').allInnerTexts();
    const slider = hero.getByRole('slider', { name: 'Monthly recurring revenue' });
    const readout = () => hero.locator('.tip > *').allInnerTexts();
    await slider.focus();
    const [time, name, last] = await readout();
    assert.deepEqual([time, name, last], ['Nov 20, 2026', 'Monthly recurring revenue', value]);
    await slider.press('Home');
    assert.equal((await readout())[0], 'Oct 21, 2026');
    const { width = 0 } = (await hero.locator('.marks').boundingBox()) ?? {};
    await hero.locator('.marks').hover({ position: { x: width * 0.05, y: 20 } });
    const [second, , atPointer] = await readout();
    assert.equal(second, 'Oct 22, 2026');
    await slider.press('ArrowRight');
    assert.equal((await readout())[0], 'Oct 23, 2026');
    assert.notEqual((await readout())[2], undefined);
    assert.match(atPointer ?? '', /^\$[\d,.]+$/);
    assert.match(
      (await slider.getAttribute('aria-valuetext')) ?? '',
      /^Oct 23, 2026: Monthly recurring revenue \$/,
    );
    // It leads to the rows, as the card does.
    await slider.press('Enter');
    await page.waitForURL('**/subscriptions?figure=mrr');
    await context.close();
  });

  test('shows figures, definitions, charts and tables without scripts', async () => {
    const { page, context } = await open(demo, '?days=90', { javaScriptEnabled: false });
    const active = await page.locator('[data-figure=activeSubscribers]').innerText();
    assert.match(active, /^\d+$/);
    assert.equal(await page.getByRole('slider').count(), 0);
    assert.equal(await page.locator('figure.chart svg.marks').count(), 1);
    const rows = page.locator('figure.chart').first().locator('tbody tr');
    assert.equal(await rows.first().isVisible(), false);
    await page.getByText('Table').first().click();
    await rows.first().waitFor();
    assert.equal(await rows.count(), 13);

    const definition = page.getByText('Customers with a paused subscription and no active one, at');
    const button = page.getByRole('button', { name: 'Paused subscribers: definition' });
    assert.equal(await definition.isVisible(), false);
    await button.click();
    await definition.waitFor();
    await page.keyboard.press('Escape');
    await definition.waitFor({ state: 'hidden' });
    await button.press('Enter');
    await definition.waitFor();
    await page.getByRole('link', { name: '365 days' }).click();
    await page.waitForURL('**?days=365&table=open');
    await context.close();
  });

  test('fits the verdict and the main figures on a phone’s first screen', async () => {
    const { page, context } = await open(demo, '', { viewport: { width: 360, height: 740 } });
    const bar = await page.locator('nav .bar').boundingBox();
    const last = await page.locator('.hero').last().boundingBox();
    assert.ok(bar && last && last.y + last.height <= bar.y, JSON.stringify([bar, last]));
    const [verdict] = await page.locator('p.answer').allInnerTexts();
    assert.match(verdict ?? '', /^(?:Better|Worse|About the same): MRR/);
    await page.getByText('How this is made').click();
    await page.getByText('are too few to judge').waitFor();
    await context.close();
  });

  test('leads from the verdict to who cancelled in a week, and to another period, within three clicks', async () => {
    const { page, context } = await open(demo);
    const shop = `/app/shops/${demo.id}`;
    await page.getByRole('link', { name: '90 days' }).click();
    await page.waitForURL('**?days=90');
    const figure = page.locator('figure.chart');
    await figure.scrollIntoViewIfNeeded();
    const box = await figure.locator('.marks').boundingBox();
    assert.ok(box);
    // The last bar of the second series.
    await page.mouse.click(box.x + box.width - 0.14 * (box.width / 13) - 2, box.y + 20);
    await page.waitForURL((url) => url.pathname === `${shop}/subscriptions`);
    assert.equal(
      new URL(page.url()).search,
      '?figure=cancelled&first=2026-11-14&last=2026-11-20&days=90',
    );
    await page.goBack();
    await page.getByRole('link', { name: 'Churn rate' }).click();
    await page.waitForURL((url) => url.pathname === `${shop}/churn`);
    assert.equal(new URL(page.url()).search, '?days=90');
    await page.goBack();
    await page.getByRole('slider', { name: 'New and cancelled' }).press('Enter');
    await page.waitForURL((url) => url.pathname === `${shop}/subscriptions`);
    const query = '?figure=new&first=2026-11-14&last=2026-11-20&days=90';
    assert.equal(new URL(page.url()).search, query);
    await context.close();
  });

  test('chooses dates and a comparison, and keeps both, without scripts', async () => {
    const { page, context } = await open(demo, '?compare=year', { javaScriptEnabled: false });
    await page.locator('.picker:not(.segment) summary').first().click();
    await page.getByRole('link', { name: 'Last month' }).waitFor();
    await page.getByLabel('First day').fill('2026-10-01');
    await page.getByLabel('Last day').fill('2026-10-31');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL('**?compare=year&from=2026-10-01&to=2026-10-31');
    assert.match(
      await page.locator('.picker:not(.segment)').innerText(),
      /Oct 1\s–\s31, 2026\s.*the year before/s,
    );
    assert.match(await page.locator('figure.chart').first().innerText(), /Year before: /);
    await context.close();
  });

  test('opens all pages of the shop from the bar on a phone, without scripts', async () => {
    const options = { viewport: { width: 360, height: 740 }, javaScriptEnabled: false };
    const { page, context } = await open(demo, '', options);
    const link = page.getByRole('link', { name: 'Developers' });
    assert.equal(await link.isVisible(), false);
    await page.getByRole('button', { name: 'More' }).click();
    await link.click();
    await page.waitForURL('**/developers');
    await context.close();
  });

  test('shows the mails beside what an owner chooses, accessibly', async () => {
    const { page, problems, context } = await open(demo, '/notifications');
    await page.getByRole('heading', { name: 'The last digest' }).waitFor();
    await inspect(page, 'notifications');
    await page.getByLabel('Churn rate above').fill('many');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must be a percentage from 0 to 100').waitFor();
    assert.equal(await page.evaluate('document.activeElement.id'), 'maxChurnRate');
    await inspect(page, 'notifications-problem');
    // The answer to a form with an error, as browsers report it.
    assert.deepEqual(
      problems.filter((each) => !each.includes('422')),
      [],
    );
    await context.close();
  });

  test('follows a change of the colour scheme while the page is open', async () => {
    const { page, context } = await open(demo, '', { colorScheme: 'light' });
    const stroke = () =>
      page.evaluate(
        'getComputedStyle(document.querySelector(".hero .spark path:not(.before)")).stroke',
      );
    assert.equal(await stroke(), 'rgb(11, 87, 168)');
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.equal(await stroke(), 'rgb(130, 188, 255)');
    await context.close();
  });
});
