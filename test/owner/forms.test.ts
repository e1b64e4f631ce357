import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../support/databases.ts';
import { startService } from '../../src/service.ts';
import { freePort } from '../support/postgres.ts';
import { type World, silentLog, startWorld } from '../support/world.ts';
import { Visitor, password, signedInOwner, keyIdIn } from './visitor.ts';

onOneDatabase('the owner’s pages', (open) => {
  let world: World;
  let baseUrl: string;
  before(async () => {
    world = await startWorld(open());
    baseUrl = world.service.baseUrl;
  });
  after(() => world.close());

  test('refuse a form with a NUL, which no browser sends and no database stores', async () => {
    const visitor = new Visitor(baseUrl);
    await visitor.get('/app/sign-in');
    const { status, text } = await visitor.post('/app/sign-in', { email: 'a\0@b.example' });
    assert.equal(status, 400);
    assert.match(text, /This form could not be read/);
  });

  test('refuse a form that another site could have sent', async () => {
    const { visitor } = await signedInOwner(world);
    await visitor.get('/app/account');
    const { token } = visitor;
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: baseUrl, 'sec-fetch-site': 'cross-site' },
      { origin: baseUrl, 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      {},
    ];
    for (const headers of foreign) {
      visitor.token = token;
      const { status } = await visitor.post('/app/account/sign-out-everywhere', {}, headers);
      assert.equal(status, 403, JSON.stringify(headers));
    }
    const other = await signedInOwner(world);
    await other.visitor.get('/app/account');
    for (const wrong of ['', token.slice(1), other.visitor.token]) {
      visitor.token = wrong;
      assert.equal((await visitor.post('/app/account/sign-out-everywhere')).status, 403, wrong);
    }
    const without = await visitor.postBody(
      '/app/account/sign-out-everywhere',
      'application/x-www-form-urlencoded',
      Buffer.from('other=1'),
    );
    assert.equal(without.status, 403);
    assert.equal((await visitor.get('/app/account')).status, 200);
    const { location } = await visitor.post(
      '/app/account/sign-out-everywhere',
      {},
      { 'sec-fetch-site': 'same-origin' },
    );
    assert.equal(location, '/app/sign-in?done=signed-out-everywhere');
  });

  test('refuse to sign in without the cookie of the sign-in page', async () => {
    const { email } = await signedInOwner(world);
    const visitor = new Visitor(baseUrl);
    await visitor.get('/app/sign-in');
    visitor.cookies.clear();
    assert.equal((await visitor.post('/app/sign-in', { email, password })).status, 403);
  });

  test('refuse a large body, and one that is not a form', async () => {
    const { visitor } = await signedInOwner(world);
    await visitor.get('/app/account');
    const large = await visitor.post('/app/account/password', { password: 'x'.repeat(30_000) });
    assert.equal(large.status, 413);
    assert.match(large.headers.get('content-type') ?? '', /^text\/html/);
    const cookie = [...visitor.cookies].map((pair) => pair.join('=')).join('; ');
    const other = await fetch(`${baseUrl}/app/sign-out`, {
      method: 'POST',
      headers: { origin: baseUrl, cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ token: visitor.token }),
    });
    assert.equal(other.status, 415);
    await other.text();
    assert.equal((await visitor.get('/app/account')).status, 200);
  });

  test('allow only their own scripts, no framing and no caching', async () => {
    const { visitor } = await signedInOwner(world);
    const paths = [
      '/app',
      '/app/shops',
      '/app/account',
      `/app/shops/${world.shop.id}`,
      `/app/shops/${world.shop.id}/subscriptions`,
      `/app/shops/${world.shop.id}/cancel-flow`,
      '/app/none',
    ];
    const pages = [
      ...(await Promise.all(paths.map((path) => visitor.get(path)))),
      await new Visitor(baseUrl).get('/app/sign-in'),
      await new Visitor(baseUrl).get('/app/links/none'),
      await visitor.post('/app/sign-out', {}, {}),
    ];
    for (const { headers, text } of pages) {
      assert.equal(
        headers.get('content-security-policy'),
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      );
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('cache-control'), 'private, no-store');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('referrer-policy'), 'same-origin');
      assert.doesNotMatch(
        text,
        /<script(?! src="\/app\/(?:frame|passkeys|charts)-\w+\.js" defer><\/script>)|<style|\sstyle=|\son\w+=/,
      );
    }
    const sheet = /href="(\/app\/frame-\w+\.css)"/.exec(pages[2]?.text ?? '')?.[1] ?? '';
    const style = await visitor.get(sheet);
    assert.equal(style.headers.get('content-type'), 'text/css; charset=utf-8');
    assert.match(style.headers.get('cache-control') ?? '', /immutable/);
  });

  test('are compressed, with a new CSRF token each, unless they answer a form', async () => {
    const { visitor } = await signedInOwner(world);
    const both = { 'accept-encoding': 'gzip, deflate, br' };
    const { text } = await visitor.get('/app/account');
    const first = visitor.token;
    const { headers } = await visitor.get('/app/account', both);
    assert.equal(headers.get('content-encoding'), 'br');
    assert.ok(Number(headers.get('content-length')) < text.length / 2);
    const gzipped = await visitor.get('/app/account', { 'accept-encoding': 'gzip' });
    assert.equal(gzipped.headers.get('content-encoding'), 'gzip');
    await visitor.get('/app/account');
    assert.notEqual(visitor.token, first);
    const script = /src="([^"]+)"/.exec(text)?.[1] ?? '';
    const asset = await visitor.get(script, both);
    assert.equal(asset.headers.get('content-encoding'), 'br');
    assert.equal(asset.headers.get('vary'), 'accept-encoding');

    const keys = `/app/shops/${world.shop.id}/keys`;
    const form = await visitor.get(`${keys}/new`);
    const id = keyIdIn(form);
    visitor.token = first;
    const fields = { id, name: 'Till', scope: 'read:plans' };
    const made = await visitor.post(keys, fields, { ...both, origin: baseUrl });
    assert.equal(made.status, 201);
    assert.equal(made.headers.get('content-encoding'), null);
    assert.match(made.text, /rtn_[\w-]{43}/);
  });

  test('escape what they show', async () => {
    const { visitor } = await signedInOwner(world);
    await world.store.write`
      update shops set name = ${'<b>"&\'</b>'} where shop_id = ${world.shop.id}`;
    const { text } = await visitor.get(`/app/shops/${world.shop.id}`);
    assert.ok(!text.includes('<b>'));
    assert.ok(text.includes('&lt;b&gt;&quot;&amp;&#39;&lt;/b&gt;'));
    const anonymous = new Visitor(baseUrl);
    await anonymous.get('/app/sign-in');
    const page = await anonymous.post('/app/sign-in', { email: '"><i>', password: 'x' });
    assert.ok(!page.text.includes('<i>'));
  });

  test('move the focus to the field that an error is about, and mark it', async () => {
    const { email, visitor } = await signedInOwner(world);
    const fieldOf = (text: string) =>
      [...text.matchAll(/<input[^>]*aria-invalid="true"[^>]*>/g)].map(([field]) => [
        /id="([\w-]+)"|value="([\w:]+)"/.exec(field)?.slice(1).find(Boolean),
        field.includes('autofocus'),
        /aria-describedby="([^"]*)"/.exec(field)?.[1],
      ]);
    const change = await visitor.get('/app/account');
    assert.deepEqual(fieldOf(change.text), []);
    const account = async (entered: string, next: string) =>
      fieldOf(
        (await visitor.post('/app/account/password', { password: entered, 'new-password': next }))
          .text,
      );
    assert.deepEqual(await account(password, 'short'), [
      ['new-password', true, 'problem new-password-hint'],
    ]);
    assert.deepEqual(await account('wrong', 'a long and new phrase'), [
      ['password', true, 'problem'],
    ]);
    const stranger = new Visitor(baseUrl);
    await stranger.get('/app/sign-in');
    const wrong = await stranger.post('/app/sign-in', { email, password: 'wrong' });
    assert.match(wrong.text, /<p class="alert" id="problem" role="alert">Incorrect email/);
    assert.deepEqual(fieldOf(wrong.text), [
      ['email', false, 'problem'],
      ['password', true, 'problem'],
    ]);

    const keys = `/app/shops/${world.shop.id}/keys`;
    const { text } = await visitor.get(`${keys}/new`);
    const id = keyIdIn({ text });
    const unnamed = await visitor.post(keys, { id, name: '', scope: 'read:plans' });
    assert.deepEqual(fieldOf(unnamed.text), [['name', true, 'problem name-hint']]);
    const unscoped = await visitor.post(keys, { id, name: 'Till' });
    const boxes = fieldOf(unscoped.text);
    assert.deepEqual(boxes.length, 4);
    assert.deepEqual(
      boxes.map(([, hasFocus]) => hasFocus),
      [true, false, false, false],
    );
    assert.match(unscoped.text, /<fieldset aria-describedby="problem">/);
    // Password managers look for the account in a field that is shown.
    assert.match(change.text, /<input[^>]*type="email"[^>]*autocomplete="username"[^>]*readonly/);
  });

  test('set HttpOnly, SameSite cookies, with the __Host- prefix behind https', async () => {
    const overHttp = await new Visitor(baseUrl).get('/app/sign-in');
    assert.match(
      overHttp.headers.get('set-cookie') ?? '',
      /^retention-form=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400$/,
    );
    const port = await freePort();
    const listensOn = `http://127.0.0.1:${port}`;
    const service = await startService({
      config: {
        host: '127.0.0.1',
        port,
        metricsHost: '127.0.0.1',
        baseUrl: 'https://retention.example',
        redisUrl: undefined,
      },
      store: world.store,
      clock: world.clock,
      log: silentLog,
    });
    try {
      const behind = new Visitor(listensOn);
      const page = await behind.get('/app/sign-in');
      assert.match(
        page.headers.get('set-cookie') ?? '',
        /^__Host-retention-form=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=86400$/,
      );
      const fields = { email: 'nobody@example.com', password: 'x' };
      const listened = { origin: listensOn };
      assert.equal((await behind.post('/app/sign-in', fields, listened)).status, 403);
      const proper = { origin: 'https://retention.example' };
      assert.equal((await behind.post('/app/sign-in', fields, proper)).status, 422);
    } finally {
      await service.close();
    }
  });
});
