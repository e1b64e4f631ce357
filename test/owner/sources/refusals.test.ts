import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { type Backoff, realBackoff } from '../../../src/platforms/backoff.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { removeOwner, signedInOwner } from '../visitor.ts';
import {
  type Connecting,
  type ConnectingOptions,
  agree,
  assertRefused,
  connect,
  connectingShops,
  findStored,
  show,
  writeCredentials,
} from './connecting.ts';

onOneDatabase('the page Sources', (open) => {
  const shops = connectingShops(open);
  const { start } = shops;

  /** What is configured for one more service with the same stand-in. */
  const sameApp = ({ standIn: { tokens, baseUrl } }: Connecting) => ({
    clientId: tokens.clientId,
    webhookSecrets: [tokens.clientSecret],
    baseUrl,
  });

  test('refuses a shop in another currency, with missing permissions, or of another name', async () => {
    const connecting = await start();
    const { visitor, standIn, shop, domain } = connecting;
    const { world } = standIn;
    const attempt = async () => visitor.get(await agree(visitor, connecting, domain));
    world.shop.currencyCode = 'EUR';
    await assertRefused(
      connecting,
      await attempt(),
      new RegExp(
        `sells in EUR, but shop ${shop.id} here is in USD\\. It needs a shop in EUR, which the operator`,
      ),
    );
    world.shop.currencyCode = 'USD';
    world.scopes = ['read_products', 'read_customers', 'read_own_subscription_contracts'];
    await assertRefused(
      connecting,
      await attempt(),
      /may not read all that it needs from .*\. Grant it read_orders, then connect again\./,
    );
    world.scopes = [...world.scopes, 'read_orders'];
    const back = await agree(visitor, connecting, domain);
    world.shop.myshopifyDomain = `other-${domain}`;
    await assertRefused(connecting, await visitor.get(back), /These credentials belong to other-/);
    world.shop.myshopifyDomain = domain;
    assert.equal((await attempt()).status, 303);
  });

  test('says that Shopify is away, after some attempts or 15 seconds, and connects later', async () => {
    const patience: Backoff['wait'][] = [
      async () => {},
      (_milliseconds, signal) => realBackoff.wait(3_600_000, signal),
    ];
    for (const wait of patience) {
      const connecting = await start({ backoff: { ...realBackoff, wait } });
      const { visitor, standIn, domain } = connecting;
      const back = await agree(visitor, connecting, domain);
      standIn.tokens.unavailable = Infinity;
      await assertRefused(
        connecting,
        await visitor.get(back),
        /Shopify does not answer\. Try again in a minute\./,
      );
      standIn.tokens.unavailable = 0;
      await connect(connecting);
    }
  });

  test('refuses an account that another shop has, by an owner or by the operator', async () => {
    const taken = /Another shop here is already connected to .*\. Disconnect it there first\./;
    const first = await start();
    await connect(first);
    const second = await start({ shopify: sameApp(first) });
    const page = await second.visitor.get(await agree(second.visitor, second, first.domain));
    await assertRefused(second, page, taken);
    assert.equal((await findStored(first))?.account, first.domain);

    const third = await start();
    const credentialsFile = writeCredentials(third, (await createShop(shops.store)).id);
    const fourth = await start({ shopify: { ...sameApp(third), credentialsFile } });
    const refused = await fourth.visitor.get(await agree(fourth.visitor, fourth, third.domain));
    await assertRefused(fourth, refused, taken);
  });

  test('leaves a shop alone that the operator has connected', async () => {
    const connecting = await start({ isOperated: true });
    const { visitor, path: sources, domain, standIn } = connecting;
    const text = await show(visitor, sources);
    assert.match(text, /Shopify First sync .* Connected by the operator of this service/);
    assert.doesNotMatch(text, /Disconnect|Connect Shopify/);
    assert.ok(!text.includes(standIn.accessToken));
    for (const each of ['disconnect', `connect?account=${domain}`]) {
      assert.equal((await visitor.get(`${sources}/shopify/${each}`)).location, sources, each);
    }
    await visitor.get('/app/account');
    assert.equal((await visitor.post(`${sources}/shopify/disconnect`)).location, sources);
    await connecting.sync();
    assert.match(await show(visitor, sources), /Up to date/);
    assert.equal(await findStored(connecting), undefined);
  });

  test('stores nothing if the operator connects a shop while its owner agrees', async () => {
    const other = await start();
    const credentialsFile = writeCredentials(other, other.shop.id);
    const connecting = await start({ shopify: { credentialsFile } });
    const { visitor, path: sources, shop, domain } = connecting;
    const back = await agree(visitor, connecting, domain);
    const { standIn } = connecting;
    writeCredentials({ standIn, domain: `other-${domain}` }, shop.id, credentialsFile);
    assert.equal((await visitor.get(back)).location, sources);
    assert.equal(standIn.tokens.asked, 0);
    assert.match(await show(visitor, sources), /Connected by the operator of this service/);
    assert.equal(await findStored(connecting), undefined);
  });

  test('is off without an app or a key, says why, and connects nothing', async () => {
    const without: [ConnectingOptions, RegExp][] = [
      [{ shopify: { clientId: undefined } }, /set SHOPIFY_CLIENT_ID , then restart/],
      [{ credentialsKeys: [] }, /set CREDENTIALS_KEY , then restart/],
      [
        { shopify: { clientId: undefined, webhookSecrets: [] }, credentialsKeys: [] },
        /set SHOPIFY_CLIENT_ID , SHOPIFY_CLIENT_SECRET and CREDENTIALS_KEY , then restart/,
      ],
    ];
    for (const [options, reason] of without) {
      const { visitor, path: sources, domain, shop } = await start(options);
      const text = await show(visitor, sources);
      assert.match(text, /Shopify Not available You cannot connect Shopify yet/);
      assert.match(text, reason);
      assert.doesNotMatch(text, /Connect Shopify/);
      assert.doesNotMatch(await show(visitor, `/app/shops/${shop.id}`), /Connect Shopify/);
      const asked = await visitor.get(`${sources}/shopify/connect?account=${domain}`);
      assert.equal(asked.location, sources);
      assert.equal((await visitor.get('/app/connected/shopify?code=1')).status, 404);
    }
  });

  test('connects no other account while a shop is connected', async () => {
    const connecting = await start();
    const { visitor, standIn, domain, path: sources } = connecting;
    const other = `other-${domain}`;
    standIn.world.shop.myshopifyDomain = other;
    const back = await agree(visitor, connecting, other);
    standIn.world.shop.myshopifyDomain = domain;
    await connect(connecting);
    const page = await visitor.get(back);
    assert.equal(page.status, 422);
    const text = plain(page.text);
    assert.ok(text.includes(`This shop is connected to ${domain}. Disconnect it first.`), text);
    assert.equal((await findStored(connecting))?.account, domain);
    assert.equal(
      (await visitor.get(`${sources}/shopify/connect?account=${other}`)).location,
      sources,
    );
  });

  test('responds 404 for the shop of another owner, and connects no shop that was lost', async () => {
    const theirs = await start();
    const { service, path: sources, domain } = theirs;
    const mine = await createShop(shops.store);
    const place = { store: shops.store, clock: systemClock, service, shop: mine };
    const { visitor: stranger } = await signedInOwner(place);
    const paths = [
      sources,
      `${sources}/shopify/connect?account=${domain}`,
      `${sources}/shopify/disconnect`,
      `/app/shops/${mine.id}/sources/none/disconnect`,
    ];
    for (const at of paths) assert.equal((await stranger.get(at)).status, 404, at);
    await connect(theirs);
    await stranger.get('/app/account');
    assert.equal((await stranger.post(`${sources}/shopify/disconnect`)).status, 404);
    assert.equal((await findStored(theirs))?.account, domain);

    // An owner who loses the shop while agreeing.
    const lost = await start();
    const back = await agree(lost.visitor, lost, lost.domain);
    await signedInOwner(place, { email: lost.email });
    await removeOwner(shops.store, lost.email, lost.shop.id);
    await assertRefused(lost, await lost.visitor.get(back), /could not be verified/);
    assert.equal((await lost.visitor.get(lost.path)).status, 404);
  });
});
