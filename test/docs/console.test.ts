import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inviteOwner } from '../../src/accounts/links.ts';
import { password, signedInOwner, Visitor } from '../owner/visitor.ts';
import { onOneDatabase } from '../support/databases.ts';
import { createShop, openOwnStore, startWorld, type World } from '../support/world.ts';

onOneDatabase('the link from the documentation to the console', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  test('is for owners who are signed in, and leads to their shop', async () => {
    const { visitor, email } = await signedInOwner(world);
    const own = await visitor.get('/docs/limits');
    assert.match(own.text, new RegExp(`href="/app/shops/${world.shop.id}/developers">Console<`));
    assert.equal(own.headers.get('cache-control'), 'private, no-store');
    assert.equal(own.headers.get('etag'), null);

    const visited = await new Visitor(world.service.baseUrl).get('/docs/limits');
    assert.doesNotMatch(visited.text, /\/app\/shops/);
    assert.match(visited.text, /href="\/app">Sign in/);
    assert.match(visited.headers.get('vary') ?? '', /cookie/);

    const second = await createShop(world.store);
    const { path } = await inviteOwner(world.store.write, world.clock, {
      shopId: second.id,
      email,
    });
    await visitor.get(path);
    assert.equal((await visitor.post(path, { password })).status, 303);
    assert.match((await visitor.get('/docs')).text, /href="\/app\/shops">Console</);
  });

  test('is missing for a made-up session and after signing out', async () => {
    const { visitor } = await signedInOwner(world);
    const thief = visitor.copy();
    await visitor.get('/app/account');
    assert.equal((await visitor.post('/app/sign-out')).status, 303);
    for (const stranger of [visitor, thief]) {
      assert.doesNotMatch((await stranger.get('/docs')).text, />Console</);
    }
    const inventor = new Visitor(world.service.baseUrl);
    inventor.cookies.set('retention-session', 'A'.repeat(43));
    assert.doesNotMatch((await inventor.get('/docs')).text, />Console</);
  });

  test('is missing, and the page is not, while sessions cannot be read', async () => {
    const broken = await startWorld(openOwnStore());
    const { visitor } = await signedInOwner(broken);
    await broken.store.close();
    const page = await visitor.get('/docs/limits');
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, />Console</);
    await broken.service.close();
  });
});
