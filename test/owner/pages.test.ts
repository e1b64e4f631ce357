import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAccounts } from '../../src/accounts/sessions.ts';
import type { OwnerPage } from '../../src/owner/pages.ts';
import { ownerPages } from '../../src/owner/routes.ts';
import { isOfShop } from '../../src/owner/site.ts';
import { may } from '../../src/accounts/rights.ts';
import { roles } from '../../src/vocabulary.ts';
import { findOwnerByEmail } from '../../src/store/owners/owners.ts';
import { plan, session, subscription } from '../rest/records.ts';
import { onOneDatabase } from '../support/databases.ts';
import {
  type World,
  createShop,
  createTestKey,
  importAll,
  silentLog,
  startWorld,
} from '../support/world.ts';
import { Visitor, signedInOwner } from './visitor.ts';

/** Everything else is open to the owners of the shop in its address only. */
const rights = {
  anyone: [
    '/app/forgot-password',
    '/app/links/:secret',
    '/app/passkey-challenge',
    '/app/sign-in',
    '/app/sign-in/passkey',
    '/app/sign-in/second-step',
    '/app/sso',
    '/app/sso/:provider',
    '/app/sso/:provider/callback',
    '/app/unsubscribe/:secret',
  ],
  account: [
    '/app',
    '/app/account',
    '/app/account/factors',
    '/app/account/factors/app',
    '/app/account/factors/codes',
    '/app/account/factors/passkey',
    '/app/account/factors/remove',
    '/app/account/name',
    '/app/account/password',
    '/app/account/sessions',
    '/app/account/sign-out-everywhere',
    '/app/confirm',
    '/app/connected/:platform',
    '/app/shops',
    '/app/sign-out',
    '/app/theme',
  ],
};

/** Pages that show nothing in the world of the test, and what they answer. */
const others: Readonly<Record<string, number>> = {
  '/app': 303,
  // Just after signing in, there is nothing to confirm.
  '/app/confirm': 303,
  // Without a table's name, without an upload, and of a platform that is not set up.
  '/charts.csv': 404,
  '/churn.csv': 404,
  '/cancel-flow.csv': 404,
  '/recovery/charts.csv': 404,
  '/revenue.csv': 404,
  '/sources/file/refused.csv': 404,
  '/sources/push/:sourceId/rotate': 404,
  '/sources/push/:sourceId/setup': 404,
  '/sources/push/:sourceId/revoke': 404,
  '/sources/:platform/form': 404,
  '/sources/:platform/check': 404,
  '/sources/:platform/connect': 303,
  '/sources/:platform/disconnect': 303,
  '/app/connected/:platform': 404,
};

