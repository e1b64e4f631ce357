import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { generateShop } from '../../src/demo/generate.ts';
import { reasonLabels } from '../../src/owner/ui/labels.ts';
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
import { follow, inspect, inspectRightToLeft, painted, watchShifts } from './inspect.ts';
import { signedInOwner } from './visitor.ts';

describe('churn and cohorts in a browser', { skip: browserMissing }, () => {
  let world: World;
  let browser: Browser;
  let demo: TestShop;
  before(async () => {
    world = await startWorld(openAnyStore());
    browser = await shareBrowser();
    demo = await createShop(world.store);
    const options = { subscriptions: 800, seed: 7, currency: 'USD', minorDigits: 2 };
    await importAll(world.store, demo, [...generateShop({ ...options, endAt: Date.parse(now) })]);
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  /** A shop's page in a new browser context, with its errors. */
  async function open(path: string, options: BrowserContextOptions = {}, shop = demo) {
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
    page.on('console', ({ type, text }) => type() === 'error' && problems.push(text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${url}/app/shops/${shop.id}${path}`);
    return { page, problems, context };
  }

  for (const [name, path] of [
    ['churn', '/churn'],
    ['churn-left', '/churn/left'],
    ['cohorts', '/cohorts'],
    ['cohorts-36', '/cohorts?months=36&of=revenue&as=value'],
    ['cohorts-customers', '/cohorts/2026-08/customers?kept=2'],
  ] as const) {
    test(`shows ${name} without layout shifts or overflow, and accessibly`, async () => {
      const { page, problems, context } = await open(path);
      await page.waitForLoadState();
      await page.evaluate(painted);
      assert.deepEqual(await page.evaluate('shifts'), []);
      await inspect(page, name);
      await inspectRightToLeft(page);
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  test('paints a page once a slow network has sent all of it', async () => {
    const { page, context } = await open('');
    const devTools = await context.newCDPSession(page);
    const bytesPerSecond = { downloadThroughput: 10_000, uploadThroughput: 10_000 };
    const conditions = { offline: false, latency: 20, ...bytesPerSecond };
    await devTools.send('Network.emulateNetworkConditions', conditions);
    await page.addInitScript(
      'requestAnimationFrame(() => (globalThis.whole = document.getElementById("end") !== null))',
    );
    await page.reload();
    await page.evaluate(painted);
    assert.equal(await page.evaluate('whole'), true);
    await context.close();
  });

  test('answers who left yesterday and why, three clicks from the overview', async () => {
    const { page, context } = await open('');
    await follow(page.getByRole('link', { name: 'Churn', exact: true }));
    await follow(page.getByRole('link', { name: 'Who left yesterday' }));
    const rows = page.locator('.rows tbody tr');
    const [first] = await rows.allInnerTexts();
    const words = [...Object.values(reasonLabels), 'No reason given', 'Failed payments'];
    assert.match(first ?? '', new RegExp(words.join('|')));
    assert.match(first ?? '', /Nov 19, 2026/);
    // Two lines on a phone have the same.
    await page.setViewportSize({ width: 360, height: 800 });
    const [narrow] = await rows.allInnerTexts();
    assert.match(narrow ?? '', new RegExp(words.join('|')));
    const customer = (await rows.first().getByRole('link').first().innerText()).trim();
    assert.ok(narrow?.includes(customer), customer);
    await rows.first().getByRole('link').first().click();
    await page.getByRole('heading', { name: `Customer ${customer}`, exact: true }).waitFor();
    await context.close();
  });

  test('answers whether March’s cohort is better than February’s, two choices from the overview', async () => {
    const { page, context } = await open('');
    await follow(page.getByRole('link', { name: 'Cohorts', exact: true }));
    await page.getByLabel('Compare').selectOption({ label: 'Mar 2026' });
    await page.getByLabel('With').selectOption({ label: 'Feb 2026' });
    await follow(page.getByRole('button', { name: 'Show' }));
    const answer = await page.locator('.answer').innerText();
    assert.match(
      answer,
      /^March 2026 kept \d+ of \d+ customers after 7 months(?:: [\d.]+ points (?:more|less) than February 2026, with \d+ of \d+|, February 2026 \d+ of \d+\. Of \d+ and \d+ customers, that may be chance)\.$/,
    );
    assert.equal(await page.locator('.marks path.line').count(), 2);
    await page.locator('.heatmap tbody tr').first().locator('td a').nth(1).click();
    await page.getByText('active or paused at the end of month 1 since').waitFor();
    await context.close();
  });

  test('keeps the cohort in view while its months scroll', async () => {
    const { page, context } = await open('/cohorts?months=36', {
      viewport: { width: 360, height: 800 },
    });
    const head = page.locator('.heatmap tbody th').first();
    const place = await head.boundingBox();
    await page.locator('.heatmap').evaluate((box: { scrollLeft: number }) => {
      box.scrollLeft = 400;
    });
    assert.equal((await head.boundingBox())?.x, place?.x);
    await context.close();
  });

  test('explains accessibly what will be here', async () => {
    const empty = await createShop(world.store);
    for (const path of ['/churn', '/cohorts']) {
      const { page, context } = await open(path, {}, empty);
      await page.getByText('No data yet').waitFor();
      await inspect(page, `empty${path.replace('/', '-')}`);
      await context.close();
    }
  });
});
