import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSyncState, upsertSyncState } from '../../../src/store/feeds/platforms.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { plain } from '../page-text.ts';
import { connect, connectingShops, due, findStored, linkOf, show } from './connecting.ts';

onOneDatabase('a connected shop on the page Sources', (open) => {
  const shops = connectingShops(open);
  const { start } = shops;

  test('is disconnected after confirmation, and resumes when it is connected again', async () => {
    const connecting = await start();
    const { visitor, path: sources, shop, domain, logLines, standIn } = connecting;
    await connect(connecting);
    await connecting.sync();
    const question = await visitor.get(`${sources}/shopify/disconnect`);
    assert.match(plain(question.text), /Disconnect Shopify\? Changes at .* no longer arrive/);
    assert.ok(await findStored(connecting));
    const done = await visitor.post(`${sources}/shopify/disconnect`);
    assert.equal(done.location, `${sources}?done=disconnected`);
    assert.equal(await findStored(connecting), undefined);
    assert.equal(await findSyncState(shops.store.write, shop.id, 'shopify'), undefined);
    const text = await show(visitor, done.location ?? '');
    assert.match(text, /Disconnected\. The data that is here stays, .* Shopify Not connected/);
    assert.match(text, /What has arrived .* Shopify, scheduled sync/);
    const logged = logLines
      .map((line) => JSON.parse(line))
      .find(({ msg }) => msg === 'shop disconnected');
    assert.deepEqual([logged.shop, logged.platform, logged.account], [shop.id, 'shopify', domain]);
    const asked = standIn.requests.length;
    await connecting.sync();
    assert.equal(standIn.requests.length, asked);
    assert.equal((await visitor.post(`${sources}/shopify/disconnect`)).location, sources);

    await connect(connecting);
    assert.match(
      await show(visitor, sources),
      /Catching up Whatever changed since .* is being fetched/,
    );
    await connecting.sync();
    assert.match(await show(visitor, sources), /Up to date/);
  });

  test('can be connected again once access has ended', async () => {
    const connecting = await start();
    const { visitor, path: sources, shop, domain, standIn } = connecting;
    await connect(connecting);
    await connecting.sync();
    standIn.tokens.revokeAll();
    await upsertSyncState(shops.store.write, shop.id, 'shopify', due());
    await connecting.sync();
    const page = await visitor.get(sources);
    assert.match(
      plain(page.text),
      /Access ended Shopify no longer lets this service read from .*\. .* Connect again to go on\./,
    );
    assert.equal(
      linkOf(page.text, 'Connect again'),
      `${sources}/shopify/connect?account=${domain}`,
    );
    await connect(connecting);
    await connecting.sync();
    assert.match(await show(visitor, sources), /Up to date/);
  });

  test('is shown as ended after the app was uninstalled, until it is connected again', async () => {
    const connecting = await start();
    const { visitor, path: sources, shop } = connecting;
    await connect(connecting);
    await connecting.sync();
    await shops.store.write`
      update shopify.shops set uninstalled_at = now() where shop_id = ${shop.id}`;
    assert.match(await show(visitor, sources), /Access ended .* Connect again to go on\./);
    await connect(connecting);
    await connecting.sync();
    assert.match(await show(visitor, sources), /Up to date/);
  });

  test('says that a sync failed, without the operator’s reason, and that it is late', async () => {
    const connecting = await start();
    const { visitor, path: sources, shop } = connecting;
    await connect(connecting);
    await connecting.sync();
    const failed = {
      ...due(),
      dueAt: new Date(Date.now() + 600_000),
      failures: 1,
      problem: 'server closed the connection (57P01)',
    };
    await upsertSyncState(shops.store.write, shop.id, 'shopify', failed);
    const text = await show(visitor, sources);
    assert.match(text, /Sync failed .* tell the operator of this service\./);
    assert.doesNotMatch(text, /57P01/);
    await upsertSyncState(shops.store.write, shop.id, 'shopify', due());
    await shops.store.write`
      update feeds set completed_at = now() - interval '5 hours' where shop_id = ${shop.id}`;
    await shops.store.write`
      update platforms.connections set connected_at = now() - interval '6 hours'
      where shop_id = ${shop.id}`;
    assert.match(
      await show(visitor, sources),
      /Late Last synced 5 hours ago \. If this does not change/,
    );
  });

  test('is linked from the overview, which offers to connect a shop without data', async () => {
    const connecting = await start();
    const { visitor, path: sources, shop } = connecting;
    const home = `/app/shops/${shop.id}`;
    const empty = await visitor.get(home);
    assert.equal(linkOf(empty.text, 'Connect Shopify'), `${sources}#shopify`);
    assert.ok(empty.text.includes(`<code>retention import --shop ${shop.id} FILE</code>`));
    await connect(connecting);
    await connecting.sync();
    const { text } = await visitor.get(home);
    assert.equal(linkOf(text, 'Manage sources'), sources);
    assert.doesNotMatch(plain(text), /first sync is still running/);
    // As while the first sync stores its records.
    await shops.store.write`update feeds set completed_at = null where shop_id = ${shop.id}`;
    assert.match(
      await show(visitor, home),
      /The first sync is still running, so figures are too low\./,
    );
    assert.match(await show(visitor, sources), /: 10 subscriptions so far\./);
  });
});
