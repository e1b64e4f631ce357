import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findOwnerByEmail } from '../../src/store/owners/owners.ts';
import { beginSession, createAccounts } from '../../src/accounts/sessions.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, silentLog, startWorld } from '../support/world.ts';
import { Visitor, newEmail, password, signIn, signedInOwner, isSignedIn } from './visitor.ts';

const hour = 3_600_000;

onOneDatabase('signing in', (open) => {
  let world: World;
  let baseUrl: string;
  before(async () => {
    world = await startWorld(open());
    baseUrl = world.service.baseUrl;
  });
  after(() => world.close());

  test('redirects to the shop; signing out redirects to sign-in and invalidates copied cookies', async () => {
    const { email } = await signedInOwner(world);
    const { visitor, page } = await signIn(baseUrl, ` ${email.toUpperCase()} `);
    assert.deepEqual([page.status, page.location], [303, '/app']);
    const home = await visitor.get('/app');
    assert.equal(home.location, `/app/shops/${world.shop.id}`);
    const overview = await visitor.get(`/app/shops/${world.shop.id}`);
    assert.equal(overview.status, 200);
    assert.match(overview.text, /<span class="tier">Enterprise Plus</);

    const thief = visitor.copy();
    assert.ok(await isSignedIn(thief));
    const out = await visitor.post('/app/sign-out');
    assert.equal(out.location, '/app/sign-in?done=signed-out');
    assert.match((await visitor.get('/app/sign-in?done=signed-out')).text, /You are signed out\./);
    for (const text of ['constructor', '__proto__', 'toString', '']) {
      const silent = await visitor.get(`/app/sign-in?done=${text}`);
      assert.equal(silent.status, 200);
      assert.doesNotMatch(silent.text, /role="status"/, text);
    }
    for (const each of [visitor, thief]) {
      const refused = await each.get('/app/account');
      const { status, location } = refused;
      assert.deepEqual([status, location], [303, '/app/sign-in?next=%2Fapp%2Faccount']);
    }
  });

  test('returns to the page that was asked for, and never leads to another site', async () => {
    const { email, visitor } = await signedInOwner(world);
    const asked = `/app/shops/${world.shop.id}/subscriptions?status=paused&x=%22%3E`;
    const stranger = new Visitor(baseUrl);
    const { location } = await stranger.get(asked);
    assert.equal(location, `/app/sign-in?${new URLSearchParams({ next: asked })}`);
    const page = await stranger.get(location ?? '');
    const shown = asked.replaceAll('&', '&amp;');
    assert.ok(page.text.includes(`<input type="hidden" name="next" value="${shown}" />`));
    const wrong = await stranger.post('/app/sign-in', { email, password: 'wrong', next: asked });
    assert.ok(wrong.text.includes(`name="next" value="${shown}"`));
    const right = await stranger.post('/app/sign-in', { email, password, next: asked });
    assert.deepEqual([right.status, right.location], [303, asked]);

    for (const next of [
      'https://evil.example/app/account',
      '//evil.example/app/account',
      '/\\evil.example/app/account',
      '\t//evil.example/app/',
      '/app/..//evil.example',
      '/app/../docs',
      '/appendix',
      'javascript:alert(1)',
      '',
    ]) {
      const query = new URLSearchParams({ next });
      assert.equal((await visitor.get(`/app/sign-in?${query}`)).location, '/app', next);
      const tab = new Visitor(baseUrl);
      assert.match((await tab.get(`/app/sign-in?${query}`)).text, /name="next" value="\/app"/);
      const sent = await tab.post('/app/sign-in', { email, password, next });
      assert.equal(sent.location, '/app', next);
    }
    // A form cannot be returned to.
    const signedOut = new Visitor(baseUrl);
    await signedOut.get('/app/sign-in');
    assert.equal((await signedOut.post('/app/sign-out')).location, '/app/sign-in');
  });

  test('responds alike to a wrong password and an unknown email', async () => {
    const { email } = await signedInOwner(world);
    const answers = await Promise.all(
      [email, newEmail()].map(async (each) => {
        const { page } = await signIn(baseUrl, each, 'something else altogether');
        return [page.status, page.text.replace(each, '').replace(/value="[\w-]{86}"/g, '')];
      }),
    );
    assert.equal(answers[0]?.[0], 422);
    assert.deepEqual(answers[0], answers[1]);
  });

  test('ends a session a day after its last page, and thirty days after it began', async () => {
    const { visitor } = await signedInOwner(world);
    const { visitor: idle } = await signedInOwner(world);
    for (let day = 0; day < 31; day += 1) {
      world.clock.advance(23 * hour);
      assert.ok(await isSignedIn(visitor), `after ${day + 1} times 23 hours`);
      if (day === 0) assert.ok(await isSignedIn(idle));
      if (day === 1) assert.ok(await isSignedIn(idle));
    }
    assert.ok(!(await isSignedIn(idle)));
    world.clock.advance(23 * hour);
    assert.ok(!(await isSignedIn(visitor)));
    const { visitor: again } = await signedInOwner(world);
    world.clock.advance(24 * hour);
    assert.ok(!(await isSignedIn(again)));
  });

  test('ends all other sessions when the password is changed', async () => {
    const { email, visitor } = await signedInOwner(world);
    const { visitor: other } = await signIn(baseUrl, email);
    const old = visitor.copy();
    await visitor.get('/app/account');
    const change = (fields: Record<string, string>) =>
      visitor.post('/app/account/password', fields);

    const wrong = await change({
      password: 'not the right one',
      'new-password': `new ${password}`,
    });
    assert.equal(wrong.status, 422);
    // Above the field, which is far below the top of the page.
    assert.match(
      wrong.text,
      /id="problem" role="alert">The current password is incorrect\.[^<]*<\/p>\s*<p class="field">\s*<label for="password">/,
    );
    const short = await change({ password, 'new-password': 'fourteen chars' });
    assert.equal(short.status, 422);
    assert.match(short.text, /at least 15 characters/);
    const common = await change({ password, 'new-password': 'qwertyuiopasdfgh' });
    assert.equal(common.status, 422);
    assert.match(common.text, /This is one of the first passwords anyone tries\./);
    assert.ok(await isSignedIn(other));

    await visitor.get('/app/account');
    const changed = await change({ password, 'new-password': `new ${password}` });
    assert.equal(changed.location, '/app/account?done=password');
    assert.ok(await isSignedIn(visitor));
    for (const each of [other, old]) assert.ok(!(await isSignedIn(each)));
    assert.equal((await signIn(baseUrl, email)).page.status, 422);
    assert.equal((await signIn(baseUrl, email, `new ${password}`)).page.status, 303);
  });

  test('refuses a password that was replaced while it was checked', async () => {
    const { email } = await signedInOwner(world);
    const { write } = world.store;
    const owner = await findOwnerByEmail(write, email);
    assert.ok(owner?.passwordHash);
    const { ownerId, passwordHash } = owner;
    const accounts = createAccounts(write, world.clock, silentLog);
    const begin = () => {
      const from = { device: undefined, by: { who: 'visitor' } };
      return beginSession(write, accounts, { ownerId, passwordHash }, from, 'signed_in');
    };
    assert.ok(await begin());
    await write`update owners.accounts set password_hash = 'new' where owner_id = ${ownerId}`;
    assert.equal(await begin(), undefined);
  });

  test('ends every session of that owner only, by signing out everywhere', async () => {
    const { email, visitor } = await signedInOwner(world);
    const { visitor: other } = await signIn(baseUrl, email);
    const { visitor: stranger } = await signedInOwner(world);
    assert.match((await visitor.get('/app/account')).text, /Sign out everywhere else/);
    const out = await visitor.post('/app/account/sign-out-everywhere');
    assert.equal(out.location, '/app/sign-in?done=signed-out-everywhere');
    for (const each of [visitor, other]) assert.ok(!(await isSignedIn(each)));
    assert.ok(await isSignedIn(stranger));
  });

  test('responds 404 for another shop as for one that does not exist', async () => {
    const { email, visitor } = await signedInOwner(world);
    const theirs = await createShop(world.store);
    const answers = await Promise.all(
      [theirs.id, 2 ** 52, '01', 'x', `${world.shop.id}.0`].map((id) =>
        visitor.get(`/app/shops/${id}`),
      ),
    );
    const without = (text = '') => text.replace(/value="[\w-]{86}"/g, '');
    for (const { status, text } of answers) {
      assert.equal(status, 404);
      assert.equal(without(text), without(answers[0]?.text));
    }
    const { page } = await signIn(baseUrl, email);
    assert.equal(page.status, 303);
    await signedInOwner(world, { shopId: theirs.id });
    assert.equal((await visitor.get(`/app/shops/${theirs.id}`)).status, 404);
  });

  test('stores no password, and only fingerprints of cookies', async () => {
    const { email, visitor } = await signedInOwner(world);
    const cookies = ['retention-session', 'retention-device'].map(
      (name) => visitor.cookies.get(name) ?? '',
    );
    for (const cookie of cookies) assert.match(cookie, /^[\w-]{43}$/);
    const tables = await world.store.write<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'owners'`;
    assert.ok(tables.length >= 6);
    const secrets = [
      password,
      ...cookies,
      ...cookies.map((each) => Buffer.from(each).toString('hex')),
    ];
    for (const { name } of tables) {
      for (const secret of secrets) {
        const [row] = await world.store.write<{ found: boolean }[]>`
          select bool_or(strpos(t::text, ${secret}) > 0) is true as found
          from ${world.store.write.unsafe(`owners.${name}`)} t`;
        assert.equal(row?.found, false, name);
      }
    }
    const [account] = await world.store.write<{ hash: string }[]>`
      select password_hash as hash from owners.accounts where email = ${email}`;
    assert.match(account?.hash ?? '', /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });
});
