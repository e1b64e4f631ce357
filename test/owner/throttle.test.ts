import assert from 'node:assert/strict';
import { fingerprint } from '../../src/accounts/sessions.ts';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { admitStranger } from '../../src/accounts/throttle.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { type World, startTestService, startWorld, now } from '../support/world.ts';
import {
  type Page,
  Visitor,
  newAddress,
  newEmail,
  password,
  signIn,
  signedInOwner,
} from './visitor.ts';

const hour = 3_600_000;
const day = 24 * hour;

// Services delete what is old by their clock, which moves here.
onOneOwnDatabase('guessing passwords', (open) => {
  let world: World;
  let baseUrl: string;
  const clock = new FixedClock(now);
  before(async () => {
    world = await startWorld(open(), { clock });
    baseUrl = world.service.baseUrl;
  });
  after(() => world.close());

  const guess = async (email: string, from: string, tried = 'not the right one') =>
    (await signIn(baseUrl, email, tried, from)).page;
  /** Sends wrong passwords one after the other, each from a new address unless one is given. */
  const fail = async (count: number, email: string, from?: string) => {
    const statuses: number[] = [];
    for (let tried = 0; tried < count; tried += 1) {
      statuses.push((await guess(email, from ?? newAddress())).status);
    }
    return statuses;
  };
  /** The same without pages and password hashing. */
  const failed = async (count: number, { email, from }: { email?: string; from?: string }) => {
    for (let tried = 0; tried < count; tried += 1) {
      const [who, address] = [email ?? newEmail(), from ?? newAddress()];
      const attempt = { email: who, address };
      const { kind } = await admitStranger(world.store.write, clock, attempt);
      assert.equal(kind, 'admitted');
    }
  };
  const times = (count: number, status: number) => Array<number>(count).fill(status);
  /** The same browser at the sign-in page, without its session. */
  const again = async (visitor: Visitor, email: string, tried = password) => {
    visitor.cookies.delete('retention-session');
    await visitor.get('/app/sign-in');
    return visitor.post('/app/sign-in', { email, password: tried });
  };

  test('makes visitors wait after five wrong passwords, ever longer, also for unknown accounts', async () => {
    const { email } = await signedInOwner(world);
    const seen: Page[][] = [];
    for (const each of [email, newEmail()]) {
      const from = newAddress();
      assert.deepEqual(await fail(5, each, from), times(5, 422));
      const first = await guess(each, from);
      assert.deepEqual([first.status, first.headers.get('retry-after')], [429, '10']);
      assert.match(
        first.text,
        /Too many incorrect passwords\. Try again in 10 seconds, or\s+<a href="\/app\/forgot-password">choose a new one<\/a>\./,
      );
      // Refused attempts are not counted, and even the right password is not checked.
      clock.advance(9_001);
      const late = await guess(each, from, password);
      assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '1']);
      assert.match(late.text, /Try again in 1 second,/);
      clock.advance(998);
      assert.equal((await guess(each, from)).status, 429);
      clock.advance(1);
      const sixth = await guess(each, from);
      const seventh = await guess(each, from);
      assert.deepEqual([sixth.status, seventh.status], [422, 429]);
      assert.equal(seventh.headers.get('retry-after'), '20');
      seen.push([first, late, sixth, seventh]);
    }
    const [known = [], unknown = []] = seen.map((pages) =>
      pages.map(({ text }) => text.replaceAll(/value="[^"]*"/g, '')),
    );
    assert.deepEqual(known, unknown);
  });

  test('limits the wait to 15 minutes, and forgets failures after a day', async () => {
    const email = newEmail();
    const from = newAddress();
    await failed(5, { email, from });
    const waits: (string | null)[] = [];
    for (let tried = 0; tried < 9; tried += 1) {
      const refused = await guess(email, from);
      waits.push(refused.headers.get('retry-after'));
      if (tried === 8) assert.match(refused.text, /Try again in 15 minutes,/);
      clock.advance(Number(waits.at(-1)) * 1000);
      assert.equal((await guess(email, from)).status, 422);
    }
    assert.deepEqual(waits, ['10', '20', '40', '80', '160', '320', '640', '900', '900']);
    clock.advance(day - 1);
    assert.equal((await guess(email, from)).status, 422);
    clock.advance(1);
    assert.deepEqual(await fail(4, email, from), times(4, 422));
    assert.equal((await guess(email, from)).status, 429);
  });

  test('does not lock the owner out from another address, and clears failures on signing in', async () => {
    const { email } = await signedInOwner(world);
    const [attacker, owner] = [newAddress(), newAddress()];
    assert.deepEqual(await fail(6, email, attacker), [...times(5, 422), 429]);
    assert.deepEqual(await fail(4, email, owner), times(4, 422));
    assert.equal((await guess(email, owner, password)).status, 303);
    assert.deepEqual(await fail(5, email, owner), times(5, 422));
    assert.equal((await guess(email, attacker)).status, 429);
  });

  test('limits guesses from many addresses together, but not those from a known browser', async () => {
    const { email, visitor } = await signedInOwner(world);
    const { visitor: other } = await signedInOwner(world);
    assert.deepEqual(await fail(21, email), [...times(20, 422), 429]);
    const stranger = await guess(email, newAddress(), password);
    assert.deepEqual([stranger.status, stranger.headers.get('retry-after')], [429, '10']);

    // A device of another account does not help, and neither does a forged cookie.
    const forged = new Visitor(baseUrl);
    forged.cookies.set('retention-device', 'A'.repeat(43));
    for (const each of [other, forged]) assert.equal((await again(each, email)).status, 429);
    assert.equal((await again(visitor.copy(newAddress()), email)).status, 303);
  });

  test('treats a known browser as unknown after ten wrong passwords', async () => {
    const { email, visitor } = await signedInOwner(world);
    await failed(20, { email });
    const tries: number[] = [];
    for (let tried = 0; tried < 11; tried += 1) {
      tries.push((await again(visitor, email, 'not the right one')).status);
    }
    assert.deepEqual(tries, [...times(10, 422), 429]);
    assert.equal((await again(visitor, email)).status, 429);
    // Its failures do not count towards the limit of unknown browsers.
    clock.advance(10_000);
    assert.equal((await again(visitor, email)).status, 303);
    assert.equal((await again(visitor, email, 'not the right one')).status, 422);
  });

  test('replaces the device cookie on signing in, and keeps it on signing out', async () => {
    const { email, visitor } = await signedInOwner(world);
    const { visitor: second } = await signedInOwner(world, { email: newEmail() });
    const old = visitor.copy();
    await failed(20, { email });
    await visitor.get('/app/account');
    await visitor.post('/app/sign-out');
    const page = await again(visitor, email);
    assert.equal(page.status, 303);
    const cookie = page.headers.getSetCookie().find((line) => line.startsWith('retention-device'));
    assert.match(
      cookie ?? '',
      /^retention-device=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=7776000$/,
    );
    assert.notEqual(visitor.cookies.get('retention-device'), old.cookies.get('retention-device'));
    assert.equal((await again(old, email)).status, 429);

    // A browser that two owners share is known to both accounts.
    const shared = second.copy();
    shared.cookies.set('retention-device', visitor.cookies.get('retention-device') ?? '');
    const { email: partner } = await signedInOwner(world);
    assert.equal((await again(shared, partner)).status, 303);
    assert.equal((await again(shared, email)).status, 303);
  });

  test('forgets other browsers when the password changes, and all of them after 90 days', async () => {
    const { email, visitor } = await signedInOwner(world);
    const { visitor: elsewhere } = await signIn(baseUrl, email);
    await visitor.get('/app/account');
    const changed = await visitor.post('/app/account/password', {
      password,
      'new-password': `new ${password}`,
    });
    assert.equal(changed.location, '/app/account?done=password');
    await failed(20, { email });
    assert.equal((await again(elsewhere, email, `new ${password}`)).status, 429);
    assert.equal((await again(visitor, email, `new ${password}`)).status, 303);

    clock.advance(90 * day - 1);
    await failed(20, { email });
    assert.equal((await again(visitor.copy(), email, 'not the right one')).status, 422);
    clock.advance(1);
    assert.equal((await again(visitor, email, `new ${password}`)).status, 429);
  });

  test('allows fifty wrong passwords from one address, for any number of accounts', async () => {
    const from = newAddress();
    await failed(48, { from });
    const statuses = [await fail(1, newEmail(), from), await fail(1, newEmail(), from)];
    assert.deepEqual(statuses, [[422], [422]]);
    assert.deepEqual(await fail(1, newEmail(), from), [429]);
    assert.equal((await guess(newEmail(), newAddress())).status, 422);
  });

  test('checks exactly as many concurrent guesses as sequential ones', async () => {
    const looked = async (pages: readonly Promise<Page>[]) =>
      (await Promise.all(pages)).filter(({ status }) => status === 422).length;
    const from = newAddress();
    const one = newEmail();
    assert.equal(await looked(Array.from({ length: 20 }, () => guess(one, from))), 5);
    const many = newEmail();
    assert.equal(await looked(Array.from({ length: 30 }, () => guess(many, newAddress()))), 20);
  });

  test('deletes failures after a day and devices after 90 days, on startup', async () => {
    const { email } = await signedInOwner(world);
    await failed(1, { email });
    const kept = async () => {
      const [row] = await world.store.write<{ attempts: number; devices: number }[]>`
        select (select count(*)::int from owners.attempts
            where account = decode(${fingerprint(`account ${email}`)}, 'base64')) as attempts,
          (select count(*)::int from owners.devices join owners.accounts using (owner_id)
            where email = ${email}) as devices`;
      return [(row?.attempts ?? 0) > 0, (row?.devices ?? 0) > 0];
    };
    const restart = async () => (await startTestService(world.store, { clock })).close();
    clock.advance(day - 1);
    await restart();
    assert.deepEqual(await kept(), [true, true]);
    clock.advance(1);
    await restart();
    assert.deepEqual(await kept(), [false, true]);
    clock.advance(89 * day);
    await restart();
    assert.deepEqual(await kept(), [false, false]);
  });
});
