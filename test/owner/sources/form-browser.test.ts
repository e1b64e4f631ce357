import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { Store } from '../../../src/store/open.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { findPostgresPrograms } from '../../support/postgres.ts';
import { importAll, openAnyStore } from '../../support/world.ts';
import { inspect, inspectText, openOwnerPage } from '../inspect.ts';
import { type Pasting, startPasting, streams } from './pasting.ts';

const skip =
  browserMissing ||
  (findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine');

describe('pasting what connects a platform, in a browser', { skip }, () => {
  let store: Store;
  let browser: Browser;
  let pasting: Pasting;
  before(async () => {
    store = openAnyStore();
    browser = await shareBrowser();
    pasting = await startPasting(store);
  });
  after(async () => {
    await leaveBrowser();
    await pasting.close();
    await store.close();
  });

  test('leads from the address to the figures, on accessible pages', async () => {
    const { service, visitor, source, shop, sources, sync } = pasting;
    const url = service.baseUrl;
    const opened = await openOwnerPage(browser, [url], true);
    const { context, page, problems } = opened;
    // What loads again cannot be inspected.
    await page.addInitScript('setInterval = () => 0');
    await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url })));
    const old = { type: 'plan', id: 5, name: 'Old', planType: 'subscription' };
    await importAll(store, shop, [{ ...old, intervalUnit: 'month', intervalCount: 1 }]);

    await page.goto(url + sources);
    await inspect(page, 'sources-form-free');
    await page.goto(`${url}${sources}/stripe/form`);
    await page.getByLabel('Restricted key').waitFor();
    await inspect(page, 'sources-stripe-form');
    await page.goto(url + sources);
    await page.getByRole('link', { name: 'Connect PostgreSQL' }).click();
    await page.getByRole('heading', { name: 'Connect PostgreSQL' }).waitFor();
    await inspect(page, 'sources-form');
    const address = page.getByLabel('Address of the database');
    await address.fill('postgres://reader@db.example.com');
    await page.getByRole('button', { name: 'Check address' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(await address.inputValue(), '');
    await inspect(page, 'sources-form-wrong');

    await address.fill(source.url);
    await page.getByText('For your developer').click();
    await page.getByLabel('Streams').fill(JSON.stringify(streams, null, 2));
    await inspect(page, 'sources-form-streams');
    await page.getByRole('button', { name: 'Check address' }).click();
    await page.getByRole('heading', { name: 'Check PostgreSQL' }).waitFor();
    const watching = await context.newPage();
    await watching.goto(page.url());
    // It loads again by itself.
    await watching.getByText('What would become of the records').waitFor({ state: 'attached' });
    await page.reload();
    await inspect(page, 'sources-check');
    await page.getByRole('link', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'Remove address?' }).waitFor();
    await inspect(page, 'sources-form-remove');
    await page.getByRole('link', { name: 'Keep it' }).click();
    await page.getByRole('link', { name: 'Check and start' }).click();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('alert').waitFor();
    await inspect(page, 'sources-check-undecided');
    await page.getByLabel('Let PostgreSQL take them over').check();
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(`**${sources}?done=connected`);
    await inspect(page, 'sources-form-first-sync');
    await watching.goto(url + sources);
    await watching.getByText('Everything is being fetched').waitFor();

    await source.owner.script(`update charges set amount = -1 where id = 'p-1'`);
    await sync();
    // It loads again by itself.
    await watching.getByText('1 record was refused').waitFor();
    await watching.close();
    await page.goto(url + sources);
    await inspect(page, 'sources-form-current');
    await source.owner.script('alter table charges rename column amount to total');
    const due = () =>
      store.write`update platforms.syncs set due_at = now() where shop_id = ${shop.id}`;
    await due();
    await sync();
    await page.goto(url + sources);
    await page.getByText('Sync failed', { exact: true }).waitFor();
    await inspectText(page, 'sources-form-failed');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Trying again').waitFor();
    await inspect(page, 'sources-form-retrying');
    await source.owner.script('alter table charges rename column total to amount');
    await sync();
    await page.getByRole('link', { name: 'Refresh' }).click();
    await page.getByText('Up to date', { exact: true }).waitFor();
    await source.admin.script(`alter role ${source.reader} nologin`);
    await due();
    await sync();
    await page.goto(url + sources);
    await page.getByText('Access ended').waitFor();
    await inspectText(page, 'sources-form-ended');
    await source.admin.script(`alter role ${source.reader} login`);
    await page.getByRole('link', { name: 'Replace address' }).click();
    await page.getByRole('heading', { name: 'Replace address of PostgreSQL' }).waitFor();
    await inspect(page, 'sources-form-replace');
    await page.getByRole('button', { name: 'Replace address' }).click();
    await page.waitForURL(`**${sources}?done=replaced`);
    await page.getByRole('link', { name: 'Disconnect PostgreSQL' }).click();
    await page.getByRole('heading', { name: 'Disconnect PostgreSQL?' }).waitFor();
    await inspect(page, 'sources-form-disconnect');
    assert.deepEqual(problems, []);
    await context.close();
  });
});
