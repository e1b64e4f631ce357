import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type Clock, systemClock } from '../../src/clock.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { type World, openAnyStore, startTestService, startWorld } from '../support/world.ts';
import { follow, inspect, inspectText, openOwnerPage } from './inspect.ts';
import { startMailServer } from './notifications/mail-server.ts';
import { newEmail, password, signedInOwner } from './visitor.ts';

describe('a forgotten password in a browser', { skip: browserMissing }, () => {
  let world: World<Clock>;
  let browser: Browser;
  let server: Awaited<ReturnType<typeof startMailServer>>;
  before(async () => {
    server = await startMailServer();
    const mail = { url: server.url, from: undefined };
    // What was asked is forgotten a day later, by any service that starts: most have the time of the system.
    world = await startWorld(openAnyStore(), { mail, clock: systemClock });
    browser = await shareBrowser();
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
    await server?.close();
  });

  test('is replaced on accessible pages', async () => {
    const { email } = await signedInOwner(world);
    const { baseUrl } = world.service;
    const { context, page, problems } = await openOwnerPage(browser, [baseUrl]);
    await page.goto(`${baseUrl}/app/sign-in`);
    await follow(page.getByRole('link', { name: 'Forgot your password?' }));
    await inspect(page, 'forgot-password');
    const send = page.getByRole('button', { name: 'Send link' });
    await page.evaluate('document.querySelector("form.narrow").noValidate = true');
    await page.getByLabel('Email').fill('ana');
    await follow(send);
    await page.getByRole('alert').waitFor();
    await inspect(page, 'forgot-password-refused');
    await page.getByLabel('Email').fill(email);
    await follow(send);
    await page.getByText('a link is on its way to it').waitFor();
    await inspect(page, 'forgot-password-sent');

    const mail = await until(async () => server.received.find(({ to }) => to === email));
    const [link = ''] = /\/app\/links\/[\w-]{43}/.exec(mail?.text ?? '') ?? [];
    await page.goto(baseUrl + link);
    await inspect(page, 'new-password');
    await page.getByLabel('New password').fill('short');
    await follow(page.getByRole('button', { name: 'Set password' }));
    await page.getByRole('alert').waitFor();
    await inspect(page, 'new-password-refused');
    await page.getByLabel('New password').fill(`another ${password}`);
    await follow(page.getByRole('button', { name: 'Set password' }));
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(baseUrl + link);
    await inspectText(page, 'link-used');
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('cannot be asked for too often, and is the operator’s matter where no mail is sent', async () => {
    const { context, page, problems } = await openOwnerPage(browser, [world.service.baseUrl]);
    const email = newEmail();
    for (let asked = 0; asked < 4; asked += 1) {
      await page.goto(`${world.service.baseUrl}/app/forgot-password`);
      await page.getByLabel('Email').fill(email);
      await follow(page.getByRole('button', { name: 'Send link' }));
    }
    await page.getByText('Links were asked for too often').waitFor();
    await inspectText(page, 'forgot-password-delayed');
    assert.deepEqual(problems, []);
    await context.close();

    const silent = await startTestService(world.store);
    try {
      const opened = await openOwnerPage(browser, [silent.baseUrl]);
      await opened.page.goto(`${silent.baseUrl}/app/forgot-password`);
      await opened.page.getByText('This service sends no mail').waitFor();
      await inspectText(opened.page, 'forgot-password-operator');
      assert.deepEqual(opened.problems, []);
      await opened.context.close();
    } finally {
      await silent.close();
    }
  });
});
