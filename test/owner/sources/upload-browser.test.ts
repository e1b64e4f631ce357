import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { until } from '../../support/until.ts';
import { openAnyStore } from '../../support/world.ts';
import { inspect, openOwnerPage } from '../inspect.ts';
import { type Uploads, startUploads } from './upload-world.ts';

const table = [
  'Customer,Joined,Amount,State,Left on',
  'C1,02/03/2024,10.50,active,',
  'C2,04/05/2024,20.00,dormant,',
  'C3,06/07/2024,30.00,cancelled,08/09/2025',
  ...Array.from({ length: 20 }, (_, index) => `D${index},06/07/2024,5.${index + 10},active,`),
  'C4,06/07/2024,a lot,active,',
].join('\n');

describe('a file in a browser', { skip: browserMissing }, () => {
  let browser: Browser;
  let world: Uploads;
  before(async () => {
    browser = await shareBrowser();
    world = await startUploads(openAnyStore());
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? 'on accessible pages' : 'without scripts';
    test(`is chosen, checked and imported ${how}`, async () => {
      const { shop, visitor } = await world.openShop();
      const { baseUrl: url } = world.service;
      const opened = await openOwnerPage(browser, [url], javaScriptEnabled);
      const { context, page, problems } = opened;
      await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url })));
      const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
      const check = async (name: string) => {
        if (javaScriptEnabled) await inspect(page, name);
      };
      const chosen = path.join(world.folder, 'customers.csv');
      writeFileSync(chosen, table);

      await page.goto(`${url}/app/shops/${shop.id}/sources`);
      await page.getByRole('link', { name: 'Import a file' }).click();
      await check('upload-choose');
      await page.getByLabel('File').setInputFiles(chosen);
      await press('Upload and check');
      await page.getByRole('heading', { name: 'Check before importing' }).waitFor();
      await check('upload-preview');
      await page.getByLabel('What does “dormant” mean').selectOption('Paused');
      await press('Update preview');
      await page.getByText('21 active, 1 paused, 1 cancelled').waitFor();
      await press('Import');
      await page.getByRole('heading', { level: 1, name: /^Import(?:ing|ed)$/ }).waitFor();
      const done = page.getByText('The file was imported');
      // With scripts, the page about the progress loads again by itself.
      if (!javaScriptEnabled) {
        await until(async () => {
          await page.reload();
          return done.isVisible();
        });
      }
      await done.waitFor();
      await page.getByText('All refused lines').click();
      await check('upload-result');
      await page.getByRole('link', { name: 'See the overview' }).click();
      assert.equal(await page.locator('[data-figure=activeSubscribers]').innerText(), '21');
      assert.deepEqual(problems, []);
      await context.close();
    });
  }
});
