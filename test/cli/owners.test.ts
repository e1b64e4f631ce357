import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { connectAll } from '../../src/store/open.ts';
import { systemClock } from '../../src/clock.ts';
import { addApp, beginSignIn, giveCode } from '../owner/factors/app.ts';
import { startMailServer } from '../owner/notifications/mail-server.ts';
import { Visitor, password, signIn, signedInOwner } from '../owner/visitor.ts';
import { launch, migratedFolder, newShopId, run, runningFolder } from './process.ts';
import { startTestService } from '../support/world.ts';

const shop = newShopId();
const env = { RETENTION_DATA_DIR: runningFolder(), LOG_LEVEL: 'silent' };
const retention = (...args: string[]) => run(args, { env });

before(async () => {
  const { code, err } = await retention(
    'shops',
    'create',
    '--id',
    shop,
    '--name',
    'Test',
    '--currency=EUR',
  );
  assert.equal(code, 0, err);
});

test('invites, resets, lists and removes owners of a running server, with working links', async (t) => {
  const store = connectAll(process.env['TEST_EMBEDDED'] as string);
  const service = await startTestService(store);
  t.after(async () => {
    await service.close();
    await store.close();
  });
  const invited = await retention('owners', 'invite', '--shop', shop, '--email', 'Ana@Example.com');
  assert.equal(invited.code, 0, invited.err);
  const [, path = ''] =
    /^http:\/\/127\.0\.0\.1:\d+(\/app\/links\/[\w-]{43})\n$/.exec(invited.out) ?? [];
  assert.match(invited.err, /For ana@example\.com\. It works once, for 72 hours/);

  const visitor = new Visitor(service.baseUrl);
  await visitor.get(path);
  assert.equal((await visitor.post(path, { password })).location, '/app');
  assert.equal((await visitor.get(`/app/shops/${shop}`)).status, 200);

  await visitor.get('/app/account');
  await visitor.post('/app/account/name', { name: 'Ana Silva' });
  const members = async () => {
    const listed = await retention('owners', 'list', '--shop', shop, '--json');
    const all = JSON.parse(listed.out) as { email: string; name: string | null; role: string }[];
    return all.map(({ email, name, role }) => [email, name, role]);
  };
  assert.deepEqual(await members(), [['ana@example.com', 'Ana Silva', 'owner']]);
  const bo = ['--shop', shop, '--email', 'bo@example.com'];
  const second = await retention('owners', 'invite', ...bo, '--role', 'developer', '--json');
  const joining = new URL((JSON.parse(second.out) as { url: string }).url).pathname;
  const developer = new Visitor(service.baseUrl);
  await developer.get(joining);
  await developer.post(joining, { password });
  assert.equal((await developer.get(`/app/shops/${shop}/churn`)).status, 403);
  const set = await retention('owners', 'set-role', ...bo, '--role', 'analyst');
  assert.equal(set.out, `bo@example.com now has the role analyst in shop ${shop}.\n`);
  assert.equal((await developer.get(`/app/shops/${shop}/churn`)).status, 200);
  assert.deepEqual((await members())[1], ['bo@example.com', null, 'analyst']);
  assert.equal((await retention('owners', 'set-role', ...bo, '--role', 'operator')).code, 2);
  const told = await retention('owners', 'reset', '--email', 'ana@example.com');
  assert.match(told.err, /For ana@example\.com\. It works once, for an hour/);
  const reset = await retention('owners', 'reset', '--email', 'ana@example.com', '--json');
  const { url } = JSON.parse(reset.out) as { url: string };
  assert.equal((await visitor.get(new URL(url).pathname)).status, 200);

  const remove = ['owners', 'remove', '--shop', shop, '--email', 'ana@example.com', '--json'];
  const removed = await retention(...remove);
  assert.equal(removed.code, 0, removed.err);
  assert.deepEqual(JSON.parse(removed.out), {
    shop: Number(shop),
    email: 'ana@example.com',
    state: 'removed',
  });
  assert.equal((await visitor.get(`/app/shops/${shop}`)).status, 303);
});

test('removes the second factors of an owner who has lost them, and says so by mail', async (t) => {
  const mailServer = await startMailServer();
  const store = connectAll(process.env['TEST_EMBEDDED'] as string);
  const service = await startTestService(store, { clock: systemClock });
  t.after(async () => {
    await service.close();
    await store.close();
    await mailServer.close();
  });
  const owned = { store, clock: systemClock, service, shop: { id: Number(shop) } };
  const { visitor, email } = await signedInOwner(owned);
  await addApp(visitor, systemClock.now());
  const asked = await beginSignIn(service.baseUrl, email);
  const reset = (smtp = mailServer.url) =>
    run(['owners', 'reset-factors', '--email', email], { env: { ...env, SMTP_URL: smtp } });
  const { code, out, err } = await reset();
  assert.equal(code, 0, err);
  assert.match(out, /signs in with the password alone, until .* Removed: 1\.$/m);
  const [mail] = mailServer.received;
  assert.equal(mail?.to, email);
  assert.match(mail?.text ?? '', /The operator of the service removed all second factors/);
  // Sessions end, and sign-ins that wait for a factor.
  assert.equal((await visitor.get('/app/account')).status, 303);
  assert.match((await giveCode(asked, '000000')).location ?? '', /failed=second-step/);
  assert.equal((await signIn(service.baseUrl, email)).page.location, '/app');
  assert.match((await reset()).out, /has no second factor\.$/m);
  assert.equal(mailServer.received.length, 1);

  const again = await signIn(service.baseUrl, email);
  await addApp(again.visitor, systemClock.now());
  const untold = await reset('smtp://127.0.0.1:1');
  assert.equal(untold.code, 0);
  assert.match(untold.err, /could not be told by mail\./);
});

test('names an invalid email address, an unknown shop and an unknown owner', async () => {
  const wrong = await retention('owners', 'invite', '--shop', shop, '--email', 'ana');
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /--email must be an address such as/);
  const nowhere = await retention('owners', 'invite', '--shop', '9', '--email', 'ana@example.com');
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.err, /There is no shop 9/);
  for (const args of [
    ['remove', '--shop', shop],
    ['set-role', '--shop', shop, '--role', 'owner'],
    ['reset'],
    ['reset-factors'],
  ]) {
    const unknown = await retention('owners', ...args, '--email', 'nobody@example.com');
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /nobody@example\.com/);
  }
});

test('prints links to the running server, whatever port it was started on', async () => {
  const own = { RETENTION_DATA_DIR: migratedFolder(), LOG_LEVEL: 'silent' };
  const id = newShopId();
  const create = ['shops', 'create', '--id', id, '--name', 'Test', '--currency', 'EUR'];
  assert.equal((await run(create, { env: own })).code, 0);
  const invite = ['owners', 'invite', '--shop', id, '--email', 'ana@example.com'];
  const unstarted = await run(invite, { env: own });
  assert.match(unstarted.out, /^http:\/\/127\.0\.0\.1:8787\/app\/links\//);
  const server = launch(['serve'], { env: { ...own, PORT: '0' } });
  const [, address = ''] = await server.said(/listens on (http:\S+)\n/);
  const invited = await run(invite, { env: own });
  assert.ok(invited.out.startsWith(`${address}/app/links/`), invited.out + invited.err);
  const { status } = await new Visitor(address).get(invited.out.trim().slice(address.length));
  assert.equal(status, 200);
  const asked = { ...own, BASE_URL: 'https://retention.example' };
  const { out } = await run(invite, { env: asked });
  assert.match(out, /^https:\/\/retention\.example\/app\/links\//);
  server.child.kill('SIGTERM');
  await server.ended;
});
