import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { systemClock } from '../../src/clock.ts';
import { inviteOwner } from '../../src/accounts/links.ts';
import { admitStranger } from '../../src/accounts/throttle.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { addKeyUses } from '../../src/store/keys/requests.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import { updateShopTier } from '../../src/store/shops.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import { createShop, get, openAnyStore, startTestService } from '../support/world.ts';
import { follow, inspect, openOwnerPage } from './inspect.ts';
import { mcpPost } from './mcp-call.ts';
import { newEmail, password } from './visitor.ts';

describe('the owner’s pages in a browser', { skip: browserMissing }, () => {
  let store: Store;
  let service: Service;
  let browser: Browser;
  before(async () => {
    store = openAnyStore();
    service = await startTestService(store, { clock: systemClock });
    browser = await shareBrowser();
  });
  after(async () => {
    await leaveBrowser();
    await service?.close();
    await store.close();
  });

  const openPage = (javaScriptEnabled = true) =>
    openOwnerPage(browser, [service.baseUrl], javaScriptEnabled);

  async function invite(name = 'Kaffee & Kuchen') {
    const shop = await createShop(store, { tier: 'growth' });
    await store.write`update shops set name = ${name} where shop_id = ${shop.id}`;
    const email = newEmail();
    const { path } = await inviteOwner(store.write, systemClock, { shopId: shop.id, email });
    return { shop, email, link: service.baseUrl + path };
  }

  /** Stores requests with the first key for all hours but those at night. */
  async function useAllDay(shopId: number): Promise<void> {
    const [first] = await listKeys(store.write, shopId);
    const hour = Math.floor(systemClock.now() / 3_600_000);
    const counts = [
      0, 0, 0, 0, 0, 0, 1, 4, 30, 90, 120, 110, 80, 95, 140, 160, 120, 90, 60, 40, 30, 22, 10,
    ];
    await addKeyUses(store.write, [
      {
        shopId,
        keyId: first?.id ?? '',
        lastUsedAt: new Date(systemClock.now()),
        counts: counts.flatMap((requests, place) =>
          requests === 0
            ? []
            : [{ hour: hour - 23 + place, operation: 'list_plans', status: 200, requests }],
        ),
      },
    ]);
  }

  const plans = async (key: string) =>
    (await get(`${service.baseUrl}/api/external/v1/plans`, key)).status;

  test('accepts an invitation, and creates, rotates and revokes a key, on accessible pages', async () => {
    const { shop, email, link } = await invite();
    const { context, page, problems } = await openPage();
    await page.goto(link);
    await inspect(page, 'invitation');
    await page.getByLabel('New password').fill('PasswordPassword2026');
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.getByRole('alert').waitFor();
    await inspect(page, 'invitation-refused');
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.waitForURL(`**/app/shops/${shop.id}`);

    await follow(page.getByRole('link', { name: 'Developers' }));
    await inspect(page, 'keys-empty');
    await follow(page.getByRole('link', { name: 'Create key' }));
    await inspect(page, 'key-new');
    await page.getByLabel('Name').fill('Till in the café');
    await page.getByLabel('Read selling plans').check();
    await page.getByLabel('Allowed networks').fill('127.0.0.0/8, 2001:db8:1234::/48');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = (await page.locator('#key').textContent()) ?? '';
    assert.match(key, /^rtn_[\w-]{43}$/);
    await inspect(page, 'key-created');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), key);
    assert.equal(await plans(key), 200);
    assert.equal(await mcpPost(service.baseUrl, key), 200);

    await page.getByLabel('I have copied the key').check();
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByText('Till in the café').first().waitFor();
    assert.ok(!(await page.content()).includes(key));
    await page.goBack();
    await page.getByText('The key was already created').waitFor();
    assert.ok(!(await page.content()).includes(key));
    await page.goBack();
    await page.getByRole('heading', { name: 'Create key' }).waitFor();

    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/keys`);
    await follow(page.getByRole('link', { name: 'Rotate Till in the café' }));
    await inspect(page, 'key-rotate');
    await page.getByLabel('In 1 hour').check();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const second = (await page.locator('#key').textContent()) ?? '';
    assert.deepEqual([await plans(key), await plans(second)], [200, 200]);

    await useAllDay(shop.id);
    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/keys`);
    await page.getByText(/^1,2\d\d in 24 h$/).click();
    await page.getByRole('img', { name: /^Requests: 1,2\d\d in 24 h/ }).waitFor();
    await inspect(page, 'keys');
    for (const width of [1440, 768, 360]) {
      await page.setViewportSize({ width, height: 800 });
      const state = await page.getByText(/^Replaced by/).boundingBox();
      const links = page.getByRole('row').filter({ hasText: 'Replaced by' });
      const tried = await links.getByRole('link', { name: 'Test' }).boundingBox();
      assert.ok(state && tried && tried.y >= state.y + state.height, `${width} px`);
    }
    await follow(page.getByRole('link', { name: 'Networks Till in the café' }).first());
    await inspect(page, 'key-networks');
    await page.getByLabel('Allowed networks').fill('127.0.0.1 localhost');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('“localhost” is not an IP address or network').waitFor();
    await inspect(page, 'key-networks-refused');
    await page.getByLabel('Allowed networks').fill('127.0.0.1');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Networks saved.').waitFor();
    await page.getByLabel('They expire at the latest').selectOption('After 90 days');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Made before, and valid for longer').waitFor();
    await inspect(page, 'keys-policy');
    await follow(page.getByRole('link', { name: 'Revoke Till in the café' }).last());
    await inspect(page, 'key-revoke');
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Key revoked.').waitFor();
    assert.deepEqual([await plans(key), await plans(second)], [401, 200]);
    await inspect(page, 'keys-ended');

    await updateShopTier(store.write, shop.id, 'starter');
    await page.reload();
    await page.getByText('API keys are available from the Growth tier').waitFor();
    await inspect(page, 'keys-locked');
    await page.locator('.user summary').click();
    await follow(page.getByRole('link', { name: 'Account' }));
    await inspect(page, 'account');
    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/audit`);
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await inspect(page, 'audit-log');
    await page.locator('.user summary').click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill('something wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    await inspect(page, 'sign-in');
    await context.clearCookies({ name: 'retention-device' });
    for (let tried = 0; tried < 5; tried += 1) {
      await admitStranger(store.write, systemClock, { email, address: '127.0.0.1' });
    }
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Too many incorrect passwords. Try again in').waitFor();
    await inspect(page, 'sign-in-delayed');
    await page.goto(`${service.baseUrl}/app/nowhere`);
    await inspect(page, 'not-found');
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('works without scripts, except for copying, and shows no key on going back', async () => {
    const { shop, link } = await invite();
    const { context, page, problems } = await openPage(false);
    await page.goto(link);
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.waitForURL(`**/app/shops/${shop.id}`);
    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/keys/new`);
    await page.getByLabel('Name').fill('Till');
    await page.getByLabel('Read selling plans').check();
    await page.getByRole('button', { name: 'Create key' }).click();
    assert.equal(await plans((await page.locator('#key').textContent()) ?? ''), 200);
    assert.equal(await page.getByRole('button', { name: 'Copy' }).count(), 0);
    assert.deepEqual(problems, []);

    // What “Done” leads to has the place of the key, so that going back passes it.
    const finish = async () => {
      assert.equal(await page.getByRole('link', { name: 'Done' }).count(), 0);
      await page.getByLabel('I have copied the key').check();
      await page.getByRole('link', { name: 'Done' }).click();
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
      await page.goBack();
    };
    await finish();
    await page.getByRole('heading', { name: 'Create key' }).waitFor();
    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/keys`);
    await page.getByRole('link', { name: 'Rotate Till' }).click();
    await page.getByLabel('In 1 hour').check();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    await finish();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();

    await page.goto(`${service.baseUrl}/app/shops/${shop.id}/keys/new`);
    await page.getByLabel('Name').fill('Other');
    await page.getByLabel('Read selling plans').check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.waitForURL(`**/app/shops/${shop.id}`);
    // The browser would have to send the form again to show the key, and asks first.
    await assert.rejects(page.goBack(), /ERR_CACHE_MISS/);
    await context.close();
  });
});
