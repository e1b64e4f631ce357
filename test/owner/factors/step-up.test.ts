import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { findPlatform } from '../../../src/platforms/registry.ts';
import { listKeys } from '../../../src/store/keys/keys.ts';
import { onOneOwnDatabase } from '../../support/own-databases.ts';
import {
  type World,
  createShop,
  createTestKey,
  startTestService,
  startWorld,
  now,
} from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { type Page, newAddress, password, signIn, signedInOwner, keyIdIn } from '../visitor.ts';
import { addApp, beginSignIn, codeOf, giveCode } from './app.ts';

const minute = 60_000;

// Services delete what is old by their clock, which moves here.
onOneOwnDatabase('a proof of who the visitor is', (open) => {
  let world: World;
  const clock = new FixedClock(now);
  before(async () => {
    world = await startWorld(open(), { clock });
  });
  after(() => world.close());

  const openShop = async () => {
    const shop = await createShop(world.store);
    const owner = await signedInOwner({ ...world, shop });
    return { ...owner, shop, keys: `/app/shops/${shop.id}/keys` };
  };
  /** Sessions as the version before began them. */
  const forgetProofs = async (email: string) => {
    await world.store.write`
      update owners.sessions s set proved_at = null from owners.accounts a
      where a.owner_id = s.owner_id and a.email = ${email}`;
  };
  /** What a browser sends from a page that asks for a proof. */
  const keptIn = ({ text }: Page) =>
    [
      ...(text.split('<main')[1] ?? '').matchAll(
        /<input type="hidden" name="([^"]+)" value="([^"]*)"/g,
      ),
    ]
      .map(([, name = '', value = '']) => [name, value] as const)
      .filter(([name]) => name !== 'token');
  const confirmPath = (next: string) => `/app/confirm?${new URLSearchParams({ next })}`;

  test('goes on with what was typed, once the password is right', async () => {
    const { visitor, shop, keys } = await openShop();
    const id = keyIdIn(await visitor.get(`${keys}/new`));
    clock.advance(10 * minute + 1);
    const typed = [
      ['id', id],
      ['name', 'Till <1>'],
      ['scope', 'read:plans'],
      ['scope', 'read:metrics'],
      ['expiry', '90'],
    ] as const;
    const asked = await visitor.post(keys, typed);
    assert.equal(asked.status, 403);
    const kept = keptIn(asked).map(([name, value]) => [name, value.replace('&lt;1&gt;', '<1>')]);
    assert.deepEqual(kept, typed);
    const send = (given: string) => visitor.post(keys, [...typed, ['proof-password', given]]);
    const wrong = await send('not the right one');
    assert.equal(wrong.status, 422);
    assert.match(wrong.text, /role="alert"[^>]*>Incorrect password/);
    assert.deepEqual(keptIn(wrong), keptIn(asked));
    assert.ok(!wrong.text.includes('not the right one'));
    assert.equal((await listKeys(world.store.write, shop.id)).length, 0);

    assert.equal((await send(password)).status, 201);
    const [made] = await listKeys(world.store.write, shop.id);
    assert.deepEqual(
      [made?.name, made?.scopes.toSorted()],
      ['Till <1>', ['read:metrics', 'read:plans']],
    );
    // For ten minutes, nothing asks again.
    clock.advance(10 * minute);
    assert.equal((await visitor.get(`${keys}/new`)).status, 200);
    clock.advance(1);
    assert.equal((await visitor.get(`${keys}/new`)).location, confirmPath(`${keys}/new`));
  });

  test('repeats no password, code or secret that was typed, and opens the form again', async () => {
    const { visitor, shop } = await openShop();
    const { codes } = await addApp(visitor, clock.now());
    const home = `/app/shops/${shop.id}`;
    const app = '/app/account/factors/app';
    const forms: readonly (readonly [path: string, page: string, fields: object])[] = [
      [
        '/app/account/password',
        '/app/account',
        { password: 'typed 1', 'new-password': 'typed 2', more: 'x' },
      ],
      [app, app, { secret: 'typed 1', code: 'typed 2' }],
      [`${home}/sso`, `${home}/sso`, { issuer: 'https://i.example', 'client-secret': 'typed 1' }],
      [`${home}/sources/push`, `${home}/sources`, { name: 'Till', secret: 'typed 1' }],
      ...['stripe', 'recharge', 'postgres'].map((platform) => {
        const path = `${home}/sources/${platform}/form`;
        const [field] = findPlatform(platform)?.form?.fields ?? [];
        const name = field?.name === 'token' ? 'api-token' : String(field?.name);
        return [path, path, { [name]: 'typed 1' }] as const;
      }),
    ];
    clock.advance(11 * minute);
    await visitor.get('/app/confirm');
    for (const [path, page, fields] of forms) {
      const asked = await visitor.post(path, fields as Readonly<Record<string, string>>);
      assert.equal(asked.status, 403, path);
      assert.doesNotMatch(asked.text, /typed/, path);
      assert.match(plain(asked.text), /we keep no password or code: enter it again once you have/);
      assert.match(asked.text, /<form class="card narrow" method="post" action="\/app\/confirm"/);
      assert.deepEqual(
        keptIn(asked).filter(([, value]) => value !== ''),
        [['next', page]],
      );
    }
    // Without one, the form goes on.
    const kept = await visitor.post(`${home}/sso`, { issuer: 'https://i.example' });
    assert.deepEqual(keptIn(kept)[0], ['issuer', 'https://i.example']);
    const given = { next: `${home}/sso`, 'proof-code': codes[0] as string };
    assert.equal((await visitor.post('/app/confirm', given)).location, `${home}/sso`);
  });

  test('opens the page that was asked for, or leads to the file', async () => {
    const { visitor, shop, keys } = await openShop();
    clock.advance(11 * minute);
    const { location } = await visitor.get(`${keys}/new`);
    await visitor.get(location ?? '');
    const give = (next: string) =>
      visitor.post('/app/confirm', { next, 'proof-password': password });
    assert.equal((await give(`${keys}/new`)).location, `${keys}/new`);
    assert.equal((await visitor.get(location ?? '')).location, `${keys}/new`);

    clock.advance(11 * minute);
    const file = `/app/shops/${shop.id}/subscriptions.csv?status=active`;
    const asked = await visitor.get(file);
    assert.equal(asked.location, confirmPath(file));
    await visitor.get(asked.location);
    const confirmed = await give(file);
    assert.match(
      confirmed.text,
      new RegExp(`href="${file.replace('?', '\\?')}">Download the file`),
    );
    assert.equal((await visitor.get(file)).headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal((await give('https://evil.example/')).location, '/app');
  });

  test('is a factor for owners who have one; their password is none', async () => {
    const { visitor, email, keys } = await openShop();
    const { secret, codes } = await addApp(visitor, clock.now());
    clock.advance(11 * minute);
    const asked = await visitor.get(confirmPath(keys));
    assert.doesNotMatch(asked.text, /proof-password/);
    const give = (fields: Record<string, string>) =>
      visitor.post('/app/confirm', { next: keys, ...fields });
    assert.equal((await give({ 'proof-password': password })).status, 200);
    assert.equal((await give({ 'proof-code': '1' })).status, 422);
    assert.equal((await visitor.get(`${keys}/new`)).status, 303);
    const code = codeOf(secret, clock.now());
    assert.equal((await give({ 'proof-code': code })).location, keys);
    assert.equal((await visitor.get(`${keys}/new`)).status, 200);
    clock.advance(11 * minute);
    assert.equal((await give({ 'proof-code': codes[0] as string })).location, keys);

    // The current password, which this form asks for, is enough only without a factor.
    clock.advance(11 * minute);
    const typed = { password, 'new-password': `another ${password}` };
    const change = (fields: object) =>
      visitor.post('/app/account/password', { ...typed, ...fields });
    assert.equal((await change({})).status, 403);
    const changed = await change({ 'proof-code': codes[1] as string });
    assert.equal(changed.location, '/app/account?done=password');
    assert.equal((await signIn(world.service.baseUrl, email)).page.status, 422);
  });

  test('that is wrong makes visitors wait as they do when signing in', async () => {
    const { email, visitor: known } = await openShop();
    clock.advance(11 * minute);
    const from = newAddress();
    const visitor = known.copy(from);
    visitor.cookies.delete('retention-device');
    await visitor.get('/app/confirm');
    const give = (given: string) => visitor.post('/app/confirm', { 'proof-password': given });
    for (let tried = 0; tried < 5; tried += 1) assert.equal((await give('wrong')).status, 422);
    const refused = await give(password);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '10']);
    assert.equal((await signIn(world.service.baseUrl, email, password, from)).page.status, 429);
  });

  test('is lacking in sessions of the version before, which open all else', async () => {
    const { email, visitor, shop, keys } = await openShop();
    await forgetProofs(email);
    assert.equal((await visitor.get(`/app/shops/${shop.id}`)).status, 200);
    assert.equal((await visitor.get(`${keys}/new`)).location, confirmPath(`${keys}/new`));
    await visitor.confirm();
    const { secret } = await addApp(visitor, clock.now());

    // With a factor, the version before may have begun it with the password alone.
    await forgetProofs(email);
    for (const path of ['/app', '/app/account', `/app/shops/${shop.id}`]) {
      const shown = await visitor.get(path);
      assert.match(shown.location ?? '', /^\/app\/confirm\?next=/, path);
    }
    await visitor.get('/app/confirm');
    const code = codeOf(secret, clock.now(), 1);
    await visitor.post('/app/confirm', { next: keys, 'proof-code': code });
    assert.equal((await visitor.get(keys)).status, 200);
    await forgetProofs(email);
    await visitor.get('/app/confirm');
    assert.equal((await visitor.post('/app/sign-out')).location, '/app/sign-in?done=signed-out');
  });

  test('of two factors is demanded of all members by a shop, or of all owners by the operator', async () => {
    const { visitor, email, shop } = await openShop();
    const home = `/app/shops/${shop.id}`;
    const policy = `${home}/second-factor`;
    const { visitor: member, email: address } = await signedInOwner({ ...world, shop });
    const shown = await visitor.get(policy);
    assert.ok(
      shown.text.includes(`<li>${email}</li>`) && shown.text.includes(`<li>${address}</li>`),
    );
    const own = await visitor.post(policy, { required: 'yes' });
    assert.equal(own.status, 422);
    assert.equal((await member.get(home)).status, 200);

    const { secret } = await addApp(visitor, clock.now());
    await visitor.get(policy);
    assert.equal((await visitor.post(policy, { required: 'yes' })).status, 303);
    const { text } = await visitor.get(policy);
    assert.match(text, /value="yes"\s+checked/);
    assert.ok(!text.includes(`<li>${email}</li>`) && text.includes(`<li>${address}</li>`));

    const led = `/app/account/factors?required=${shop.id}`;
    const { id } = await createTestKey(world.store, shop.id);
    for (const path of ['', '/subscriptions', '/subscriptions.csv', '/keys', '/search']) {
      assert.equal((await member.get(home + path)).location, led, path);
    }
    await member.get('/app/account');
    assert.equal((await member.post(`${home}/keys/${id}/revoke`)).location, led);
    assert.match((await member.get(led)).text, /Test opens once you have set up a second factor\./);
    await addApp(member, clock.now());
    assert.equal((await member.get(home)).status, 200);

    // Who adds none can still leave, and sign out.
    const { visitor: leaver } = await signedInOwner({ ...world, shop });
    const leave = `${home}/leave`;
    assert.match((await leaver.get(led)).text, new RegExp(`href="${leave}"`));
    assert.equal((await leaver.get(home)).location, led);
    const other = leaver.copy();
    assert.equal((await other.get(leave)).status, 200);
    assert.equal((await other.post(leave)).location, '/app/sign-in?done=left');
    const { visitor: stays } = await signedInOwner({ ...world, shop });
    await stays.get(led);
    assert.equal((await stays.post('/app/sign-out')).location, '/app/sign-in?done=signed-out');

    const strict = await startTestService(world.store, { clock, requiresSecondFactor: true });
    try {
      const { visitor: alone, email: lone } = await openShop();
      const path = (await alone.get('/app')).location ?? '';
      assert.equal((await alone.get(path)).status, 200);
      const there = alone.at(strict.baseUrl);
      assert.match((await there.get(path)).location ?? '', /^\/app\/account\/factors\?required=/);
      assert.equal((await there.get('/app/account')).status, 200);
      const { page, visitor: fresh } = await signIn(strict.baseUrl, lone);
      assert.equal(page.location, '/app');
      assert.match((await fresh.get(path)).location ?? '', /^\/app\/account\/factors\?required=/);
      const asked = await beginSignIn(strict.baseUrl, email);
      clock.advance(minute);
      assert.equal((await giveCode(asked, codeOf(secret, clock.now()))).status, 303);
      assert.equal((await asked.get(home)).status, 200);
      assert.match((await asked.get(policy)).text, /The operator of this service demands it/);
    } finally {
      await strict.close();
    }
  });
});
