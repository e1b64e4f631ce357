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
import { openSignedIn } from './inspect.ts';

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

  async function open() {
    const url = world.service.baseUrl;
    const opened = await openSignedIn(browser, world, shop);
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
});
