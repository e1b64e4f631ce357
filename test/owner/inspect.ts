import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { timeoutMilliseconds } from '../support/browser.ts';
import type { TestShop, World } from '../support/world.ts';
import { signedInOwner } from './visitor.ts';

/** The minified file: each page compiles it, and `axe.source` is more than twice as long. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** The axe rules to check in each colour scheme; dark differs from light only in colours. */
const runOnly = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  dark: ['color-contrast'],
};

/** What depends on the width: how far apart targets are, and what scrolls. */
const phoneRules = ['target-size', 'scrollable-region-focusable'];

type Scheme = keyof typeof runOnly;

/** Runs in the page, and returns only the number of passes, whose details take megabytes. */
async function runAxe(rules: string[], within: axe.ElementContext) {
  const options = { runOnly: rules, resultTypes: ['violations' as const], preload: false };
  const found = await axe.run(within, options);
  return {
    passed: found.passes.length,
    violations: found.violations.map(({ id, nodes }) => [id, ...nodes.map((each) => each.html)]),
  };
}

/** Checks that a page fits a width, and that it meets WCAG there, in each of these colour schemes. */
async function inspectAt(page: Page, width: number, schemes: readonly Scheme[], name: string) {
  await page.setViewportSize({ width, height: 800 });
  const wide = await page.evaluate('document.documentElement.scrollWidth');
  assert.ok(Number(wide) <= width, `${name}, ${width} px: the page is ${wide} px wide`);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    const where = `${name}, ${width} px, ${colorScheme}`;
    const folder = process.env['TEST_SCREENSHOTS'];
    if (folder) {
      const file = `${folder}/${name}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: file, fullPage: true });
    }
    assert.ok((await checkRules(page, runOnly[colorScheme], where)) > 0, where);
  }
}

/** @param within an expression in the page @returns the number of rules that apply to something */
async function checkRules(page: Page, rules: string[], where: string, within = 'document') {
  const { passed, violations } = (await page.evaluate(
    `(${runAxe})(${JSON.stringify(rules)}, ${within})`,
  )) as Awaited<ReturnType<typeof runAxe>>;
  assert.deepEqual(violations, [], where);
  return passed;
}

const shown = '[...document.querySelectorAll("main *")].filter((each) => each.checkVisibility())';

/** Checks what depends on the width, and what only phones show: the rest has the same markup and colours on desktops. */
async function inspectOnPhone(page: Page, name: string) {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1440, height: 800 });
  await page.evaluate(`globalThis.onDesktop = new Set(${shown}); undefined`);
  await inspectAt(page, 360, [], name);
  const where = `${name}, 360 px`;
  await checkRules(page, phoneRules, where);
  const added = await page.evaluate(
    `(globalThis.onPhoneAlone = ${shown}.filter((each) => !onDesktop.has(each))).length`,
  );
  if (added !== 0) await checkRules(page, runOnly.light, where, 'onPhoneAlone');
}

async function loadAxe(page: Page): Promise<void> {
  await page.waitForLoadState();
  // Axe passes over what is in closed details, also where they show it.
  await page.evaluate('for (const fold of document.querySelectorAll(".fold")) fold.open = true');
  const twice = await page.evaluate(
    '[...document.querySelectorAll("[id]")].map(({ id }) => id).filter((id, index, all) => all.indexOf(id) !== index)',
  );
  assert.deepEqual(twice, [], 'ids that the page has twice');
  await page.evaluate(axeSource);
  // Without media, it need not preload anything.
  assert.equal(await page.locator('audio, video').count(), 0);
}

/**
 * Checks that a page meets WCAG, and fits phones, tablets and desktops. Tablets show nothing that the others do not.
 * @param onPhone with all rules, for a page that shows what only phones have: the bar of the frame, tables without columns
 */
export async function inspect(
  page: Page,
  name: string,
  onPhone?: readonly Scheme[],
): Promise<void> {
  await loadAxe(page);
  if (onPhone) await inspectAt(page, 360, onPhone, name);
  else await inspectOnPhone(page, name);
  await inspectAt(page, 768, [], name);
  await inspectAt(page, 1440, ['light', 'dark'], name);
}

/** The same for another page of the same frame and style, whose text alone is its own. */
export async function inspectText(page: Page, name: string): Promise<void> {
  await loadAxe(page);
  for (const width of [360, 768]) await inspectAt(page, width, [], name);
  await inspectAt(page, 1440, ['light'], name);
}

/** Checks that a page fits phones and desktops from right to left. */
export async function inspectRightToLeft(page: Page): Promise<void> {
  await page.evaluate('document.documentElement.dir = "rtl"');
  for (const width of [360, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    const hidden = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    assert.equal(hidden, 0, `${width} px, right to left`);
  }
}

/**
 * Records layout shifts without user input that can be seen, with what moved. A line of text that moves by a pixel is
 * 8e-6, by its height 8e-4.
 */
export const watchShifts = `
  globalThis.shifts = [];
  const place = ({ x, y, width, height }) => [x, y, width, height].join(' ');
  const moved = ({ node, previousRect, currentRect }) =>
    (node?.outerHTML ?? node?.data ?? '').slice(0, 80) + ': ' + place(previousRect) + ' → ' + place(currentRect);
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value, sources } of list.getEntries())
      if (!hadRecentInput && value > 1e-4) shifts.push([value, ...sources.map(moved)].join('\\n'));
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Two frames later, all changes have been painted. */
export const painted =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** Clicks what leads to another page, and waits until that one has loaded: else the test could still read the first. */
export async function follow(link: Locator): Promise<void> {
  const page = link.page();
  await page.waitForLoadState();
  await Promise.all([page.waitForEvent('load'), link.click()]);
}

/**
 * A page in a new browser context, with its console errors and foreign requests.
 * @param baseUrls where it may go
 */
export async function openOwnerPage(
  browser: Browser,
  baseUrls: readonly string[],
  javaScriptEnabled = true,
) {
  // Chromium reports a transition between pages that a change of size aborts as an error.
  const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' });
  context.setDefaultTimeout(timeoutMilliseconds);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    const isStatus = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isStatus) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    const isOurs = url.startsWith('data:') || baseUrls.some((each) => url.startsWith(`${each}/`));
    if (!isOurs) problems.push(url);
  });
  return { context, page, problems };
}

/** The same, signed in as an owner of a shop. */
export async function openSignedIn(
  browser: Browser,
  world: World,
  shop: TestShop,
  javaScriptEnabled = true,
) {
  const url = world.service.baseUrl;
  const { visitor } = await signedInOwner({ ...world, shop });
  const opened = await openOwnerPage(browser, [url], javaScriptEnabled);
  await opened.context.addCookies(
    [...visitor.cookies].map(([name, value]) => ({ name, value, url })),
  );
  return opened;
}
