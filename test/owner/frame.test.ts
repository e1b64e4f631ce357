import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inviteOwner } from '../../src/accounts/links.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, startWorld } from '../support/world.ts';
import { Visitor, password, signedInOwner } from './visitor.ts';

onOneDatabase('the frame of the owner’s pages', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  test('shows a shop’s navigation on the account page only if the owner has one shop', async () => {
    const home = `/app/shops/${world.shop.id}`;
    const records = [plan(), subscription(1002)];
    assert.deepEqual((await importAll(world.store, world.shop, records)).refused, []);
    const { email, visitor: owner } = await signedInOwner(world);
    const only = (await owner.get('/app/account')).text;
    assert.match(only, new RegExp(`href="${home}/subscriptions"`));
    assert.doesNotMatch(only, /Switch shop|href="\/app\/shops"/);
    const second = await createShop(world.store);
    const { path } = await inviteOwner(world.store.write, world.clock, {
      shopId: second.id,
      email,
    });
    await owner.get(path);
    assert.equal((await owner.post(path, { password })).status, 303);
    const several = (await owner.get('/app/account')).text;
    assert.doesNotMatch(several, /\/subscriptions"/);
    assert.match(several, /href="\/app\/shops"/);
    const { text } = await owner.get(`${home}/subscriptions/1002`);
    assert.match(text, new RegExp(`<details[^]*href="/app/shops/${second.id}/subscriptions"`));
  });

  test('has every theme without a script, and remembers it when signed out', async () => {
    const { visitor } = await signedInOwner(world);
    const at = '/app/account?done=password';
    const themeOf = (text: string) => /<html lang="en"(?: data-theme="(\w+)")?/.exec(text)?.[1];
    assert.equal(themeOf((await visitor.get(at)).text), undefined);
    for (const [theme, shown] of [
      ['dark', 'dark'],
      ['light', 'light'],
      ['toString', undefined],
      ['dark', 'dark'],
    ] as const) {
      const chosen = await visitor.post('/app/theme', { theme, next: at });
      assert.deepEqual([chosen.status, chosen.location], [303, at]);
      const { text } = await visitor.get(at);
      assert.equal(themeOf(text), shown, theme);
      assert.match(text, new RegExp(`value="${shown ?? 'system'}"\\s+aria-pressed="true"`));
      // What was done is said once.
      assert.ok(text.includes('name="next" value="/app/account"'));
    }
    const elsewhere = { theme: 'dark', next: 'https://evil.example/app/account' };
    assert.equal((await visitor.post('/app/theme', elsewhere)).location, '/app');
    // The answer to a form is no page to return to.
    const refused = await visitor.post('/app/account/password', { password, 'new-password': 'x' });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /name="next" value="\/app"/);
    await visitor.post('/app/sign-out');
    assert.equal(themeOf((await visitor.get('/app/sign-in')).text), 'dark');
  });

  test('leads from an address with a slash at its end to the one without', async () => {
    const { visitor } = await signedInOwner(world);
    const home = `/app/shops/${world.shop.id}`;
    for (const [path, location] of [
      ['/app/', '/app'],
      [`${home}/`, home],
      [`${home}/churn/?days=90&compare=year`, `${home}/churn?days=90&compare=year`],
    ] as const) {
      const answer = await visitor.get(path);
      assert.deepEqual([answer.status, answer.location], [303, location]);
    }
  });

  test('stays around the page for addresses without one', async () => {
    const shop = await createShop(world.store);
    const { email, visitor } = await signedInOwner({ ...world, shop });
    const home = `/app/shops/${shop.id}`;
    for (const path of [
      '/app/nowhere',
      '/app/shops/nowhere/at/all',
      `${home}/nowhere`,
      `${home}/subscriptions/9`,
      `${home}/keys/key_0/revoke`,
      `${home}/sources/nowhere/connect`,
      `/app/shops/${world.shop.id}`,
      '/app/account/password',
    ]) {
      const { status, text } = await visitor.get(path);
      assert.equal(status, 404, path);
      assert.match(text, /This page does not exist/, path);
      assert.ok(text.includes(`<a href="${home}/subscriptions"`), path);
    }
    const invitation = await inviteOwner(world.store.write, world.clock, {
      shopId: (await createShop(world.store)).id,
      email,
    });
    await visitor.get(invitation.path);
    assert.equal((await visitor.post(invitation.path, { password })).status, 303);
    for (const path of ['/nowhere', '/nowhere/at/all', '/subscriptions/9', '/keys/key_0/rotate']) {
      const { status, text } = await visitor.get(home + path);
      assert.equal(status, 404, path);
      assert.ok(text.includes(`<title>Page not found · ${shop.name} · Retention</title>`), path);
      assert.match(text, new RegExp(`<a\\s+class="search"\\s+href="${home}/search"`), path);
      assert.ok(text.includes(`<a href="${home}">Go to the overview of ${shop.name}</a>`), path);
      assert.ok(text.includes(`<a href="${home}/subscriptions"`), path);
    }
    const other = await visitor.get(`/app/shops/${world.shop.id}/nowhere`);
    assert.equal(other.status, 404);
    assert.doesNotMatch(other.text, /\/search"/);
    const { status, text } = await new Visitor(world.service.baseUrl).get(`${home}/nowhere`);
    assert.equal(status, 404);
    assert.doesNotMatch(text, /<nav/);
  });
});
