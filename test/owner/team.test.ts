import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inviteOwner } from '../../src/accounts/links.ts';
import { mayGrant } from '../../src/accounts/rights.ts';
import { endMembership, setRole } from '../../src/accounts/team.ts';
import { FixedClock } from '../../src/clock.ts';
import { findOwnerByEmail, listMembers } from '../../src/store/owners/owners.ts';
import { roles } from '../../src/vocabulary.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import {
  type TestShop,
  type World,
  createShop,
  startTestService,
  startWorld,
  now,
} from '../support/world.ts';
import { startMailServer } from './notifications/mail-server.ts';
import { plain } from './page-text.ts';
import { Visitor, newEmail, password, signedInOwner } from './visitor.ts';

const linkIn = (text: string) => /\/app\/links\/[\w-]{43}/.exec(text)?.[0] ?? '';
const alertIn = (text: string) => plain(/role="alert">(.*?)<\/p>/s.exec(text)?.[1] ?? '');
const onlyOwner = 'A shop keeps at least one owner. Make another member an owner first.';

// Services delete what is old by their clock, which moves here.
onOneOwnDatabase('the team of a shop', (open) => {
  let world: World;
  let server: Awaited<ReturnType<typeof startMailServer>>;
  const clock = new FixedClock(now);
  before(async () => {
    server = await startMailServer();
    world = await startWorld(open(), { clock });
  });
  after(async () => {
    await world.close();
    await server.close();
  });

  /** An owner of a new shop, on its page. */
  async function start() {
    const shop = await createShop(world.store);
    const owner = await member(shop);
    const path = `/app/shops/${shop.id}/team`;
    await owner.visitor.get(path);
    return { shop, path, ...owner };
  }
  async function member(shop: TestShop, role: (typeof roles)[number] = 'owner') {
    const { email, visitor } = await signedInOwner(world, { shopId: shop.id, role });
    const { ownerId = '' } = (await findOwnerByEmail(world.store.write, email)) ?? {};
    return { email, visitor, ownerId, by: { who: `owner ${ownerId}` } };
  }
  const rolesIn = async (shop: TestShop) =>
    (await listMembers(world.store.write, shop.id)).map(({ email, role }) => [email, role]);

  type Who = Awaited<ReturnType<typeof member>>;
  /** Accepts an invitation in a new browser. */
  async function accept(link: string, fields: Readonly<Record<string, string>> = {}) {
    const visitor = new Visitor(world.service.baseUrl);
    await visitor.get('/app/sign-in');
    const { text } = await visitor.get(link);
    const page = await visitor.post(link, { password, ...fields });
    return { visitor, text, page };
  }

  test('withdraws the invitations of an owner who is removed, or gets another role', async () => {
    const { shop, by } = await start();
    const { store } = world;
    const change = (other: Who, isRemoved: boolean) =>
      isRemoved
        ? endMembership(store.write, clock, { shopId: shop.id, ownerId: other.ownerId }, by)
        : setRole(
            store.write,
            clock,
            { shopId: shop.id, ownerId: other.ownerId, role: 'analyst' },
            by,
          );
    for (const isRemoved of [true, false]) {
      const other = await member(shop);
      const invite = (actor: Who['by'], email = newEmail()) =>
        inviteOwner(store.write, clock, { shopId: shop.id, email }, actor);
      const [invited, elsewhere] = [newEmail(), newEmail()];
      const [ofOther, kept] = [await invite(other.by, invited), await invite(by)];
      const { id: shopId } = await createShop(store);
      await inviteOwner(store.write, clock, { shopId, email: elsewhere });
      await invite(other.by, elsewhere);
      await change(other, isRemoved);
      assert.equal((await accept(ofOther.path)).page.status, 404);
      assert.equal((await accept(kept.path)).page.status, 303);
      // Accounts without a shop are gone.
      const found = await Promise.all(
        [invited, elsewhere].map((email) => findOwnerByEmail(store.write, email)),
      );
      assert.deepEqual(
        found.map((account) => account?.email),
        [undefined, elsewhere],
      );
    }
  });

  test('grows by an invitation with a role, and a name that it shows beside the address', async () => {
    const { shop, path, visitor } = await start();
    const email = newEmail();
    const invited = await visitor.post(path, { email: ` ${email.toUpperCase()}`, role: 'analyst' });
    assert.equal(invited.status, 201);
    assert.match(plain(invited.text), /Copy the link now, and send it to them/);
    const pending = plain((await visitor.get(path)).text);
    assert.match(pending, new RegExp(`${email} Analyst .* UTC New link for ${email}`));

    const {
      visitor: analyst,
      text,
      page,
    } = await accept(linkIn(invited.text), {
      name: ' Ana <b>Silva</b> ',
    });
    assert.match(plain(text), /with the role analyst/);
    assert.equal(page.status, 303);
    assert.deepEqual((await rolesIn(shop)).at(-1), [email, 'analyst']);
    const shown = plain((await visitor.get(path)).text);
    assert.match(shown, new RegExp(`Ana <b>Silva</b> ${email} Analyst .* less than a minute ago`));
    assert.doesNotMatch(shown, /New link/);
    assert.match(plain((await analyst.get('/app/account')).text), /Ana <b>Silva<\/b> owner-/);
    clock.advance(1000);
    const audit = plain((await visitor.get(`/app/shops/${shop.id}/audit`)).text);
    assert.ok(audit.includes(`Invited Ana <b>Silva</b> (${email}) (analyst)`));
    assert.equal((await analyst.get(path)).status, 403);
  });

  test('invites once, whatever is sent again, and a new link replaces the one before', async () => {
    const { shop, path, visitor } = await start();
    const invitation = { email: newEmail(), role: 'developer' };
    const first = await visitor.post(path, invitation);
    const again = await visitor.post(path, { ...invitation, role: 'owner' });
    assert.equal(again.status, 422);
    assert.match(alertIn(again.text), /^This person is invited already\./);
    const [, renew = ''] = /name="renew" value="([^"]+)"/.exec(again.text) ?? [];
    const second = await visitor.post(path, { renew });
    assert.equal(second.status, 201);
    const late = await visitor.post(path, { renew });
    assert.deepEqual([late.status, /has another link/.test(alertIn(late.text))], [422, true]);
    assert.equal((await accept(linkIn(first.text))).page.status, 404);
    const { visitor: developer } = await accept(linkIn(second.text));
    assert.equal((await developer.get(path.replace('/team', '/keys'))).status, 200);
    const refused = await developer.get(path);
    assert.equal(refused.status, 403);
    // Not to the overview, which is not part of the role either.
    const elsewhere = path.replace('/team', '/sources');
    assert.ok(refused.text.includes(`<a href="${elsewhere}">Go to Sources</a>`));
    const known = await visitor.post(path, invitation);
    assert.match(alertIn(known.text), /^This person is a member already\./);
    // An expired one is in the way of another.
    const slow = { email: newEmail(), role: 'analyst' };
    await visitor.post(path, slow);
    await world.store.write`
      update owners.links set expires_at = ${new Date(clock.now())} where shop_id = ${shop.id}`;
    assert.match((await visitor.get(path)).text, /Expired/);
    assert.equal((await visitor.post(path, slow)).status, 201);
  });

  test('does not grow by a withdrawn invitation, whose account is gone', async () => {
    const { path, visitor } = await start();
    const email = newEmail();
    const invited = await visitor.post(path, { email, role: 'analyst' });
    const { text } = await visitor.get(path);
    const [, id = ''] = /\/team\/([0-9a-f-]{36})\/remove"/.exec(text) ?? [];
    const withdrawn = await visitor.post(`${path}/${id}/remove`);
    assert.equal(withdrawn.location, `${path}?done=removed`);
    assert.equal((await accept(linkIn(invited.text))).page.status, 404);
    assert.equal(await findOwnerByEmail(world.store.write, email), undefined);
    assert.match(
      alertIn((await visitor.post(`${path}/${id}/remove`)).text),
      /^This person is no longer in the team\.$/,
    );
    for (const unknown of ['x', '-'.repeat(36)]) {
      assert.equal((await visitor.post(`${path}/${unknown}/remove`)).status, 404, unknown);
      assert.equal((await visitor.get(`${path}/${unknown}`)).status, 404, unknown);
      assert.equal((await visitor.post(`${path}/${unknown}`, { role: 'owner' })).status, 422);
    }
  });

  test('says what is wrong with an invitation', async () => {
    const { path, visitor } = await start();
    const said = async (fields: Readonly<Record<string, string>>) => {
      const { status, text } = await visitor.post(path, fields);
      assert.equal(status, 422);
      return alertIn(text);
    };
    assert.match(await said({ email: 'ana', role: 'owner' }), /^Enter an email address/);
    assert.equal(await said({ email: newEmail() }), 'Choose a role.');
    assert.equal(await said({ email: newEmail(), role: 'operator' }), 'Choose a role.');
    assert.doesNotMatch((await visitor.get(path)).text, /New link/);
  });

  test('is told who was invited by mail, 3 times an hour to an address', async () => {
    const { shop, path, visitor: here } = await start();
    const mail = { url: server.url, from: undefined };
    const service = await startTestService(world.store, { clock, mail });
    const visitor = here.at(service.baseUrl);
    await visitor.get(path);
    await visitor.post('/app/account/name', { name: 'Bo Ek' });
    const email = newEmail();
    const invited = await visitor.post(path, { email, role: 'developer' });
    assert.match(plain(invited.text), /The link is on its way by email/);
    const mails = () => server.received.filter(({ to }) => to === email);
    await until(async () => mails().length === 1);
    const [{ text = '' } = {}] = mails();
    assert.match(text, new RegExp(`^Subject: Invitation to ${shop.name}\\r$`, 'm'));
    assert.match(text, /Bo Ek invites you to .*, with the role developer/);
    assert.ok(text.includes(`\n${service.baseUrl}${linkIn(invited.text)}\r`));
    let last = await visitor.get(path);
    for (let count = 0; count < 3; count += 1) {
      const [, renew = ''] = /name="renew" value="([^"]+)"/.exec(last.text) ?? [];
      const sent = await visitor.post(path, { renew });
      last = count < 2 ? await visitor.get(path) : sent;
      assert.equal(sent.status, count < 2 ? 201 : 422);
    }
    assert.match(
      alertIn(last.text),
      /^Too many invitations were sent\. Try again in 60 minutes\.$/,
    );
    await service.close();
  });

  test('changes roles and loses members with the next request', async () => {
    const { shop, path, visitor } = await start();
    const other = await member(shop);
    assert.equal((await other.visitor.get(path)).status, 200);
    const change = (role: string) => visitor.post(`${path}/${other.ownerId}`, { role });
    assert.equal((await change('developer')).location, `${path}?done=role`);
    assert.equal((await other.visitor.get(path)).status, 403);
    assert.equal((await other.visitor.get(`/app/shops/${shop.id}/sources`)).status, 200);
    assert.equal((await change('analyst')).status, 303);
    assert.equal((await other.visitor.get(`/app/shops/${shop.id}/sources`)).status, 403);
    assert.equal((await change('operator')).location, `${path}/${other.ownerId}`);
    const removed = await visitor.post(`${path}/${other.ownerId}/remove`);
    assert.equal(removed.location, `${path}?done=removed`);
    assert.match((await other.visitor.get(`/app/shops/${shop.id}`)).location ?? '', /sign-in/);
    // Without another owner, neither a role nor a removal.
    const self = await member(shop);
    assert.equal((await self.visitor.get(path)).status, 200);
    const own = await self.visitor.post(`${path}/${self.ownerId}`, { role: 'analyst' });
    assert.equal(own.location, `/app/shops/${shop.id}`);
    assert.equal((await self.visitor.get(path)).status, 403);
  });

  test('keeps its last owner', async () => {
    const { shop, path, email, ownerId, visitor } = await start();
    const analyst = await member(shop, 'analyst');
    assert.match(
      plain((await visitor.get(`${path}/${ownerId}`)).text),
      /The only owner of Test keeps the role/,
    );
    const refused = await visitor.post(`${path}/${ownerId}`, { role: 'analyst' });
    assert.deepEqual([refused.status, alertIn(refused.text)], [422, onlyOwner]);
    const removal = await visitor.post(`${path}/${ownerId}/remove`);
    assert.deepEqual([removal.status, alertIn(removal.text)], [422, onlyOwner]);
    const leave = `/app/shops/${shop.id}/leave`;
    for (const page of [await visitor.get(leave), await visitor.post(leave)]) {
      assert.match(plain(page.text), /You are the only owner of Test/);
      assert.doesNotMatch(page.text, /class="danger"/);
    }
    await analyst.visitor.get(leave);
    assert.equal((await analyst.visitor.post(leave)).location, '/app/sign-in?done=left');
    assert.deepEqual(await rolesIn(shop), [[email, 'owner']]);
    assert.equal(await findOwnerByEmail(world.store.write, analyst.email), undefined);
  });

  test('keeps one of two owners who remove, demote or leave at the same time', async () => {
    const { write } = world.store;
    const acts = {
      remove: (shop: TestShop, by: Who, target: Who) =>
        endMembership(write, clock, { shopId: shop.id, ownerId: target.ownerId }, by.by),
      demote: (shop: TestShop, by: Who, { ownerId }: Who) =>
        setRole(write, clock, { shopId: shop.id, ownerId, role: 'analyst' }, by.by),
      leave: (shop: TestShop, { ownerId, by }: Who) =>
        endMembership(write, clock, { shopId: shop.id, ownerId }, by),
    };
    for (const [name, act] of Object.entries(acts)) {
      for (let round = 0; round < 5; round += 1) {
        const shop = await createShop(world.store);
        const [one, other] = [await member(shop), await member(shop)];
        const results = await Promise.allSettled([act(shop, one, other), act(shop, other, one)]);
        const failed = results.flatMap((each) =>
          each.status === 'rejected' ? [(each.reason as Error).name] : [],
        );
        assert.deepEqual(failed, ['TeamRefusal'], name);
        const owners = (await rolesIn(shop)).filter(([, role]) => role === 'owner');
        assert.equal(owners.length, 1, name);
      }
    }
  });

  test('is changed by its owners and the operator only, whichever page or code asks', async () => {
    const { write } = world.store;
    const { shop, ownerId } = await start();
    const stranger = await member(await createShop(world.store));
    for (const role of ['developer', 'analyst'] as const) {
      const { by } = await member(shop, role);
      for (const who of [by, stranger.by, { who: 'visitor' }, { who: 'platform shopify' }]) {
        const email = newEmail();
        for (const attempt of [
          () => inviteOwner(write, clock, { shopId: shop.id, email, role }, who),
          () => setRole(write, clock, { shopId: shop.id, ownerId, role }, who),
          () => endMembership(write, clock, { shopId: shop.id, ownerId }, who),
        ]) {
          await assert.rejects(attempt, { name: 'TeamRefusal', reason: 'not-allowed' });
        }
        assert.equal(await findOwnerByEmail(write, email), undefined);
      }
    }
    const operator = { who: 'command line' };
    await setRole(write, clock, { shopId: shop.id, ownerId, role: 'analyst' }, operator);
    await endMembership(write, clock, { shopId: shop.id, ownerId }, operator);
    assert.equal((await rolesIn(shop)).length, 2);
    const granting = roles.flatMap((own) => roles.map((role) => [own, role, mayGrant(own, role)]));
    assert.deepEqual(
      granting.filter(([, , may]) => may).map(([own]) => own),
      ['owner', 'owner', 'owner'],
    );
  });
});
