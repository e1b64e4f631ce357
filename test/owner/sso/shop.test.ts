import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { inviteOwner } from '../../../src/accounts/links.ts';
import { Sealing } from '../../../src/platforms/credentials/sealing.ts';
import { findOwnerByEmail } from '../../../src/store/owners/owners.ts';
import { auditOf, whoIs } from '../../support/audit.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { until } from '../../support/until.ts';
import { createShop, startTestService } from '../../support/world.ts';
import { Visitor, newAddress, password, signIn, signedInOwner, isSignedIn } from '../visitor.ts';
import { client } from './issuer.ts';
import {
  type SsoWorld,
  goToIssuer,
  roleOf,
  setUpShop,
  signInBySso,
  startSsoWorld,
} from './world.ts';

let domains = 0;
const newDomain = () => `lumen${(domains += 1)}.example`;

onOneDatabase('single sign-on at the issuer of a shop', (open) => {
  let world: SsoWorld;
  before(async () => {
    world = await startSsoWorld(open());
  });
  after(() => world.close());

  const enter = (email: string, claims: object = {}) => {
    world.issuer.person = { email, email_verified: true, ...claims };
    return signInBySso(world, { id: world.shop.id });
  };
  const remove = (visitor: Visitor) => visitor.post(`/app/shops/${world.shop.id}/sso/remove`);

  test('makes people of the verified domain members, with the role that the owners chose', async () => {
    const domain = newDomain();
    const { visitor: owner, email: ownerEmail } = await setUpShop(world, domain);
    const email = `ana@${domain}`;
    const finding = new Visitor(world.service.baseUrl);
    await finding.get('/app/sso');
    const found = await finding.post('/app/sso', { email, next: '/app/account' });
    assert.ok(found.text.includes(`href="/app/sso/${world.shop.id}?next=%2Fapp%2Faccount"`));
    const { visitor, page } = await enter(email);
    assert.equal(page.status, 303, page.text);
    assert.ok(await isSignedIn(visitor));
    assert.equal(await roleOf(world, email), 'analyst');
    // What the team decides later stays.
    await world.store.write`
      update owners.memberships m set role = 'developer' from owners.accounts a
      where a.owner_id = m.owner_id and a.email = ${email}`;
    await enter(email);
    assert.equal(await roleOf(world, email), 'developer');
    const entries = (await auditOf(world.store.write, world.shop.id, 'sso_')).slice(-3);
    assert.deepEqual(
      entries.map(({ who, what, target }) => [who, what, target]),
      [
        [await whoIs(world.store, ownerEmail), 'sso_set_up', world.issuer.url],
        [await whoIs(world.store, ownerEmail), 'sso_domain_verified', domain],
        [await whoIs(world.store, email), 'sso_role_given', 'analyst'],
      ],
    );
    assert.equal((await remove(owner)).status, 303);
    assert.equal((await visitor.get(`/app/sso/${world.shop.id}`)).status, 404);
  });

  test('accepts no answer in the place of another issuer’s', async () => {
    const domain = newDomain();
    await setUpShop(world, domain);
    world.issuer.person = { email: `ana@${domain}`, email_verified: true };
    const visitor = new Visitor(world.service.baseUrl);
    const back = await goToIssuer(world, visitor, { id: world.shop.id });
    const mixedUp = await visitor.get(back.replace(/sso\/\d+/, 'sso/0'));
    assert.equal(mixedUp.status, 403);
    assert.match(mixedUp.text, /started in another browser/);
    assert.equal((await visitor.get(back)).status, 303);
  });

  test('refuses people of another domain, and of one whose record is gone', async () => {
    const domain = newDomain();
    await setUpShop(world, domain);
    for (const email of [`ana@${newDomain()}`, `ana@evil.${domain}`, `ana@x${domain}`]) {
      const { page } = await enter(email);
      assert.equal(page.status, 403);
      assert.match(page.text, new RegExp(`is not one of ${domain}`));
      assert.equal(await whoIs(world.store, email), 'owner undefined');
    }
    assert.equal((await enter(`ana@${domain}`)).page.status, 303);
    world.dns.clear();
    world.clock.advance(3_600_001);
    const { page } = await enter(`ana@${domain}`);
    world.clock.advance(-3_600_001);
    assert.equal(page.status, 403);
    assert.match(page.text, /no longer has the record/);
  });

  test('lets people in again whom only the team has removed, as their page says', async () => {
    const domain = newDomain();
    const { visitor: owner, email: ownerEmail } = await setUpShop(world, domain);
    const email = `eve@${domain}`;
    await enter(email);
    const pageOf = async (address: string) => {
      const found = await findOwnerByEmail(world.store.write, address);
      return `/app/shops/${world.shop.id}/team/${found?.ownerId}`;
    };
    const path = await pageOf(email);
    const warning = /Single sign-on lets them in again/;
    assert.match((await owner.get(path)).text, warning);
    await owner.post(`${path}/remove`);
    assert.equal(await roleOf(world, email), undefined);
    await enter(email);
    assert.equal(await roleOf(world, email), 'analyst');
    await signedInOwner(world);
    assert.doesNotMatch((await owner.get(await pageOf(ownerEmail))).text, warning);
  });

  test('gives roles by a claim, and takes them back, but not from the last owner', async () => {
    const domain = newDomain();
    const roles = {
      claim: 'groups',
      owner: 'admins\r\nboard, and others\r\n',
      developer: 'devs',
      default: '',
    };
    const { email: ownerEmail } = await setUpShop(world, domain, roles);
    const email = `ben@${domain}`;
    for (const [groups, role] of [
      [['devs', 'others'], 'developer'],
      [['devs', 'board, and others'], 'owner'],
      ['devs', 'developer'],
      [['admins'], 'owner'],
    ] as const) {
      assert.equal((await enter(email, { groups })).page.status, 303);
      assert.equal(await roleOf(world, email), role);
    }
    for (const claims of [{}, { groups: ['others'] }, { groups: 'dev' }, { groups: [{}] }]) {
      const { visitor, page } = await enter(email, claims);
      assert.equal(page.status, 403);
      assert.match(page.text, /gives you no role here/);
      assert.ok(!(await isSignedIn(visitor)));
    }
    assert.equal((await enter(email, { groups: 'board' })).page.status, 403);
    await world.store.write`
      delete from owners.memberships where shop_id = ${world.shop.id} and owner_id <> (
        select owner_id from owners.accounts where email = ${email})`;
    assert.equal((await enter(email, { groups: 'devs' })).page.status, 303);
    assert.equal(await roleOf(world, email), 'owner');
    assert.notEqual(ownerEmail, email);
  });

  test('belongs to the shop that has verified the domain', async () => {
    const domain = newDomain();
    const other = await createShop(world.store);
    const { visitor, path } = await setUpShop(world, domain);
    const rival = await signedInOwner(world, { shopId: other.id });
    const theirs = `/app/shops/${other.id}/sso`;
    await rival.visitor.get(theirs);
    const fields = { issuer: world.issuer.url, domain, default: 'owner' };
    const secret = { 'client-id': 'x', 'client-secret': 'y' };
    assert.equal((await rival.visitor.post(theirs, { ...fields, ...secret })).status, 303);
    const missing = await rival.visitor.post(`${theirs}/verify`);
    assert.match(missing.text, /The record was not found/);
    assert.equal((await visitor.get(`/app/sso/${other.id}`)).status, 404);
    const { text } = await rival.visitor.get(theirs);
    world.dns.set(`_retention.${domain}`, /retention-verification=\w+/.exec(text)?.[0] ?? '');
    const taken = await rival.visitor.post(`${theirs}/verify`);
    assert.match(taken.text, new RegExp(`Another shop here has verified ${domain}`));
    // Another domain has to be verified again.
    await visitor.get(path);
    const moved = { ...fields, ...secret, domain: newDomain(), default: 'analyst' };
    assert.equal((await visitor.post(path, moved)).status, 303);
    assert.equal((await visitor.get(`/app/sso/${world.shop.id}`)).status, 404);
  });

  test('replaces the passwords of its domain once an owner has signed in with it', async () => {
    const domain = newDomain();
    const { save } = await setUpShop(world, domain, { default: 'owner' });
    const early = await save({ passwords: 'on' });
    assert.equal(early.status, 422);
    assert.match(early.text, /sign in by single sign-on once yourself/);
    const email = `cleo@${domain}`;
    await signedInOwner(world, { email });
    const { visitor } = await enter(email);
    const path = `/app/shops/${world.shop.id}/sso`;
    await visitor.get(path);
    const fields = { issuer: world.issuer.url, 'client-id': client.clientId, domain };
    const off = await visitor.post(path, { ...fields, default: 'owner', passwords: 'on' });
    assert.equal(off.status, 303, off.text);

    // Those of another domain stay until somebody has signed in with it.
    await visitor.get(path);
    const moved = { ...fields, domain: newDomain(), default: 'owner', passwords: 'on' };
    assert.equal((await visitor.post(path, moved)).status, 422);

    const { page } = await signIn(world.service.baseUrl, email, password, newAddress());
    assert.match(page.text, /Single sign-on has replaced your password/);
    const invited = await inviteOwner(world.store.write, world.clock, {
      shopId: world.shop.id,
      email: `dan@${domain}`,
    });
    assert.doesNotMatch((await visitor.get(invited.path)).text, /type="password"/);
    // Others keep theirs.
    const { email: other } = await signedInOwner(world);
    assert.equal((await signIn(world.service.baseUrl, other)).page.status, 303);
    await visitor.get(path);
    await remove(visitor);
    assert.equal((await signIn(world.service.baseUrl, email)).page.status, 303);
  });

  test('keeps the secret encrypted, and shows it nowhere', async () => {
    const { visitor, path, save } = await setUpShop(world, newDomain());
    const stored = async () => {
      const [row] = await world.store.write<{ secret: string }[]>`
        select client_secret as secret from owners.sso_providers where shop_id = ${world.shop.id}`;
      return row?.secret ?? '';
    };
    const earlier = await stored();
    assert.ok(!earlier.includes(client.clientSecret));
    assert.ok(!(await visitor.get(path)).text.includes(client.clientSecret));
    const saves = async () =>
      (await auditOf(world.store.write, world.shop.id, 'sso_set_up')).length;
    const saved = await saves();
    assert.equal((await save({ 'client-secret': '' })).status, 303);
    assert.equal(await stored(), earlier);
    // Nothing was changed, so there is no entry.
    assert.equal(await saves(), saved);
    // The next start with another key encrypts it anew.
    const keys = [Buffer.alloc(32, 8), Buffer.alloc(32, 7)];
    const renewed = await startTestService(world.store, {
      clock: world.clock,
      credentialsKeys: keys,
    });
    await until(stored, (secret) => secret !== earlier);
    await renewed.close();
    const opened = new Sealing([Buffer.alloc(32, 8)]).open(
      await stored(),
      `single sign-on of shop ${world.shop.id}`,
    );
    assert.equal(opened, client.clientSecret);
    const wrong = await save({ domain: 'not a domain', 'client-secret': 'hush' });
    assert.equal(wrong.status, 422);
    assert.ok(!wrong.text.includes('hush'));
  });

  test('says which field is wrong', async () => {
    const { save } = await setUpShop(world, newDomain());
    for (const [fields, id] of [
      [{ issuer: 'http://login.example.com' }, 'issuer'],
      [{ issuer: 'login' }, 'issuer'],
      [{ 'client-id': '' }, 'client-id'],
      // The stored secret is of the client that was set up, at its issuer.
      [{ 'client-id': 'another', 'client-secret': '' }, 'client-secret'],
      [{ issuer: 'https://login.example.com', 'client-secret': '' }, 'client-secret'],
      [{ domain: 'localhost' }, 'domain'],
      [{ default: '' }, 'default'],
    ] as const) {
      const { status, text } = await save(fields);
      assert.equal(status, 422);
      assert.match(text, new RegExp(`id="${id}"[^>]*aria-invalid="true"`), JSON.stringify(fields));
    }
  });

  test('asks no issuer in an internal network, and none that sends too much or no known status', async () => {
    let padding = '';
    let status = 200;
    const large = createServer(({ headers }, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ issuer: `http://${headers.host}`, padding }));
    });
    await new Promise<void>((resolve) => large.listen(0, '127.0.0.1', resolve));
    const { port } = large.address() as AddressInfo;
    const { save, visitor, path } = await setUpShop(world, newDomain());
    const strict = await startTestService(world.store, {
      clock: world.clock,
      credentialsKeys: [Buffer.alloc(32, 7)],
    });
    try {
      const problem = /does not answer as an OpenID Connect issuer/;
      const issuer = `http://127.0.0.1:${port}`;
      assert.equal((await save({ issuer })).status, 303);
      padding = 'x'.repeat(600_000);
      const another = { issuer, 'client-id': 'another' };
      assert.match((await save(another)).text, problem);
      padding = '';
      // No answer that fetch can have.
      status = 999;
      assert.match((await save({ issuer, 'client-id': 'third' })).text, problem);
      assert.equal((await save()).status, 303);
      const inside = visitor.at(strict.baseUrl);
      await inside.get(path);
      const fields = { issuer: world.issuer.url, 'client-id': 'x', 'client-secret': 'y' };
      const page = await inside.post(path, { ...fields, domain: newDomain(), default: 'analyst' });
      assert.match(page.text, problem);
      const start = await inside.get(`/app/sso/${world.shop.id}`);
      assert.equal(start.status, 503);
      assert.doesNotMatch(start.text, /SOURCE_NETWORKS|has no address/);
    } finally {
      await strict.close();
      await new Promise((resolve) => large.close(resolve));
    }
  });
});
