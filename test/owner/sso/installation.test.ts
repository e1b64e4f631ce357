import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inviteOwner, resetPassword } from '../../../src/accounts/links.ts';
import { auditOf, whoIs } from '../../support/audit.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { until } from '../../support/until.ts';
import { createShop, startTestService } from '../../support/world.ts';
import { Visitor, newAddress, newEmail, password, signedInOwner, isSignedIn } from '../visitor.ts';
import { startMailServer } from '../notifications/mail-server.ts';
import type { Change } from './issuer.ts';
import { type SsoWorld, goToIssuer, signInBySso, startSsoWorld } from './world.ts';

onOneDatabase('single sign-on at the issuer of the installation', (open) => {
  let world: SsoWorld;
  before(async () => {
    world = await startSsoWorld(open());
  });
  after(() => world.close());

  /** A member of the shop, who is the person at the issuer. */
  const member = async () => {
    const { email } = await signedInOwner(world);
    world.issuer.change = undefined;
    world.issuer.person = { email, email_verified: true };
    return email;
  };
  const invite = (email: string, shopId = world.shop.id) =>
    inviteOwner(world.store.write, world.clock, { shopId, email });
  const newVisitor = () => new Visitor(world.service.baseUrl, newAddress());

  test('signs in a member, and opens the page that was asked for', async () => {
    const email = await member();
    const next = `/app/shops/${world.shop.id}/keys`;
    const start = await newVisitor().get(`/app/sign-in?${new URLSearchParams({ next })}`);
    const link = /href="(\/app\/sso\/0\?[^"]+)"/.exec(start.text)?.[1] ?? '';
    assert.match(start.text, /Sign in with Lumen Login/);
    const { visitor, page } = await signInBySso(world, { query: link.slice(link.indexOf('?')) });
    assert.equal(page.location, next);
    assert.equal((await visitor.get(next)).status, 200);
    const { asked } = world.issuer;
    assert.equal(asked.get('code_challenge_method'), 'S256');
    for (const name of ['state', 'nonce', 'code_challenge']) assert.ok(asked.get(name), name);
    const last = (await auditOf(world.store.write, world.shop.id)).at(-1);
    assert.deepEqual([last?.who, last?.what], [await whoIs(world.store, email), 'signed_in']);
  });

  test('leads to no other site', async () => {
    await member();
    for (const next of [
      'https://evil.example/app',
      '//evil.example',
      '/app/../docs',
      'javascript:1',
    ]) {
      const { page } = await signInBySso(world, { query: `?${new URLSearchParams({ next })}` });
      assert.equal(page.location, '/app', next);
    }
  });

  test('accepts the invitations of the person', async () => {
    const email = newEmail();
    const other = await createShop(world.store);
    await invite(email);
    await invite(email, other.id);
    world.issuer.person = { email: email.toUpperCase(), email_verified: true };
    const { visitor, page } = await signInBySso(world);
    assert.equal(page.status, 303, page.text);
    for (const { id } of [world.shop, other]) {
      assert.equal((await visitor.get(`/app/shops/${id}`)).status, 200);
    }
    const added = (await auditOf(world.store.write, other.id)).filter(
      ({ what }) => what === 'owner_added',
    );
    assert.deepEqual(
      added.map(({ who }) => who),
      [await whoIs(world.store, email)],
    );
  });

  test('refuses people who are not invited, and creates no account', async () => {
    const email = newEmail();
    world.issuer.person = { email, email_verified: true };
    const { visitor, page } = await signInBySso(world);
    assert.equal(page.status, 403);
    assert.match(page.text, /Your address at Lumen Login is not invited\./);
    assert.ok(!(await isSignedIn(visitor)));
    assert.equal(await whoIs(world.store, email), 'owner undefined');
  });

  test('accepts an answer only in the browser that asked, once and for ten minutes', async () => {
    await member();
    const [visitor, thief] = [newVisitor(), newVisitor()];
    const back = await goToIssuer(world, visitor);
    await thief.get('/app/sign-in');
    assert.equal((await thief.get(back)).status, 403);
    assert.equal((await visitor.get(back)).status, 303);
    // The code has been used.
    const again = newVisitor();
    again.cookies.set('retention-form', visitor.cookies.get('retention-form') ?? '');
    assert.match((await again.get(back)).text, /The answer of Lumen Login is not valid/);
    assert.ok(!(await isSignedIn(again)));

    const late = newVisitor();
    const lateBack = await goToIssuer(world, late);
    world.clock.advance(10 * 60_000 + 1);
    const page = await late.get(lateBack);
    world.clock.advance(-10 * 60_000 - 1);
    assert.equal(page.status, 403);
    assert.match(page.text, /more than ten minutes/);
  });

  test('refuses the answer of another issuer, and a code that was given to another browser', async () => {
    await member();
    const visitor = newVisitor();
    const back = await goToIssuer(world, visitor);
    assert.equal(
      (await visitor.get(back.replace('/sso/0/', `/sso/${world.shop.id}/`))).status,
      403,
    );
    const wrong = new URL(back, world.service.baseUrl);
    wrong.searchParams.set('iss', 'https://evil.example');
    assert.equal((await visitor.get(wrong.pathname + wrong.search)).status, 403);
    // A stolen code does not fit the thief's own verifier.
    const thief = newVisitor();
    const own = new URL(await goToIssuer(world, thief), world.service.baseUrl);
    own.searchParams.set(
      'code',
      new URL(back, world.service.baseUrl).searchParams.get('code') ?? '',
    );
    assert.equal((await thief.get(own.pathname + own.search)).status, 403);
    assert.ok(!(await isSignedIn(thief)));
  });

  const hour = 3600;
  const changes: Readonly<Record<string, Change>> = {
    'another nonce': (claims) => ({ ...claims, nonce: 'A'.repeat(43) }),
    'no nonce': (claims) => ({ ...claims, nonce: undefined }),
    'another audience': (claims) => ({ ...claims, aud: 'another' }),
    'another issuer': (claims) => ({ ...claims, iss: 'https://evil.example' }),
    'an expired token': (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - hour }),
  };
  for (const [name, change] of Object.entries(changes)) {
    test(`refuses ${name}`, async () => {
      await member();
      world.issuer.change = (claims) => claims;
      assert.equal((await signInBySso(world)).page.status, 303);
      world.issuer.change = change;
      const { visitor, page } = await signInBySso(world);
      assert.equal(page.status, 403);
      assert.match(page.text, /The answer of Lumen Login is not valid/);
      assert.doesNotMatch(page.text, /nonce|audience|evil|another|expired/);
      assert.ok(!(await isSignedIn(visitor)));
      const last = (await auditOf(world.store.write, 0)).at(-1);
      assert.deepEqual([last?.what, last?.target], ['sso_refused', 'an invalid answer']);
    });
  }

  test('refuses a token that the issuer did not sign', async () => {
    await member();
    world.issuer.forges = true;
    const { page } = await signInBySso(world);
    world.issuer.forges = false;
    assert.equal(page.status, 403);
  });

  test('refuses an address that the issuer has not verified', async () => {
    const email = await member();
    for (const person of [
      { email },
      { email, email_verified: false },
      { email, email_verified: 'true' },
      {},
    ]) {
      world.issuer.person = { sub: 'ana', ...person };
      const { page } = await signInBySso(world);
      assert.equal(page.status, 403);
      assert.match(page.text, /has not verified your email address/);
    }
  });

  test('says when the issuer did not sign somebody in', async () => {
    await member();
    const visitor = newVisitor();
    const url = new URL(await goToIssuer(world, visitor), world.service.baseUrl);
    url.searchParams.delete('code');
    url.searchParams.set('error', 'access_denied');
    url.searchParams.set('error_description', '<b>evil</b>');
    const page = await visitor.get(url.pathname + url.search);
    assert.equal(page.status, 403);
    assert.match(page.text, /Lumen Login did not sign you in/);
    assert.doesNotMatch(page.text, /evil/);
  });

  test('asks to sign in again where a proof is needed, as the same person', async () => {
    const email = await member();
    const { visitor } = await signInBySso(world);
    const earlier = visitor.cookies.get('retention-session');
    const fresh = { visitor, query: '?fresh=1&next=/app/account' };
    assert.equal((await signInBySso(world, fresh)).page.location, '/app/account');
    assert.deepEqual(
      [world.issuer.asked.get('prompt'), world.issuer.asked.get('max_age')],
      ['login', '0'],
    );
    // The session is replaced.
    const old = newVisitor();
    old.cookies.set('retention-session', earlier ?? '');
    assert.ok(!(await isSignedIn(old)));

    world.issuer.change = (claims) => ({
      ...claims,
      auth_time: Math.floor(Date.now() / 1000) - hour,
    });
    assert.match((await signInBySso(world, fresh)).page.text, /did not ask you to sign in again/);
    await member();
    assert.match((await signInBySso(world, fresh)).page.text, new RegExp(`signed in as ${email}`));
    assert.match((await visitor.get('/app/account')).text, new RegExp(email));
  });

  test('replaces passwords with LOCAL_PASSWORDS=off, but not the links of the operator', async () => {
    const email = await member();
    const sso = {
      issuer: world.issuer.url,
      clientId: 'retention',
      clientSecret: 'x',
      name: 'Lumen Login',
    };
    const server = await startMailServer();
    const service = await startTestService(world.store, {
      clock: world.clock,
      sso,
      localPasswords: false,
      mail: { url: server.url, from: undefined },
    });
    try {
      const visitor = new Visitor(service.baseUrl, newAddress());
      const start = await visitor.get('/app/sign-in');
      assert.match(start.text, /Sign in with Lumen Login/);
      assert.match(start.text, /the operator of this service can make you a link that works once/);
      assert.doesNotMatch(start.text, /type="password"|data-passkey|forgot-password/);
      // From a page that was opened before.
      await visitor.get('/app/forgot-password');
      for (let tried = 0; tried < 8; tried += 1) {
        const page = await visitor.post('/app/sign-in', { email, password });
        assert.equal(page.status, 422);
        assert.match(page.text, /Single sign-on has replaced your password/);
      }
      await visitor.get('/app/forgot-password');
      assert.equal((await visitor.post('/app/forgot-password', { email })).status, 303);
      const reset = await resetPassword(world.store.write, world.clock, email);
      await visitor.get(reset?.path ?? '');
      const set = await visitor.post(reset?.path ?? '', { password: `another ${password}` });
      assert.equal(set.status, 303);
      assert.ok(await isSignedIn(visitor));
      // The mail about the change comes after the link would have.
      await until(
        () => server.received.filter(({ to }) => to === email),
        ({ length }) => length > 0,
      );
      assert.doesNotMatch(String(server.received.map(({ text }) => text)), /\/app\/links\//);
      visitor.cookies.clear();
      await visitor.get('/app/forgot-password');
      const { path } = await invite(newEmail());
      const invitation = await visitor.get(path);
      assert.match(invitation.text, /Sign in with Lumen Login/);
      assert.doesNotMatch(invitation.text, /type="password"/);
      assert.equal((await visitor.post(path, { password })).status, 200);
      assert.ok(!(await isSignedIn(visitor)));
    } finally {
      await service.close();
      await server.close();
    }
  });
});