onOneDatabase('every page of the registry', (open) => {
  let world: World;
  let pages: readonly OwnerPage[];
  let addressOf: (page: OwnerPage, given?: string) => string;
  before(async () => {
    world = await startWorld(open());
    const { store, clock, shop } = world;
    const records = [plan({ name: 'Plan of another' }), subscription(1001), session(7001)];
    assert.deepEqual((await importAll(store, shop, records)).refused, []);
    const { id } = await createTestKey(store, shop.id);
    const { email } = await signedInOwner(world);
    const memberId = (await findOwnerByEmail(store.write, email))?.ownerId ?? '';
    pages = ownerPages({
      store,
      clock,
      accounts: createAccounts(store.write, clock, silentLog),
      baseUrl: () => world.service.baseUrl,
      isPublic: false,
      requiresSecondFactor: false,
      platforms: { platforms: {}, credentialsKeys: [], baseUrl: undefined },
      backoff: undefined,
      uploads: {} as never,
      mailer: () => undefined,
      outbox: { post: assert.fail },
      calls: {} as never,
      askWithKey: () => assert.fail(),
      log: { error: assert.fail } as never,
    });
    const values: Readonly<Record<string, string>> = {
      keyId: id,
      subscriptionId: '1001',
      customerId: '501',
      platform: 'shopify',
      sourceId: 'src_0',
      month: '2026-10',
      provider: '0',
      secret: 'A'.repeat(43),
      memberId,
    };
    addressOf = (page, given) => {
      const { path } = page;
      const filled = path.replace(/:(\w+)/g, (_, name: string) => {
        assert.ok(values[name] !== undefined, `${path} has a new parameter`);
        return given ?? values[name];
      });
      return isOfShop(page) ? `/app/shops/${shop.id}${filled}` : filled;
    };
  });
  after(() => world.close());

  const isForm = ({ submit, receive }: OwnerPage) => Boolean(submit ?? receive);
  const pathsOf = (right: OwnerPage['right']) =>
    pages.filter((page) => page.right === right).map(({ path }) => path);

  test('has the right that the table says', () => {
    assert.deepEqual(pathsOf('anyone').toSorted(), rights.anyone);
    assert.deepEqual(pathsOf('account').toSorted(), rights.account);
    assert.ok(pages.filter(isOfShop).length > 40);
    const addresses = pages.map(({ right, path }) => `${right} ${path}`);
    assert.deepEqual(new Set(addresses).size, addresses.length);
  });

  test('is under a page with a name, if it names one', () => {
    const listed = new Set(pages.filter((page) => page.label).map(({ path }) => path));
    const named = pages.flatMap(({ parent, section }) => parent ?? section ?? []);
    assert.deepEqual(
      named.filter((path) => !listed.has(path)),
      [],
    );
  });

  test('says of each form what it enters in the audit log', () => {
    const silent = pages.filter((page) => isForm(page) && page.acts === undefined);
    assert.deepEqual(
      silent.map(({ path }) => path),
      [],
    );
  });

  for (const role of roles) {
    test(`opens for the role ${role} if it has the right, and refuses its form otherwise`, async () => {
      const { visitor } = await signedInOwner(world, { role });
      for (const page of pages.filter(({ right }) => right !== 'anyone')) {
        const address = addressOf(page);
        const mayOpen = !isOfShop(page) || may(role, page.right);
        if (page.show) {
          const { status, text, location } = await visitor.get(address);
          if (mayOpen) assert.equal(status, others[page.path] ?? 200, `${page.path}: ${text}`);
          else if (page.path === '') assert.equal(location, `${address}/sources`);
          else assert.equal(status, 403, page.path);
        }
        if (!isForm(page) || (mayOpen && may(role, page.submitRight ?? 'member'))) continue;
        await visitor.get('/app/account');
        const { status, text } = await visitor.post(address);
        assert.equal(status, 403, page.path);
        assert.match(text, new RegExp(`is ${role}; this takes the role `), page.path);
      }
    });
  }

  test('sends visitors who are not signed in to the sign-in page', async () => {
    const visitor = new Visitor(world.service.baseUrl);
    for (const page of pages.filter(({ right }) => right !== 'anyone')) {
      await visitor.get('/app/sign-in');
      const answers = [
        ...(page.show ? [await visitor.get(addressOf(page))] : []),
        ...(isForm(page) ? [await visitor.post(addressOf(page))] : []),
      ];
      for (const { status, location } of answers) {
        assert.equal(status, 303, page.path);
        assert.match(location ?? '', /^\/app\/sign-in(\?|$)/, page.path);
      }
    }
  });

  test('asks again for a proof older than ten minutes where the table says so, and keeps the form', async () => {
    const { visitor, email } = await signedInOwner(world);
    const age = async (seconds: number) => {
      const provedAt = new Date(world.clock.now() - seconds * 1000);
      await world.store.write`
        update owners.sessions s set proved_at = ${provedAt} from owners.accounts a
        where a.owner_id = s.owner_id and a.email = ${email}`;
    };
    const isAsked = ({ location }: { location: string | null }) =>
      location?.startsWith('/app/confirm?') === true;
    const own = pages.filter(({ right, path }) => right !== 'anyone' && path !== '/app/sign-out');
    assert.ok(own.filter(({ stepUp }) => stepUp !== undefined).length > 30);
    for (const page of own) {
      const address = addressOf(page);
      for (const seconds of [600, 601]) {
        if (!page.show || page.path === '/app/confirm') continue;
        await age(seconds);
        const shown = await visitor.get(address);
        assert.equal(isAsked(shown), seconds > 600 && page.stepUp === 'open', page.path);
      }
      if (page.stepUp === undefined || page.asksPassword) continue;
      await visitor.get('/app/account');
      if (!page.submit) continue;
      const fields = [
        ['typed', 'a "b" <c>'],
        ['typed', 'again'],
      ] as const;
      const asked = await visitor.post(address, fields);
      assert.equal(asked.status, 403, page.path);
      assert.match(asked.text, /<h1>Confirm that it is you<\/h1>/);
      const kept = 'name="typed" value="a &quot;b&quot; &lt;c&gt;" />';
      assert.ok(asked.text.includes(`${kept}<input type="hidden" name="typed" value="again" />`));
      assert.ok(asked.text.includes(`action="${address}"`), page.path);
    }
    // A form with a file could not be kept.
    assert.deepEqual(
      own.filter(({ stepUp, receive }) => stepUp !== undefined && receive),
      [],
    );
  });

  test('answers ids that are no text of the database, or of a header', async () => {
    const { visitor } = await signedInOwner(world);
    for (const id of ['%00', '1%00', '%0D%0Aa:b', '%E4%B8%AD']) {
      for (const page of pages.filter((each) => each.path.includes('/:'))) {
        await visitor.get('/app/account');
        const answers = [
          ...(page.show ? [await visitor.get(addressOf(page, id))] : []),
          ...(isForm(page) ? [await visitor.post(addressOf(page, id))] : []),
        ];
        for (const { status } of answers) {
          // Some lead back to a list; single sign-on that was not begun is refused.
          assert.ok([303, 403, 404].includes(status), `${page.path} with ${id}: ${status}`);
        }
      }
    }
  });

  test('does not exist for the owner of another shop', async () => {
    const own = await createShop(world.store);
    const { visitor } = await signedInOwner(world, { shopId: own.id });
    for (const page of pages.filter(isOfShop)) {
      await visitor.get('/app/account');
      const answers = [
        ...(page.show ? [await visitor.get(addressOf(page))] : []),
        ...(isForm(page) ? [await visitor.post(addressOf(page))] : []),
      ];
      assert.notEqual(answers.length, 0, page.path);
      for (const { status, text } of answers) {
        assert.equal(status, 404, page.path);
        assert.match(text, /This page does not exist/, page.path);
        assert.doesNotMatch(text, /Plan of another/);
      }
    }
  });
});
