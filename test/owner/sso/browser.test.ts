import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { openAnyStore } from '../../support/world.ts';
import { follow, inspect, openOwnerPage } from '../inspect.ts';
import { signedInOwner } from '../visitor.ts';
import { client } from './issuer.ts';
import { type SsoWorld, startSsoWorld } from './world.ts';

describe('single sign-on in a browser', { skip: browserMissing }, () => {
  let world: SsoWorld;
  let browser: Browser;
  before(async () => {
    world = await startSsoWorld(openAnyStore());
    browser = await shareBrowser();
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  test('is set up by an owner, and signs in people of the domain', async () => {
    const { baseUrl } = world.service;
    const { email } = await signedInOwner(world);
    world.issuer.person = { email, email_verified: true };
    const { context, page, problems } = await openOwnerPage(browser, [baseUrl, world.issuer.url]);
    await page.goto(`${baseUrl}/app/sign-in`);
    await inspect(page, 'sign-in-with-issuer');
    await follow(page.getByRole('link', { name: 'Sign in with Lumen Login' }));
    await page.goto(`${baseUrl}/app/shops/${world.shop.id}/sso`);
    await inspect(page, 'sso-empty');
    await page.getByLabel('Issuer').fill(world.issuer.url);
    await page.getByLabel('Client ID').fill(client.clientId);
    await page.getByLabel('Client secret').fill(client.clientSecret);
    await page.getByLabel('Mail domain').fill('browser.example');
    await follow(page.getByRole('button', { name: 'Save' }));
    await page.getByRole('alert').waitFor();
    await inspect(page, 'sso-refused');
    await page.getByLabel('Client secret').fill(client.clientSecret);
    await page.getByLabel('Role of others').selectOption('Analyst');
    await follow(page.getByRole('button', { name: 'Save' }));
    const record = await page.getByLabel('Text of the record').innerText();
    world.dns.set('_retention.browser.example', record);
    await follow(page.getByRole('button', { name: 'Verify' }));
    await page.getByText('The domain is verified').waitFor();
    await inspect(page, 'sso-verified');
    await context.close();
    assert.deepEqual(problems, []);

    world.issuer.person = { email: 'ana@browser.example', email_verified: true };
    const ana = await openOwnerPage(browser, [baseUrl, world.issuer.url]);
    await ana.page.goto(`${baseUrl}/app/shops/${world.shop.id}/churn`);
    await follow(ana.page.getByRole('link', { name: 'Sign in with single sign-on' }));
    await inspect(ana.page, 'sso-address');
    await ana.page.getByLabel('Email').fill('ana@browser.example');
    await follow(ana.page.getByRole('button', { name: 'Continue' }));
    await inspect(ana.page, 'sso-continue');
    await follow(ana.page.getByRole('link', { name: /^Sign in with / }));
    await ana.page.getByRole('heading', { name: 'Churn', exact: true }).waitFor();
    assert.deepEqual(ana.problems, []);
    await ana.context.close();
  });
});
