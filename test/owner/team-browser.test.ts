import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { inviteOwner } from '../../src/accounts/links.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import { type World, createShop, openAnyStore, startWorld } from '../support/world.ts';
import { follow, inspect, inspectText, openOwnerPage, openSignedIn } from './inspect.ts';
import { newEmail, password, signedInOwner } from './visitor.ts';

describe('a team in a browser', { skip: browserMissing }, () => {
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

  test('grows and shrinks on accessible pages', async () => {
    const { store, clock, service } = world;
    const shop = await createShop(store);
    await store.write`update shops set name = 'Kaffee & Kuchen' where shop_id = ${shop.id}`;
    await signedInOwner(world, { shopId: shop.id });
    await inviteOwner(store.write, clock, { shopId: shop.id, email: newEmail(), role: 'analyst' });
    const { context, page, problems } = await openSignedIn(browser, world, shop);
    await page.goto(`${service.baseUrl}/app/account`);
    await page.getByLabel('Name', { exact: true }).fill('Ana Silva');
    await follow(page.getByRole('button', { name: 'Save name' }));
    await inspect(page, 'account');
    await follow(page.getByRole('link', { name: 'Team' }).first());
    await inspect(page, 'team');
    const email = newEmail();
    await page.getByLabel('Email').fill(email);
    await page.getByRole('radio', { name: /Developer/ }).check();
    await follow(page.getByRole('button', { name: 'Create invitation' }));
    await inspectText(page, 'team-invited');
    const link = (await page.locator('#link').textContent()) ?? '';

    const other = await openOwnerPage(browser, [service.baseUrl]);
    await other.page.goto(link);
    await inspectText(other.page, 'team-invitation');
    await other.page.getByLabel('Name').fill('Bo Ek');
    await other.page.getByLabel('New password').fill(password);
    await follow(other.page.getByRole('button', { name: 'Accept invitation' }));
    await other.page.waitForURL(`**/app/shops/${shop.id}/sources`);

    // Going back from there does not lead to the form's answer.
    await follow(page.getByRole('link', { name: 'Done' }));
    await follow(page.getByRole('link', { name: 'Change Bo Ek' }));
    await inspectText(page, 'team-member');
    await page.getByRole('radio', { name: /Analyst/ }).check();
    await follow(page.getByRole('button', { name: 'Change role' }));
    await page.getByRole('status').waitFor();
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'Not part of your role' }).waitFor();
    await other.page.goto(`${service.baseUrl}/app/account`);
    await follow(other.page.getByRole('link', { name: 'Leave Kaffee & Kuchen' }));
    await inspectText(other.page, 'team-leave');
    await follow(other.page.getByRole('button', { name: 'Leave Kaffee & Kuchen' }));
    await other.page.getByText('You left your only shop').waitFor();
    await page.reload();
    assert.equal(await page.getByText('Bo Ek').count(), 0);
    assert.deepEqual([...problems, ...other.problems], []);
    await context.close();
    await other.context.close();
  });
});
