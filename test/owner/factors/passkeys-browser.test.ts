import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { findOwnerByEmail } from '../../../src/store/owners/owners.ts';
import { auditOf } from '../../support/audit.ts';
import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { until } from '../../support/until.ts';
import { type World, createShop, openAnyStore, startWorld } from '../../support/world.ts';
import { follow, inspect, inspectText, openOwnerPage } from '../inspect.ts';
import { password, signedInOwner } from '../visitor.ts';
import { addApp, codeOf } from './app.ts';

describe('passkeys in a browser', { skip: browserMissing }, () => {
  let world: World<Clock>;
  let browser: Browser;
  /** The name that browsers know as their own machine, unlike the address. */
  let local: string;
  before(async () => {
    // Challenges end by the time of any service that starts, and most have the system's.
    world = await startWorld(openAnyStore(), { clock: systemClock });
    local = world.service.baseUrl.replace('127.0.0.1', 'localhost');
    browser = await shareBrowser();
  });
  after(async () => {
    await leaveBrowser();
    await world?.close();
  });

  /** Opens a page with an authenticator that accepts the fingerprint of its user. */
  async function openWithAuthenticator() {
    const opened = await openOwnerPage(browser, [local]);
    const { page, context } = opened;
    const devtools = await context.newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    const credentials = async () =>
      (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
    type Credential = Awaited<ReturnType<typeof credentials>>[number];
    return {
      ...opened,
      credentials,
      /** Has only this credential from now on. */
      async hold(credential: Credential): Promise<void> {
        await devtools.send('WebAuthn.clearCredentials', { authenticatorId });
        await devtools.send('WebAuthn.addCredential', { authenticatorId, credential });
      },
      verify: (isUserVerified: boolean) =>
        devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    };
  }

  async function openShop() {
    const shop = await createShop(world.store);
    const owner = await signedInOwner({ ...world, shop });
    const ownerId = (await findOwnerByEmail(world.store.write, owner.email))?.ownerId ?? '';
    return { ...owner, shop, ownerId, home: `${local}/app/shops/${shop.id}` };
  }

  async function signIn(page: Page, email: string) {
    await page.context().clearCookies();
    await page.goto(`${local}/app/sign-in`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await follow(page.getByRole('button', { name: 'Sign in', exact: true }));
  }

  async function addPasskey(page: Page, name: string) {
    await page.goto(`${local}/app/account/factors`);
    await page.getByLabel('Name').fill(name);
    await follow(page.getByRole('button', { name: 'Add passkey' }));
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });

  test('are made, sign in alone, are the second step, and confirm, on accessible pages', async () => {
    const { email, home, shop, ownerId } = await openShop();
    const { context, page, problems, credentials } = await openWithAuthenticator();
    await signIn(page, email);
    await heading(page, 'Overview').waitFor();
    await page.goto(`${local}/app/account/factors`);
    await inspect(page, 'factors-none');
    await addPasskey(page, 'Ana’s laptop');
    await heading(page, 'Recovery codes').waitFor();
    assert.match((await page.locator('#codes').textContent()) ?? '', /^(?:[A-Z2-7-]{19}\n?){10}$/);
    await inspect(page, 'recovery-codes');
    const [made] = await credentials();
    assert.deepEqual([made?.rpId, made?.isResidentCredential], ['localhost', true]);
    // The device that has one makes no second one.
    await page.goto(`${local}/app/account/factors`);
    await page.getByLabel('Name').fill('Again');
    await page.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByText('This device already has a passkey of yours.').waitFor();
    await page.goto(`${local}/app/account/factors`);
    await inspect(page, 'factors');

    await context.clearCookies();
    await page.goto(`${home}/keys`);
    await inspect(page, 'sign-in-passkey');
    await follow(page.getByRole('button', { name: 'Sign in with a passkey' }));
    await heading(page, 'Keys').waitFor();

    await signIn(page, email);
    await heading(page, 'Second factor').waitFor();
    await inspect(page, 'second-step');
    await follow(page.getByRole('button', { name: 'Use a passkey' }));
    await heading(page, 'Overview').waitFor();

    const long = new Date(systemClock.now() - 3_600_000);
    await world.store
      .write`update owners.sessions set proved_at = ${long} where owner_id = ${ownerId}`;
    await page.goto(`${home}/keys/new`);
    await heading(page, 'Confirm that it is you').waitFor();
    await inspectText(page, 'confirm');
    await follow(page.getByRole('button', { name: 'Use a passkey' }));
    await heading(page, 'Create key').waitFor();
    // A form that was sent too late goes on with what was typed.
    await page.getByLabel('Name').fill('Till');
    await page.getByRole('checkbox').first().check();
    await world.store
      .write`update owners.sessions set proved_at = ${long} where owner_id = ${ownerId}`;
    await follow(page.getByRole('button', { name: 'Create key' }));
    await heading(page, 'Confirm that it is you').waitFor();
    await inspectText(page, 'confirm-form');
    await follow(page.getByRole('button', { name: 'Use a passkey' }));
    await page.getByText('Copy it now.').waitFor();
    const acts = (await auditOf(world.store.write, shop.id)).map(({ what }) => what);
    assert.ok(!acts.includes('second_factor_failed'));
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('of somebody else, copied or without a fingerprint do not count', async () => {
    const ana = await openShop();
    const { context, page, problems, credentials, hold, verify } = await openWithAuthenticator();
    await signIn(page, ana.email);
    await addPasskey(page, 'Ana');
    const [anas] = await credentials();
    assert.ok(anas);
    await page.goto(`${local}/app/account/factors`);

    // A passkey of Ben's does not open Ana's account after her password.
    const ben = await openShop();
    await signIn(page, ben.email);
    await addPasskey(page, 'Ben');
    const bens = (await credentials()).find(
      ({ credentialId }) => credentialId !== anas.credentialId,
    );
    assert.ok(bens);
    await signIn(page, ana.email);
    await page.route('**/app/passkey-challenge', async (route) => {
      const answer = await route.fetch();
      // As if Ana's page asked for any passkey.
      const options = { ...(await answer.json()), allowCredentials: [] };
      await route.fulfill({ response: answer, json: options });
    });
    await hold(bens);
    await follow(page.getByRole('button', { name: 'Use a passkey' }));
    await page.getByRole('alert').getByText('This was not right').waitFor();
    await page.unroute('**/app/passkey-challenge');

    // An authenticator that counts less than last time is a copy.
    await hold({ ...anas, signCount: 100 });
    await follow(page.getByRole('button', { name: 'Use a passkey' }));
    await heading(page, 'Overview').waitFor();
    await hold({ ...anas, signCount: 50 });
    const signInAlone = async () => {
      await context.clearCookies();
      await page.goto(`${local}/app/sign-in`);
      await follow(page.getByRole('button', { name: 'Sign in with a passkey' }));
    };
    await signInAlone();
    await page.getByText('This passkey does not sign you in here.').waitFor();
    await inspectText(page, 'sign-in-passkey-refused');
    const failures = await until(
      async () =>
        (await auditOf(world.store.write, ana.shop.id)).filter(
          ({ what }) => what === 'second_factor_failed',
        ),
      ({ length }) => length === 2,
    );
    assert.deepEqual(
      failures.map(({ target }) => target),
      [`owner ${ana.ownerId}`, `owner ${ana.ownerId}`],
    );
    await hold({ ...anas, signCount: 200 });
    await signInAlone();
    await heading(page, 'Overview').waitFor();

    // Without a fingerprint or a PIN.
    await verify(false);
    await context.clearCookies();
    await page.goto(`${local}/app/sign-in`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('No passkey came.').waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  });

  test('cannot be replayed, nor answered in another browser', async () => {
    const { email } = await openShop();
    const { context, page, problems } = await openWithAuthenticator();
    await signIn(page, email);
    await addPasskey(page, 'Ana');
    await heading(page, 'Recovery codes').waitFor();
    await context.clearCookies();
    let sent = '';
    await page.route('**/app/sign-in/passkey', async (route) => {
      sent = route.request().postData() ?? '';
      await route.abort();
    });
    await page.goto(`${local}/app/sign-in`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    const answer = new URLSearchParams(await until(async () => sent)).get('passkey') ?? '';
    await page.unroute('**/app/sign-in/passkey');
    const send = async (other: Page) => {
      await other.goto(`${local}/app/sign-in`);
      await other.evaluate(
        `document.querySelector('[name=passkey]').value = ${JSON.stringify(answer)}`,
      );
      await Promise.all([
        other.waitForEvent('load'),
        other.evaluate(`document.querySelector('[name=passkey]').form.submit()`),
      ]);
      return new URL(other.url()).search;
    };
    const thief = await openOwnerPage(browser, [local]);
    assert.match(await send(thief.page), /failed=passkey/);
    assert.equal(await send(page), '');
    await heading(page, 'Overview').waitFor();
    await page.locator('.user summary').click();
    await follow(page.getByRole('button', { name: 'Sign out' }));
    assert.match(await send(page), /failed=passkey/);
    assert.deepEqual([...problems, ...thief.problems], []);
    for (const each of [context, thief.context]) await each.close();
  });

  test('are not offered where browsers make none, and the page says why', async () => {
    const { visitor, email } = await openShop();
    const { baseUrl } = world.service;
    const { secret } = await addApp(visitor, systemClock.now());
    // Without scripts, codes do all.
    const { context, page, problems } = await openOwnerPage(browser, [baseUrl, local], false);
    await page.goto(`${baseUrl}/app/sign-in`);
    await page.getByText('Passkeys need a name in the address').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Sign in with a passkey' }).count(), 0);
    await page.goto(`${local}/app/sign-in`);
    await page.getByText('Passkeys need JavaScript.').waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await follow(page.getByRole('button', { name: 'Sign in', exact: true }));
    await page.getByLabel('Code').fill('000 000');
    await follow(page.getByRole('button', { name: 'Confirm' }));
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Code').fill(codeOf(secret, systemClock.now(), 1));
    await follow(page.getByRole('button', { name: 'Confirm' }));
    await heading(page, 'Overview').waitFor();
    await page.goto(`${local}/app/account/factors`);
    await page.locator('noscript p').waitFor();
    assert.equal(await page.getByLabel('Name').filter({ visible: true }).count(), 0);
    await follow(page.getByRole('link', { name: 'Set up an app' }));
    await page.getByRole('img', { name: 'QR code with the key below' }).waitFor();
    assert.deepEqual(problems, []);
    await context.close();

    const signedIn = await openOwnerPage(browser, [local]);
    await signedIn.context.addCookies(
      [...visitor.cookies].map(([name, value]) => ({ name, value, url: local })),
    );
    await signedIn.page.goto(`${local}/app/account/factors/app`);
    await inspect(signedIn.page, 'authenticator-app');
    for (const width of [1440, 768, 360]) {
      await signedIn.page.setViewportSize({ width, height: 800 });
      const copy = await signedIn.page.getByRole('button', { name: 'Copy' }).boundingBox();
      const label = await signedIn.page.getByText('Code', { exact: true }).boundingBox();
      assert.ok(copy && label && label.y - copy.y - copy.height >= 12, `${width} px`);
    }
    await signedIn.page.goto(`${local}/app/account`);
    await inspectText(signedIn.page, 'account-factor');
    const [, shopId = ''] = /shops\/(\d+)/.exec((await visitor.get('/app')).location ?? '') ?? [];
    await signedIn.page.goto(`${local}/app/shops/${shopId}/second-factor`);
    await inspect(signedIn.page, 'team-factor');
    await signedIn.context.close();
  });
});
