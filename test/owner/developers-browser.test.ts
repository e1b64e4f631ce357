import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { inviteOwner } from '../../src/accounts/links.ts';
import { systemClock } from '../../src/clock.ts';
import type { Service } from '../../src/service.ts';
import { addKeyUses, addLoggedRequests } from '../../src/store/keys/requests.ts';
import type { Store } from '../../src/store/open.ts';
import { plan, subscription } from '../rest/records.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import {
  createShop,
  createTestKey,
  importAll,
  openAnyStore,
  startTestService,
} from '../support/world.ts';
import { follow, inspect, inspectText, openOwnerPage } from './inspect.ts';
import { newEmail, password } from './visitor.ts';

describe('the pages for developers in a browser', { skip: browserMissing }, () => {
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

  /** A signed-in owner's page, on the overview of a shop with two subscriptions. */
  async function openShop(javaScriptEnabled = true) {
    const shop = await createShop(store, { tier: 'growth' });
    const records = [plan(), subscription(1001), subscription(1002)];
    assert.deepEqual((await importAll(store, shop, records, false, systemClock)).refused, []);
    const email = newEmail();
    const { path } = await inviteOwner(store.write, systemClock, { shopId: shop.id, email });
    const opened = await openOwnerPage(browser, [service.baseUrl], javaScriptEnabled);
    const { page } = opened;
    await page.goto(service.baseUrl + path);
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Accept invitation' }).click();
    await page.waitForURL(`**/app/shops/${shop.id}`);
    return { ...opened, shop, home: `${service.baseUrl}/app/shops/${shop.id}` };
  }

  for (const javaScriptEnabled of [true, false]) {
    const title = javaScriptEnabled ? 'with scripts' : 'without scripts';

    test(`from the overview, five clicks make a key and get a first answer with it, ${title}`, async () => {
      const { context, page, problems } = await openShop(javaScriptEnabled);
      let clicks = 0;
      const click = async (role: 'link' | 'button' | 'checkbox', name: string) => {
        clicks += 1;
        await page.getByRole(role, { name }).first().click();
      };
      await click('link', 'Developers');
      await click('link', 'Create key');
      await page.getByLabel('Name').fill('Storefront');
      await click('checkbox', 'See who is entitled right now');
      await click('button', 'Create key');
      const key = (await page.locator('#key').textContent()) ?? '';
      assert.match(key, /^rtn_[\w-]{43}$/);
      const opening = context.waitForEvent('page');
      await click('button', 'Run it now');
      const answer = await opening;
      await answer.getByText('200 OK').waitFor();
      await answer.waitForLoadState();
      const body = JSON.parse((await answer.locator('#answer-body').textContent()) ?? '');
      assert.deepEqual(
        body.subscriptions
          .map((each: { subscriptionId: number }) => each.subscriptionId)
          .toSorted(),
        [1001, 1002],
      );
      assert.equal(clicks, 5);
      assert.ok(!(await answer.content()).includes(key));
      // The page with the key is still there.
      assert.equal(await page.locator('#key').textContent(), key);
      assert.deepEqual(problems, []);
      await context.close();
    });
  }

  test('shows one language and one client at a time, without scripts and by keyboard', async () => {
    const { context, page, home } = await openShop(false);
    await page.goto(`${home}/developers`);
    const shown = () =>
      page
        .locator('pre:visible')
        .evaluateAll((blocks) => blocks.map((block) => block.getAttribute('aria-label')));
    const others = new Set<string | null>(['Base URL', 'MCP address']);
    const rest = async () => (await shown()).filter((label) => !others.has(label));
    assert.deepEqual(await rest(), ['Example request: curl', 'Configuration: Claude Code']);
    await page.getByRole('radio', { name: 'Python' }).check();
    await page.getByRole('radio', { name: 'Codex' }).check();
    assert.deepEqual(await rest(), ['Example request: Python', 'Configuration: Codex']);
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await rest(), ['Example request: Python']);
    await page.getByText('ChatGPT cannot connect').waitFor();
    await context.close();
  });

  test('are accessible, and fit phones and desktops, light and dark', async () => {
    const { context, page, problems, shop, home } = await openShop();
    await page.goto(`${home}/developers/console`);
    await inspect(page, 'console-no-key');
    await page.goto(`${home}/developers/usage`);
    await inspect(page, 'usage-empty');
    await page.goto(`${home}/developers/requests`);
    await inspect(page, 'requests-empty');

    const { id } = await createTestKey(store, shop.id, ['read:subscriptions', 'read:plans']);
    const { id: other } = await createTestKey(store, shop.id);
    const hour = Math.floor(systemClock.now() / 3_600_000);
    const answers = [
      ['list_subscriptions', 200, 41_204],
      ['list_subscriptions', 400, 12],
      ['list_subscriptions', 429, 3_310],
      ['get_subscription', 200, 918],
      ['get_subscription', 404, 7],
      ['get_metrics_summary', 403, 2],
      ['tools/call', 200, 64],
      ['list_plans', 401, 5],
      ['list_plans', 500, 1],
    ] as const;
    await addKeyUses(store.write, [
      {
        shopId: shop.id,
        keyId: id,
        lastUsedAt: new Date(systemClock.now()),
        counts: answers.map(([operation, status, requests]) => ({
          hour,
          operation,
          status,
          requests,
        })),
      },
    ]);
    await addLoggedRequests(store.write, [
      {
        shopId: shop.id,
        requests: Array.from({ length: 60 }, (_, each) => {
          const [operation, status] = answers[each % answers.length] as (typeof answers)[number];
          return {
            at: new Date(systemClock.now() - each * 7_000),
            requestId: randomUUID(),
            keyId: each % 2 === 0 ? other : id,
            transport: (['rest', 'mcp', 'page'] as const)[each % 3] ?? 'rest',
            operation,
            status,
            microseconds: 700 + each * 431,
            dropped: each === 30 ? 1_870 : 0,
          };
        }),
      },
    ]);
    await page.goto(`${home}/developers`);
    await inspect(page, 'developers');
    for (const client of ['Claude Desktop', 'ChatGPT']) {
      await page.getByRole('radio', { name: client }).check();
      await inspectText(page, `developers-${client.toLowerCase().replace(' ', '-')}`);
    }
    await page.goto(`${home}/developers/console?operation=list_subscriptions&key=${id}`);
    await inspect(page, 'console');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('200 OK').waitFor();
    await inspect(page, 'console-answer');
    await page.goto(`${home}/developers/console?operation=get_metrics_summary&key=${id}`);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('403 Forbidden').waitFor();
    await inspect(page, 'console-refusal');
    await page.goto(`${home}/developers/usage`);
    await inspect(page, 'usage');
    await page.goto(`${home}/developers/requests`);
    await inspect(page, 'requests');
    await follow(page.getByRole('link', { name: '429 Too Many Requests' }));
    await page.getByRole('combobox', { name: 'Key' }).selectOption(other);
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL(`**/requests?status=429&key=${other}`);
    assert.ok((await page.locator('tbody .state').count()) > 0);
    assert.deepEqual(
      new Set(await page.locator('tbody .state').allTextContents()),
      new Set(['429']),
    );
    await page.goto(`${home}/developers/requests?cursor=x`);
    await inspect(page, 'requests-invalid');
    assert.deepEqual(problems, []);
    await context.close();
  });
});
