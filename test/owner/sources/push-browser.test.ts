import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { systemClock } from '../../../src/clock.ts';
import type { Service } from '../../../src/service.ts';
import { credentialsKeys } from '../../push/world.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { createShop, openAnyStore, startTestService } from '../../support/world.ts';
import { follow, inspect, openOwnerPage } from '../inspect.ts';
import { signedInOwner } from '../visitor.ts';

describe('push sources in a browser', { skip: browserMissing }, () => {
  const store = openAnyStore();
  let browser: Browser;
  let service: Service;
  before(async () => {
    browser = await shareBrowser();
    service = await startTestService(store, { clock: systemClock, credentialsKeys });
  });
  after(async () => {
    await leaveBrowser();
    await service?.close();
    await store.close();
  });

  test('are created, rotated and revoked on accessible pages', async () => {
    const shop = await createShop(store);
    const { visitor } = await signedInOwner({ store, clock: systemClock, service, shop });
    const { baseUrl: url } = service;
    const { context, page, problems } = await openOwnerPage(browser, [url], true);
    await context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url })));
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

    await page.goto(`${url}/app/shops/${shop.id}/sources`);
    await page.getByRole('link', { name: 'Create push source' }).click();
    await page.getByLabel('Name').fill('Cancel flow');
    await inspect(page, 'push-new');
    await press('Continue');
    const secret = await page.locator('#secret').textContent();
    assert.match(secret ?? '', /^whsec_/);
    await inspect(page, 'push-created');
    await page.getByRole('checkbox').check();
    await press('Done');

    await page.getByRole('rowheader', { name: 'Cancel flow' }).waitFor();
    const refused = JSON.stringify([{ line: 1, reason: `plan ${'x'.repeat(100)} is not known` }]);
    await store.write`
      insert into ingest.batches
        (shop_id, source_id, batch_id, digest, received_at, outcomes, refused, refused_count)
      select ${shop.id}, source_id, gen_random_uuid(), '', now(), '{}', ${refused}, 1
      from ingest.sources where shop_id = ${shop.id}`;
    await page.reload();
    await page.getByText('1 record was refused in the last 30 days.').waitFor();
    await inspect(page, 'push-sources');
    await follow(page.getByRole('link', { name: 'Rotate Cancel flow' }));
    await inspect(page, 'push-rotate');
    await press('Rotate secret');
    assert.notEqual(await page.locator('#secret').textContent(), secret);
    await page.goto(`${url}/app/shops/${shop.id}/sources`);
    await page.getByText('Old secret works until').waitFor();
    await follow(page.getByRole('link', { name: 'Revoke Cancel flow' }));
    await inspect(page, 'push-revoke');
    await press('Revoke push source');
    await page.getByText('Push source revoked.').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });
});
