import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { isAppSecret, stepOf } from '../../../src/accounts/factors/codes.ts';
import { inviteOwner, resetPassword } from '../../../src/accounts/links.ts';
import { FixedClock } from '../../../src/clock.ts';
import {
  findOwnerByEmail,
  listInvitations,
  listMembers,
} from '../../../src/store/owners/owners.ts';
import { listFactors } from '../../../src/store/owners/factors.ts';
import { auditOf } from '../../support/audit.ts';
import { onOneOwnDatabase } from '../../support/own-databases.ts';
import { until } from '../../support/until.ts';
import { type World, createShop, now, startTestService, startWorld } from '../../support/world.ts';
import { startMailServer } from '../notifications/mail-server.ts';
import {
  Visitor,
  newAddress,
  password,
  removeOwner,
  signIn,
  signedInOwner,
  isSignedIn,
} from '../visitor.ts';
import { addApp, beginSignIn, codeOf, giveCode, recoveryCodesIn } from './app.ts';

const minute = 60_000;
const factors = '/app/account/factors';

describe('codes of authenticator apps', () => {
  // RFC 6238, appendix B: of its eight digits, an app shows the last six.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const vectors = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const;

  test('are those of RFC 6238', () => {
    assert.ok(isAppSecret(secret));
    for (const [seconds, digits] of vectors) {
      const step = Math.floor(seconds / 30);
      assert.equal(stepOf(secret, digits.slice(2), seconds * 1000), step);
      assert.equal(stepOf(secret, '１２３４５６', seconds * 1000), undefined);
    }
  });

  test('are right for one step before and after, and no further', () => {
    const [[seconds, digits]] = vectors;
    const found = [-60, -30, 0, 30, 60].map((later) =>
      stepOf(secret, digits.slice(2), (seconds + later) * 1000),
    );
    assert.deepEqual(found, [undefined, 1, 1, 1, undefined]);
  });
});

