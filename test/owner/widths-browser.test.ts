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
import { createUnloggedKey } from '../../src/access/keys/keys.ts';
import { follow, openSignedIn } from './inspect.ts';
import { listPaths } from './list-paths.ts';

const widths = [360, 768, 1024, 1440];

interface Axis {
  readonly shown: number;
  readonly overlapping: readonly string[];
}

/** Runs in the page: the amounts that take more than one line, and those cut off by what is around them. */
const brokenAmounts = String.raw`(() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const { 0: amount, index } of node.data.matchAll(/KWD\s[\d.,]+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + amount.length);
      const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
      const isBroken = new Set(boxes.map(({ top }) => Math.round(top))).size > 1;
      const card = node.parentElement.closest('.hero, .main-figures > div')?.getBoundingClientRect();
      const isCut = card !== undefined && boxes.some(({ right }) => right > card.right);
      if (isBroken || isCut) found.push(amount);
    }
  }
  return found;
})()`;

/** Runs in the page: how many dates each chart's axis shows, and which of them overlap. */
const axes = `[...document.querySelectorAll('.plot .dates')].map((axis) => {
  const texts = [...axis.querySelectorAll('text')].filter(
    (text) => getComputedStyle(text).display !== 'none',
  );
  const boxes = texts.map((text) => text.getBoundingClientRect());
  const overlapping = texts.filter((_, index) => boxes[index].left < boxes[index - 1]?.right);
  return { shown: texts.length, overlapping: overlapping.map((text) => text.textContent.trim()) };
})`;

/** Runs in the page: what of its tables of figures, and of what chooses charts, is beyond the edge of a phone. */
const beyond = `[...document.querySelectorAll('.stacks tbody :is(th, td), .chart .periods a')]
  .filter((each) => each.checkVisibility() && each.textContent.trim() !== '')
  .filter((each) => each.getBoundingClientRect().right > innerWidth)
  .map((each) => each.textContent.trim())`;

/** Runs in the page: the names of the figures that each row of a table has on a phone. */
const namesIn = (
  id: string,
) => `[...document.querySelectorAll('[aria-labelledby=${id}] tbody tr')].map(
  (row) => [...row.cells].map((cell) => getComputedStyle(cell, '::before').content).filter((text) => text !== 'none').join(),
)`;

describe('the owner’s pages at any width', { skip: browserMissing }, () => {
  let world: World;
  let browser: Browser;
  let shop: TestShop;
  before(async () => {
    world = await startWorld(openAnyStore());
    browser = await shareBrowser();
    shop = await createShop(world.store, { currency: 'KWD' });
    const options = { subscriptions: 400, seed: 7, currency: 'KWD', minorDigits: 3 };
    await importAll(world.store, shop, [...generateShop({ ...options, endAt: Date.parse(now) })]);
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  async function open(hasScripts = true) {
    const url = world.service.baseUrl;
    const opened = await openSignedIn(browser, world, shop, hasScripts);
    const go = (path: string) => opened.page.goto(`${url}/app/shops/${shop.id}${path}`);
    return { ...opened, go };
  }

  test('never break an amount, however long the currency', async () => {
    const { page, context, go } = await open();
    for (const path of [
      '',
      '/revenue',
      '/recovery',
      '/recovery/open',
      '/recovery/closed?days=365',
      '/cancel-flow',
      '/subscriptions',
      '/cohorts?of=revenue&as=value',
      '/revenue/prices?days=365',
    ]) {
      await go(path);
      assert.match(await page.locator('main').innerText(), /KWD\s\d/, path);
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 });
        assert.deepEqual(await page.evaluate(brokenAmounts), [], `${path} at ${width} px`);
      }
    }
    await context.close();
  });

  test('have as many dates below a chart as have room', async () => {
    const { page, context, go } = await open();
    for (const query of [
      '',
      '?days=365',
      '?from=2024-11-21&to=2026-11-20',
      '?from=2023-11-21&to=2026-11-20',
    ]) {
      for (const path of ['', '/churn', '/revenue']) {
        await go(path + query);
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 });
          for (const { shown, overlapping } of await page.evaluate<Axis[]>(axes)) {
            const where = `${path}${query} at ${width} px`;
            assert.deepEqual(overlapping, [], where);
            assert.ok(shown >= 2, where);
          }
        }
      }
    }
    await context.close();
  });

  test('have all figures of a table on a phone, each with its name', async () => {
    const { page, context, go } = await open();
    await page.setViewportSize({ width: 360, height: 800 });
    for (const path of ['', '/churn', '/revenue', '/recovery', '/cancel-flow']) {
      await go(path);
      assert.ok((await page.locator('.stacks').count()) > 0, path);
      assert.deepEqual(await page.evaluate(beyond), [], path);
      await page.setViewportSize({ width: 1440, height: 800 });
      assert.equal(await page.locator('.stacks thead th').first().isVisible(), true);
      await page.setViewportSize({ width: 360, height: 800 });
    }
    await go('');
    const names = await page.evaluate<string[]>(namesIn('reasons'));
    assert.deepEqual(new Set(names), new Set(['"Saved ","Cancelled ","Abandoned "']));
    await go('/churn');
    const explained = await page.evaluate<string[]>(namesIn('why'));
    assert.deepEqual(new Set(explained), new Set(['"Before ","Now ","Rate ","Mix "']));
    await context.close();
  });

  test('have rows on the first screen of a phone, and filters and orders behind a button, without scripts', async () => {
    const { page, context, go } = await open(false);
    await page.setViewportSize({ width: 360, height: 780 });
    for (const path of [...listPaths, '/churn/left?cause=cancelled']) {
      await go(path);
      const { bottom = Infinity } = await page
        .locator('.rows tbody tr')
        .first()
        .evaluate((row) => ({ bottom: row.getBoundingClientRect().bottom }));
      const blank = await page
        .locator('.rows tfoot td')
        .evaluateAll((cells) =>
          cells.filter((cell) => cell.checkVisibility() && cell.textContent === ''),
        );
      assert.equal(blank.length, 0, path);
      // Above the bar at the bottom.
      assert.ok(bottom < 780 - 64, `${path}: ${bottom}`);
    }
    await createUnloggedKey(world.store.write, shop.id, {
      name: 'x'.repeat(80),
      scopes: ['read:entitlements'],
      createdBy: 'test',
      createdAt: new Date(now),
    });
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 780 });
      await go('/keys');
      await page.getByText('x'.repeat(80)).first().waitFor();
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
    }
    await page.setViewportSize({ width: 360, height: 780 });
    await go('/cancel-flow/sessions?outcome=ended&reason=other&order=oldest');
    await page.getByText('Sort: Oldest first').click();
    await page.getByText('Filter (2)').click();
    await page.locator('select#offer').waitFor();
    await follow(page.getByRole('link', { name: 'Highest worth first' }));
    await page.waitForURL('**/sessions?outcome=ended&reason=other&order=highest');
    const filter = page.getByRole('link', { name: 'Saved', exact: true });
    assert.equal(await filter.isVisible(), false);
    await page.setViewportSize({ width: 1440, height: 800 });
    assert.equal(await page.getByText('Filter (2)').isVisible(), false);
    await follow(filter);
    await page.waitForURL('**/sessions?outcome=saved&reason=other&order=highest');
    await context.close();
  });
});
