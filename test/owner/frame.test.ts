import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inviteOwner } from '../../src/accounts/links.ts';
import { plan, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, importAll, startWorld } from '../support/world.ts';
import { password, signedInOwner } from './visitor.ts';

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
    assert.doesNotMatch(only, /<details|href="\/app\/shops"/);
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
});