// A service with a key encrypts the secrets of all owners in its database.
onOneOwnDatabase('second factors without scripts', (open) => {
  let world: World;
  let baseUrl: string;
  let mailServer: Awaited<ReturnType<typeof startMailServer>>;
  const clock = new FixedClock(now);
  before(async () => {
    mailServer = await startMailServer();
    const mail = { url: mailServer.url, from: undefined };
    world = await startWorld(open(), { clock, mail });
    baseUrl = world.service.baseUrl;
  });
  after(async () => {
    await world.close();
    await mailServer.close();
  });

  const ownerWithApp = async () => {
    const owner = await signedInOwner(world);
    const app = await addApp(owner.visitor, clock.now());
    return { ...owner, ...app };
  };
  const mailTo = (email: string, words: string) =>
    until(async () =>
      mailServer.received.find(({ to, text }) => to === email && text.includes(words)),
    );

  test('are set up with a key that a code confirms, once', async () => {
    const { email, visitor } = await signedInOwner(world);
    const { visitor: elsewhere } = await signIn(baseUrl, email);
    assert.match((await visitor.get(factors)).text, /None yet: anyone who knows your password/);

    const shown = await visitor.get(`${factors}/app`);
    const [, secret = ''] = /name="secret" value="(\w+)"/.exec(shown.text) ?? [];
    const [, id = ''] = /name="id" value="([\w-]+)"/.exec(shown.text) ?? [];
    assert.match(shown.text, /<svg\s+role="img"\s+aria-label="QR code with the key below"/);
    assert.ok(shown.text.includes(`<code id="key">${secret}</code>`));
    const wrong = await visitor.post(`${factors}/app`, { secret, id, code: '000000' });
    assert.equal(wrong.status, 422);
    assert.ok(wrong.text.includes(`name="secret" value="${secret}"`));

    const fields = { secret, id, code: codeOf(secret, clock.now()) };
    const added = await visitor.post(`${factors}/app`, fields);
    assert.deepEqual([added.status, recoveryCodesIn(added).length], [201, 10]);
    assert.equal((await visitor.post(`${factors}/app`, fields)).status, 303);
    const { text } = await visitor.get(factors);
    assert.equal(text.match(/aria-label="Remove Authenticator app"/g)?.length, 1);
    assert.match(text, /10 of 10 are left/);
    assert.ok(await isSignedIn(visitor));
    assert.ok(!(await isSignedIn(elsewhere)));
    await mailTo(email, 'added an authenticator app');

    for (const each of [
      { ...fields, secret: 'A' },
      { ...fields, id: 'x' },
    ]) {
      assert.equal((await visitor.post(`${factors}/app`, each)).location, `${factors}/app`);
    }
  });

  test('are asked for after the password; a code works once', async () => {
    const { email, secret } = await ownerWithApp();
    const asked = await beginSignIn(baseUrl, email);
    assert.ok(!(await isSignedIn(asked)));
    // The code that confirmed the set-up is used up, and those of two steps on are not yet right.
    for (const steps of [-1, 0, 2]) {
      const refused = await giveCode(asked, codeOf(secret, clock.now(), steps));
      assert.equal(refused.status, 422, String(steps));
      assert.match(refused.text, /role="alert"[^>]*>This was not right/);
    }
    const code = codeOf(secret, clock.now(), 1);
    const spaced = `${code.slice(0, 3)} ${code.slice(3)}`;
    const right = await giveCode(asked, spaced);
    assert.deepEqual([right.status, right.location], [303, '/app']);
    assert.ok(await isSignedIn(asked));

    // Nothing is left to answer a second time.
    assert.match((await giveCode(asked, code)).location ?? '', /failed=second-step/);
    const other = await beginSignIn(baseUrl, email);
    assert.equal((await giveCode(other, code)).status, 422);
    clock.advance(30_000);
    assert.equal((await giveCode(other, codeOf(secret, clock.now(), 1))).status, 303);
  });

  test('can be replaced by recovery codes, each once, until there are new ones', async () => {
    const { email, visitor, codes } = await ownerWithApp();
    const [first = '', second = ''] = codes;
    const asked = await beginSignIn(baseUrl, email);
    assert.equal((await giveCode(asked, first.toLowerCase().replaceAll('-', ' '))).status, 303);
    const again = await beginSignIn(baseUrl, email);
    assert.equal((await giveCode(again, first)).status, 422);

    const page = await visitor.get(factors);
    assert.match(page.text, /9 of 10 are left/);
    const [, made = ''] = /name="made" value="(\d+)"/.exec(page.text) ?? [];
    clock.advance(1);
    const fresh = await visitor.post(`${factors}/codes`, { made });
    assert.equal(recoveryCodesIn(fresh).length, 10);
    // A second tab with the page from before does not replace them unseen.
    assert.equal((await visitor.post(`${factors}/codes`, { made })).location, factors);
    assert.equal((await giveCode(again, second)).status, 422);
    assert.equal((await giveCode(again, recoveryCodesIn(fresh)[9] as string)).status, 303);
  });

  test('must be given within five minutes, in the browser that gave the password', async () => {
    const { email, secret } = await ownerWithApp();
    const asked = await beginSignIn(baseUrl, email);
    const stranger = new Visitor(baseUrl);
    await stranger.get('/app/sign-in');
    const code = () => codeOf(secret, clock.now(), 1);
    assert.match((await giveCode(stranger, code())).location ?? '', /failed=second-step/);
    stranger.cookies.set('retention-waiting', 'A'.repeat(43));
    assert.match((await giveCode(stranger, code())).location ?? '', /failed=second-step/);

    clock.advance(5 * minute);
    const late = await giveCode(asked, code());
    assert.equal(late.location, '/app/sign-in?next=%2Fapp&failed=second-step');
    assert.match((await asked.get(late.location)).text, /The second step took too long/);

    const early = await beginSignIn(baseUrl, email);
    clock.advance(5 * minute - 1);
    assert.equal((await giveCode(early, code())).status, 303);
  });

  test('that are wrong make visitors wait, apart from wrong passwords', async () => {
    const { email, secret } = await ownerWithApp();
    for (let tried = 0; tried < 5; tried += 1) {
      await signIn(baseUrl, email, 'wrong', newAddress());
    }
    const from = newAddress();
    const asked = await beginSignIn(baseUrl, email, from);
    for (let tried = 0; tried < 5; tried += 1) {
      assert.equal((await giveCode(asked, '000 000')).status, 422);
    }
    const code = codeOf(secret, clock.now(), 1);
    const refused = await giveCode(asked, code);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '10']);
    assert.match(refused.text, /Too many incorrect codes\. Try again in 10 seconds\./);
    // The password still leads to the second step.
    assert.equal((await giveCode(await beginSignIn(baseUrl, email, from), code)).status, 429);
    clock.advance(10_000);
    assert.equal((await giveCode(asked, codeOf(secret, clock.now(), 1))).status, 303);
  });

  test('are asked for after a link, too; a new password ends the sign-ins that wait', async () => {
    const { email, visitor, secret } = await ownerWithApp();
    const waiting = await beginSignIn(baseUrl, email);
    const link = await resetPassword(world.store.write, clock, email);
    const browser = new Visitor(baseUrl);
    await browser.get(link?.path ?? '');
    const changed = await browser.post(link?.path ?? '', { password: `another ${password}` });
    assert.match(changed.location ?? '', /^\/app\/sign-in\/second-step/);
    assert.ok(!(await isSignedIn(browser)) && !(await isSignedIn(visitor)));
    const code = codeOf(secret, clock.now(), 1);
    assert.match((await giveCode(waiting, code)).location ?? '', /failed=second-step/);
    const step = await browser.get(changed.location ?? '');
    assert.match(step.text, /Your new password is set\./);
    assert.doesNotMatch(step.text, /password was right/);
    assert.equal((await giveCode(browser, code)).status, 303);
    assert.ok(await isSignedIn(browser));
  });

  test('are given before an invitation counts, which waits for them', async () => {
    const { email, secret } = await ownerWithApp();
    const shop = await createShop(world.store);
    const { write } = world.store;
    const invite = () => inviteOwner(write, clock, { shopId: shop.id, email, role: 'analyst' });
    const accept = async (path: string) => {
      const visitor = new Visitor(baseUrl);
      await visitor.get(path);
      const { location } = await visitor.post(path, { password });
      assert.match(location ?? '', /^\/app\/sign-in\/second-step/);
      assert.match((await visitor.get(location ?? '')).text, /You join the shop once you have/);
      return visitor;
    };
    const outcome = async () => ({
      roles: (await listMembers(write, shop.id)).map(({ role }) => role),
      invitations: (await listInvitations(write, shop.id)).length,
      accepted: (await auditOf(write, shop.id, 'owner_added')).length,
    });
    const { path } = await invite();
    const first = await accept(path);
    assert.ok(!(await isSignedIn(first)));
    assert.equal((await giveCode(first, '1')).status, 422);
    assert.deepEqual(await outcome(), { roles: [], invitations: 1, accepted: 0 });

    // It was not finished; the link still works.
    clock.advance(6 * minute);
    const again = await accept(path);
    assert.equal((await giveCode(again, codeOf(secret, clock.now()))).status, 303);
    assert.deepEqual(await outcome(), { roles: ['analyst'], invitations: 0, accepted: 1 });
    assert.equal((await again.get(`/app/shops/${shop.id}/search`)).status, 200);
    assert.equal((await new Visitor(baseUrl).get(path)).status, 404);

    // One that is withdrawn meanwhile signs in, without the shop.
    await removeOwner(world.store, email, shop.id);
    const withdrawn = await accept((await invite()).path);
    await removeOwner(world.store, email, shop.id);
    assert.equal((await giveCode(withdrawn, codeOf(secret, clock.now(), 1))).status, 303);
    assert.ok(await isSignedIn(withdrawn));
    assert.deepEqual(await outcome(), { roles: [], invitations: 0, accepted: 1 });
  });

  test('can be removed; without one, the password alone signs in', async () => {
    const { email, visitor, id, codes } = await ownerWithApp();
    const { visitor: other } = await signedInOwner(world);
    await other.get(factors);
    await other.post(`${factors}/remove`, { factor: id });
    await visitor.get(factors);
    assert.match((await visitor.get(factors)).text, /Remove Authenticator app/);
    const removed = await visitor.post(`${factors}/remove`, { factor: id });
    assert.equal(removed.location, `${factors}?done=removed`);
    await mailTo(email, 'removed an authenticator app');
    const { page } = await signIn(baseUrl, email);
    assert.equal(page.location, '/app');
    // Recovery codes go with the last one.
    const later = await addApp(visitor, clock.now());
    assert.equal(later.codes.length, 10);
    const asked = await beginSignIn(baseUrl, email);
    assert.equal((await giveCode(asked, codes[0] as string)).status, 422);
  });

  test('are encrypted with the key that the operator sets, and with a later one', async () => {
    const [key, newer] = [randomBytes(32), randomBytes(32)];
    const { email, visitor, secret } = await ownerWithApp();
    const { ownerId = '' } = (await findOwnerByEmail(world.store.write, email)) ?? {};
    const stored = async () => (await listFactors(world.store.write, ownerId))[0]?.key ?? '';
    assert.equal(await stored(), `plain:${secret}`);
    const sealed: string[] = [];
    for (const keys of [[key], [newer, key], [newer]]) {
      await (await startTestService(world.store, { clock, credentialsKeys: keys })).close();
      sealed.push(await stored());
      assert.ok(!sealed.at(-1)?.includes(secret));
    }
    assert.ok(sealed[0] !== sealed[1] && sealed[1] === sealed[2]);

    const service = await startTestService(world.store, { clock, credentialsKeys: [newer] });
    try {
      const asked = await beginSignIn(service.baseUrl, email);
      assert.equal((await giveCode(asked, codeOf(secret, clock.now(), 1))).status, 303);
    } finally {
      await service.close();
    }
    await visitor.get('/app/account');
  });
});
