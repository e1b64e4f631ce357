import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inviteOwner, resetPassword } from '../../src/accounts/links.ts';
import { listMembers } from '../../src/store/owners/owners.ts';
import { auditOf, whoIs } from '../support/audit.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, startWorld } from '../support/world.ts';
import { Visitor, newEmail, password, removeOwner, signIn, signedInOwner } from './visitor.ts';

onOneDatabase('a one-time link', (open) => {
  let world: World;
  let baseUrl: string;
  before(async () => {
    world = await startWorld(open());
    baseUrl = world.service.baseUrl;
  });
  after(() => world.close());

  const invite = async (email: string, shopId = world.shop.id) => {
    const { path } = await inviteOwner(world.store.write, world.clock, { shopId, email });
    return path;
  };
  const follow = async (path: string, chosen = password) => {
    const visitor = new Visitor(baseUrl);
    // All pages of a visitor share one token.
    await visitor.get('/app/sign-in');
    const seen = await visitor.get(path);
    return { visitor, seen, page: await visitor.post(path, { password: chosen }) };
  };

  test('sets a password once, even if it is followed twice at the same time', async () => {
    const email = newEmail();
    const path = await invite(email);
    const both = await Promise.all([follow(path), follow(path)]);
    assert.deepEqual(both.map(({ page }) => page.status).toSorted(), [303, 404]);
    const late = await follow(path);
    assert.deepEqual([late.seen.status, late.page.status], [404, 404]);
    assert.equal((await signIn(baseUrl, email)).page.status, 303);
  });

  test('can be viewed without being used up, and refuses a weak password', async () => {
    const email = newEmail();
    const path = await invite(email);
    for (const [word, problem] of [
      ['fourteen chars', 'Use at least 15 characters'],
      ['aaaaaaaaaaaaaaaaaaaa', 'Use a greater variety of characters'],
      [`${email} and`, 'Do not include your email address'],
      ['PasswordPassword2026', 'This is one of the first passwords anyone tries'],
      ['Test shop retention!', 'This is little more than your shop’s name'],
    ] as const) {
      const { seen, page } = await follow(path, word);
      assert.deepEqual([seen.status, page.status], [200, 422]);
      assert.match(page.text, new RegExp(`role="alert">\\s*${problem}`), word);
    }
    assert.equal((await follow(path)).page.status, 303);
  });

  test('refuses a shop’s name as the new password on a reset', async () => {
    const shop = await createShop(world.store);
    await world.store.write`update shops set name = 'Yerba & Maté' where shop_id = ${shop.id}`;
    const { email } = await signedInOwner(world, { shopId: shop.id });
    const { path = '' } = (await resetPassword(world.store.write, world.clock, email)) ?? {};
    const { page } = await follow(path, 'Yerba maté retention');
    assert.equal(page.status, 422);
    assert.match(page.text, /This is little more than your shop’s name/);
    assert.equal((await follow(path, `new ${password}`)).page.status, 303);
  });

  test('is a sign-in for the audit logs of the owner’s other shops', async () => {
    const { email } = await signedInOwner(world);
    const { write } = world.store;
    const other = await createShop(world.store);
    const { page } = await follow(await invite(email, other.id));
    assert.equal(page.status, 303);
    const who = await whoIs(world.store, email);
    const actsOf = async (shopId: number) =>
      (await auditOf(write, shopId)).filter((each) => each.who === who).map(({ what }) => what);
    assert.deepEqual(await actsOf(world.shop.id), ['owner_added', 'signed_in']);
    assert.deepEqual(await actsOf(other.id), ['owner_added']);
  });

  test('expires after an hour if it resets a password', async () => {
    const { email } = await signedInOwner(world);
    const link = await resetPassword(world.store.write, world.clock, email);
    world.clock.advance(3_600_000 - 1);
    assert.equal((await new Visitor(baseUrl).get(link?.path ?? '')).status, 200);
    world.clock.advance(1);
    const { seen, page } = await follow(link?.path ?? '');
    assert.deepEqual([seen.status, page.status], [404, 404]);
  });

  test('expires when the password is changed, if it resets a password', async () => {
    const { email, visitor } = await signedInOwner(world);
    const reset = await resetPassword(world.store.write, world.clock, email);
    const second = await createShop(world.store);
    const invitation = await invite(email, second.id);
    await visitor.get('/app/account');
    const change = { password, 'new-password': `new ${password}` };
    assert.equal((await visitor.post('/app/account/password', change)).status, 303);
    assert.equal((await follow(reset?.path ?? '')).seen.status, 404);
    assert.equal((await follow(invitation, `new ${password}`)).page.status, 303);
  });

  test('expires after 72 hours if it is an invitation', async () => {
    const path = await invite(newEmail());
    world.clock.advance(72 * 3_600_000 - 1);
    assert.equal((await new Visitor(baseUrl).get(path)).status, 200);
    world.clock.advance(1);
    const { seen, page } = await follow(path);
    assert.deepEqual([seen.status, page.status], [404, 404]);
    assert.match(
      seen.text,
      /Ask an owner of your shop, or the\s+operator of this service, for a new one/,
    );
  });

  test('requires an existing password for an invitation to another shop, and keeps it', async () => {
    const { email, visitor } = await signedInOwner(world);
    const second = await createShop(world.store);
    const path = await invite(email, second.id);
    const wrong = await follow(path, `not ${password}`);
    assert.equal(wrong.page.status, 422);
    assert.equal((await visitor.get(`/app/shops/${second.id}`)).status, 404);
    const both = await Promise.all([follow(path), follow(path)]);
    assert.deepEqual(both.map(({ page }) => page.status).toSorted(), [303, 404]);
    assert.equal((await visitor.get(`/app/shops/${second.id}`)).status, 200);
    const { text } = await visitor.get('/app');
    for (const { id } of [world.shop, second]) assert.match(text, new RegExp(`/app/shops/${id}"`));
  });

  test('ends all sessions and other reset links when it resets a password', async () => {
    const { email, visitor } = await signedInOwner(world);
    const reset = async () =>
      (await resetPassword(world.store.write, world.clock, email))?.path ?? '';
    const [first, second] = [await reset(), await reset()];
    const { page, visitor: own } = await follow(first, `new ${password}`);
    assert.equal(page.status, 303);
    assert.equal((await own.get('/app/account')).status, 200);
    assert.equal((await visitor.get('/app/account')).status, 303);
    assert.equal((await follow(second)).seen.status, 404);
    assert.equal((await signIn(baseUrl, email)).page.status, 422);
    assert.equal(await resetPassword(world.store.write, world.clock, newEmail()), undefined);
  });

  test('does not work for a removed owner, and an owner without shops is deleted', async () => {
    const { write } = world.store;
    const { email, visitor } = await signedInOwner(world);
    const path = await invite(email);
    assert.ok((await listMembers(write, world.shop.id)).some((owner) => owner.email === email));
    assert.ok(await removeOwner(world.store, email, world.shop.id));
    assert.equal((await visitor.get(`/app/shops/${world.shop.id}`)).status, 303);
    assert.equal((await follow(path)).seen.status, 404);
    assert.equal(await removeOwner(world.store, email, world.shop.id), false);
    const [row] = await write<{ count: number }[]>`
      select count(*)::int as count from owners.accounts where email = ${email}`;
    assert.equal(row?.count, 0);
  });
});
