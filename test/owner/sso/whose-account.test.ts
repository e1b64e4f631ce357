import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inviteOwner } from '../../../src/accounts/links.ts';
import { findOwnerByEmail } from '../../../src/store/owners/owners.ts';
import { auditOf, whoIs } from '../../support/audit.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { until } from '../../support/until.ts';
import { createShop, startTestService } from '../../support/world.ts';
import { addApp, codeOf, giveCode } from '../factors/app.ts';
import { startMailServer } from '../notifications/mail-server.ts';
import { Visitor, isSignedIn, newAddress, password, signIn, signedInOwner } from '../visitor.ts';
import { type SsoWorld, roleOf, setUpShop, signInBySso, startSsoWorld } from './world.ts';

// An owner who invites sees the link, and so may choose the password of an address that is not theirs.
onOneDatabase('accounts of people who sign in at an issuer', (open) => {
  let world: SsoWorld;
  let mailServer: Awaited<ReturnType<typeof startMailServer>>;
  before(async () => {
    mailServer = await startMailServer();
    world = await startSsoWorld(open(), { mail: { url: mailServer.url, from: undefined } });
  });
  after(async () => {
    await world.close();
    await mailServer.close();
  });

  let domains = 0;
  const newPerson = async () => {
    const domain = `ivory${(domains += 1)}.example`;
    await setUpShop(world, domain);
    return `ana@${domain}`;
  };
  const enter = (email: string) => {
    world.issuer.person = { email, email_verified: true };
    return signInBySso(world, { id: world.shop.id });
  };
  const invite = async (email: string) => {
    const { id: shopId } = await createShop(world.store);
    return { shopId, ...(await inviteOwner(world.store.write, world.clock, { shopId, email })) };
  };
  /** Sends a form that the page does not have. */
  const post = async (visitor: Visitor, path: string) => {
    await visitor.get('/app/sign-in');
    return (await visitor.post(path, { password })).status;
  };
  const isMemberOf = async (visitor: Visitor, shopId: number) =>
    (await visitor.get(`/app/shops/${shopId}`)).status === 200;
  const lettersTo = (email: string) => mailServer.received.filter(({ to }) => to === email);
  const hashOf = async (email: string) =>
    (await findOwnerByEmail(world.store.write, email))?.passwordHash;

  test('get no password from an invitation to another shop', async () => {
    const email = await newPerson();
    const { visitor } = await enter(email);
    const { path, shopId } = await invite(email);
    const stranger = new Visitor(world.service.baseUrl, newAddress());
    const shown = await stranger.get(path);
    assert.match(shown.text, new RegExp(`href="/app/sso/${world.shop.id}\\?`));
    assert.doesNotMatch(shown.text, /type="password"/);
    assert.equal(await post(stranger, path), 200);
    assert.ok(!(await isSignedIn(stranger)));
    assert.equal(await hashOf(email), null);
    assert.ok(!(await isMemberOf(visitor, shopId)));
    // They accept it as they sign in.
    const { visitor: again } = await enter(email);
    assert.ok(await isMemberOf(again, shopId));
  });

  test('are told to choose a password once their issuer is gone', async () => {
    const domain = `ivory${(domains += 1)}.example`;
    const { visitor: owner, path: settings } = await setUpShop(world, domain);
    const email = `ana@${domain}`;
    await enter(email);
    await owner.get(settings);
    await owner.post(`${settings}/remove`);
    const { path } = await invite(email);
    const service = await startTestService(world.store, { clock: world.clock });
    try {
      const stranger = new Visitor(service.baseUrl, newAddress());
      const { text } = await stranger.get(path);
      assert.match(text, /You have an account, but no password\./);
      assert.doesNotMatch(text, /type="password"/);
      assert.equal(await post(stranger, path), 200);
      assert.equal(await hashOf(email), null);
    } finally {
      await service.close();
    }
  });

  test('lose a password that the one who invited them may have chosen', async () => {
    const email = await newPerson();
    const other = await createShop(world.store);
    const { visitor: stranger } = await signedInOwner(world, { email, shopId: other.id });
    const { visitor, page } = await enter(email);
    assert.equal(page.status, 303, page.text);
    assert.equal(await roleOf(world, email), 'analyst');
    assert.ok(await isMemberOf(visitor, other.id));
    assert.ok(!(await isSignedIn(stranger)));
    const { page: refused } = await signIn(world.service.baseUrl, email, password, newAddress());
    assert.match(refused.text, /Incorrect email or password/);
    const removed = (await auditOf(world.store.write, other.id)).find(
      ({ what }) => what === 'password_removed',
    );
    assert.equal(removed?.who, await whoIs(world.store, email));
    const [letter] = await until(
      async () => lettersTo(email),
      ({ length }) => length > 0,
    );
    assert.match(letter?.text ?? '', /your password was removed/);
  });

  test('join nothing without the second factor that a stranger may have added', async () => {
    const email = await newPerson();
    const other = await createShop(world.store);
    const { visitor: stranger } = await signedInOwner(world, { email, shopId: other.id });
    const { secret } = await addApp(stranger, world.clock.now());
    const { visitor, page } = await enter(email);
    assert.match(page.location ?? '', /second-step/);
    assert.equal(await roleOf(world, email), undefined);
    world.clock.advance(30_000);
    await visitor.get(page.location ?? '');
    assert.equal((await giveCode(visitor, codeOf(secret, world.clock.now()))).status, 303);
    assert.equal(await roleOf(world, email), 'analyst');
    const joined = (await auditOf(world.store.write, world.shop.id)).at(-1);
    assert.deepEqual([joined?.who, joined?.what], [await whoIs(world.store, email), 'owner_added']);
  });
});
