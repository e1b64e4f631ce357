import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import { type World, openAnyStore, startWorld } from '../support/world.ts';
import { follow, inspect, openSignedIn } from './inspect.ts';

describe('the frame of the owner’s pages in a browser', { skip: browserMissing }, () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    world = await startWorld(openAnyStore());
    browser = await shareBrowser();
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  async function account(javaScriptEnabled = true) {
    const opened = await openSignedIn(browser, world, world.shop, javaScriptEnabled);
    await opened.page.goto(`${world.service.baseUrl}/app/account`);
    const { page } = opened;
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    return { ...opened, ground, theme: (name: string) => page.getByRole('button', { name }) };
  }
  const [white, dark] = ['rgb(255, 255, 255)', 'rgb(20, 23, 27)'];

  test('opens the user’s menu, which Escape and a click elsewhere close', async () => {
    const { page, context, problems, theme } = await account();
    const summary = page.locator('.user summary');
    await summary.click();
    await theme('Dark').waitFor();
    await inspect(page, 'user-menu', ['light', 'dark']);
    await page.keyboard.press('Escape');
    await theme('Dark').waitFor({ state: 'hidden' });
    assert.equal(
      await page.evaluate('document.activeElement.parentElement.className'),
      'menu user',
    );
    await page.keyboard.press('Enter');
    await theme('Dark').waitFor();
    await page.getByRole('heading', { name: 'Password' }).click();
    await theme('Dark').waitFor({ state: 'hidden' });
    assert.deepEqual(problems, []);
    await context.close();
  });

  for (const hasScripts of [true, false]) {
    test(`remembers the theme, ${hasScripts ? 'with' : 'without'} scripts`, async () => {
      const { page, context, problems, ground, theme } = await account(hasScripts);
      const open = () => page.locator('.user summary').click();
      await page.evaluate('document.body.className = "not loaded again"');
      await open();
      assert.equal(await ground(), white);
      if (hasScripts) {
        await theme('Dark').click();
        await page.locator('html[data-theme=dark]').waitFor();
        assert.equal(await page.locator('.not.loaded.again').count(), 1);
      } else {
        await follow(theme('Dark'));
        await open();
      }
      assert.equal(await ground(), dark);
      assert.equal(await theme('Dark').getAttribute('aria-pressed'), 'true');
      await page.reload();
      assert.equal(await ground(), dark);
      await open();
      await page.emulateMedia({ colorScheme: 'dark' });
      if (hasScripts) {
        await theme('Light').click();
        await page.locator('html[data-theme=light]').waitFor();
      } else await follow(theme('Light'));
      assert.equal(await ground(), white);
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  test('shows the shortcut of the search, which has none without scripts', async () => {
    const { page, context } = await account();
    assert.equal(await page.getByRole('link', { name: 'Search' }).textContent(), 'SearchCtrl K');
    await context.close();
    const without = await account(false);
    assert.equal(await without.page.locator('a.search kbd').isVisible(), false);
    await without.context.close();
  });
});
