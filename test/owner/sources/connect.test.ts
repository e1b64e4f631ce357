import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { plain } from '../page-text.ts';
import { signIn, signedInOwner } from '../visitor.ts';
import {
  agree,
  assertRefused,
  connect,
  connectingShops,
  findStored,
  linkOf,
  show,
} from './connecting.ts';

onOneDatabase('connecting a shop on the page Sources', (open) => {
  const shops = connectingShops(open);
  const { start } = shops;

  test('says what will be read first, and shows how the sync goes', async () => {
    const connecting = await start();
    const { visitor, path: sources, domain, shop, standIn, service, logLines } = connecting;
    assert.match(await show(visitor, sources), /Shopify Not connected .* Nothing yet\./);

    const consent = await visitor.get(`${sources}/shopify/connect?account=https://${domain}/admin`);
    const text = plain(consent.text);
    assert.ok(text.includes(`read from ${domain} : subscriptions that this app sells`), text);
    assert.match(text, /customers’ ids, without names or addresses/);
    const address = new URL(linkOf(consent.text, 'Continue to Shopify'));
    const asked = Object.fromEntries(address.searchParams);
    assert.equal(address.pathname, '/admin/oauth/authorize');
    assert.deepEqual(
      [asked['client_id'], asked['redirect_uri'], asked['scope']],
      [
        standIn.tokens.clientId,
        `${service.baseUrl}/app/connected/shopify`,
        'read_own_subscription_contracts,read_products,read_customers,read_orders',
      ],
    );

    await connect(connecting);
    const connected = await show(visitor, `${sources}?done=connected`);
    assert.match(
      connected,
      /Connected\. The first figures appear on the overview within minutes\./,
    );
    assert.match(connected, /First sync Everything is being fetched.*: 0 subscriptions so far\./);
    assert.match(
      await show(visitor, `/app/shops/${shop.id}`),
      /Your data is on its way Shopify is connected\. .* See how far it is/,
    );

    await connecting.sync();
    const synced = await show(visitor, sources);
    assert.match(synced, /Up to date Last synced less than a minute ago/);
    assert.ok(synced.includes(`Account ${domain} Connected `), synced);
    assert.match(synced, /What has arrived .* Shopify, scheduled sync/);
    const logged = logLines
      .map((line) => JSON.parse(line))
      .find(({ msg }) => msg === 'shop connected');
    assert.deepEqual([logged.shop, logged.platform, logged.account], [shop.id, 'shopify', domain]);
  });

  test('shows no secret on a page, and leaves none in the log or in clear in the database', async () => {
    const connecting = await start();
    const { visitor, path: sources, domain, standIn, logLines, credentialsKeys } = connecting;
    const back = await connect(connecting);
    await connecting.sync();
    const given = standIn.tokens.current();
    const paths = [
      sources,
      `${sources}/shopify/disconnect`,
      `${sources}/shopify/connect?account=${domain}`,
      back,
    ];
    const pages = await Promise.all(paths.map(async (at) => (await visitor.get(at)).text));
    const row = JSON.stringify(await findStored(connecting));
    const secrets = [
      given.accessToken,
      given.refreshToken,
      standIn.tokens.clientSecret,
      ...credentialsKeys.map((key) => key.toString('base64')),
      String(new URLSearchParams(back.split('?')[1]).get('code')),
    ];
    for (const secret of secrets) {
      assert.ok(secret.length >= 32);
      for (const told of [...pages, ...logLines, row]) assert.ok(!told.includes(secret), told);
    }
  });

  test('takes a shop’s name, domain or address in Shopify’s admin, and nothing else', async () => {
    const { visitor, path: sources, shop } = await start();
    const connectTo = (account: string) =>
      visitor.get(`${sources}/shopify/connect?account=${encodeURIComponent(account)}`);
    const name = `shop-${shop.id}`;
    for (const given of [
      name,
      ` ${name.toUpperCase()}.myshopify.com `,
      `admin.shopify.com/store/${name}`,
    ]) {
      const { status, text } = await connectTo(given);
      assert.equal(status, 200, given);
      assert.ok(text.includes(`<strong>${name}.myshopify.com</strong>`), given);
    }
    for (const given of [
      '',
      'shop.example.com',
      'evil.com/.myshopify.com',
      'a b',
      `${name}.myshopify.com.evil.com`,
    ]) {
      const { status, text } = await connectTo(given);
      assert.equal(status, 422, given);
      assert.match(
        plain(text),
        /This is not a Shopify domain\. Enter the one that ends in \.myshopify\.com\./,
      );
      assert.match(text, new RegExp(`value="${given}"[^>]*aria-invalid="true"`));
    }
    assert.equal((await visitor.get(`${sources}/shopify/connect`)).location, sources);
  });

  test('accepts only answers that Shopify signed, whole and for what this session asked', async () => {
    const connecting = await start();
    const { visitor, domain, shop, email, standIn, service, logLines } = connecting;
    const [at = '', query] = (await agree(visitor, connecting, domain)).split('?');
    const given = Object.fromEntries(new URLSearchParams(query));
    const { hmac = '', ...signed } = given;
    const { state = '' } = signed;
    const resigned = (changed: Record<string, string>) =>
      String(standIn.tokens.signed({ ...signed, ...changed }));
    const changedHmac = hmac.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
    const forged = [
      '',
      String(new URLSearchParams(signed)),
      String(new URLSearchParams({ ...given, hmac: changedHmac })),
      String(new URLSearchParams({ ...given, code: 'another' })),
      `${query}&shop=${domain}`,
      `${query}&more=1`,
      resigned({ shop: 'another.myshopify.com' }),
      resigned({ shop: `${domain}.evil.com` }),
      resigned({ state: state.replace(/^\d+/, '1') }),
      resigned({ state: '' }),
      // Signed, but which of the two counts?
      String(standIn.tokens.signed([...Object.entries(signed), ['code', 'another']])),
    ];
    for (const each of forged) {
      const page = await visitor.get(`${at}?${each}`);
      await assertRefused(
        connecting,
        page,
        /Shopify is not connected The answer could not be verified/,
      );
      assert.equal(linkOf(page.text, 'Go to Sources'), connecting.path);
    }
    assert.equal(standIn.tokens.asked, 0);
    const told = (reason: string) => logLines.some((line) => line.includes(reason));
    assert.ok(told('it is not signed with the client secret'));

    // The same owner in another session, and another owner of the shop.
    const elsewhere = await signIn(service.baseUrl, email);
    const partner = await signedInOwner({ store: shops.store, clock: systemClock, service, shop });
    for (const { visitor: other } of [elsewhere, partner]) {
      const page = await other.get(`${at}?${query}`);
      await assertRefused(connecting, page, /you started in another browser/);
    }
    assert.ok(told('the owner did not ask for it in this session'));
    visitor.cookies.delete('retention-session');
    assert.match((await visitor.get(`${at}?${query}`)).location ?? '', /^\/app\/sign-in\?next=/);
    assert.equal(await findStored(connecting), undefined);
    assert.equal((await elsewhere.visitor.get('/app/connected/none')).status, 404);
  });

  test('accepts an answer that is signed with the older of two client secrets', async () => {
    const connecting = await start();
    const { visitor, standIn, domain, path: sources } = connecting;
    const [at = '', query] = (await agree(visitor, connecting, domain)).split('?');
    const { hmac, ...signed } = Object.fromEntries(new URLSearchParams(query));
    assert.ok(hmac);
    const older = standIn.tokens.signed(signed, standIn.tokens.olderSecret);
    assert.equal((await visitor.get(`${at}?${older}`)).location, `${sources}?done=connected`);
  });

  test('uses a code once, and leads back to Sources while the shop is connected', async () => {
    const connecting = await start();
    const { visitor, path: sources, standIn } = connecting;
    const back = await connect(connecting);
    const stored = await findStored(connecting);
    assert.equal((await visitor.get(back)).location, sources);
    assert.deepEqual(await findStored(connecting), stored);

    // After the shop was disconnected, the old address does not connect it again.
    await visitor.get(`${sources}/shopify/disconnect`);
    await visitor.post(`${sources}/shopify/disconnect`);
    const page = await visitor.get(back);
    await assertRefused(
      connecting,
      page,
      /does not accept the authorization code; connect the shop again/,
    );
    assert.match(page.text, /<button>Connect Shopify<\/button>/);
    assert.equal(standIn.tokens.asked, 3);
  });
});
