import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Turn, TooBusy, passwordQueue } from '../../src/accounts/password-queue.ts';
import { FixedClock } from '../../src/clock.ts';
import { ensureOwner, updatePassword } from '../../src/store/owners/owners.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { type World, startWorld, now } from '../support/world.ts';
import { Visitor, newAddress, newEmail, password, signedInOwner } from './visitor.ts';

function ignoreBusy(error: unknown): void {
  if (!(error instanceof TooBusy)) throw error;
}

/** As passwords are stored, at the least cost there is. */
function quickHash(message: string): string {
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 };
  const nonce = Buffer.alloc(16);
  const tag = argon2Sync('argon2id', { message, nonce, ...cost });
  const [salt, digest] = [nonce, tag].map((each) => each.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${digest}`;
}

// Services delete what is old by their clock, which moves here.
onOneOwnDatabase('the queue for passwords', (open) => {
  let world: World;
  let baseUrl: string;
  const clock = new FixedClock(now);
  before(async () => {
    world = await startWorld(open(), { clock });
    baseUrl = world.service.baseUrl;
  });
  after(() => world.close());

  /** The same browser at the sign-in page, without its session. */
  const again = async (visitor: Visitor, email: string, tried = password) => {
    visitor.cookies.delete('retention-session');
    await visitor.get('/app/sign-in');
    return visitor.post('/app/sign-in', { email, password: tried });
  };
  /** Takes all turns and all places of the queue for strangers, each from another network; turns go round. */
  const fillQueue = () => {
    const over = new AbortController();
    const held: Turn[] = [];
    const queue = async (network: string) => {
      const turn = await passwordQueue.turn({ standing: 'stranger', network });
      turn.succeed();
      if (over.signal.aborted) turn[Symbol.dispose]();
      else held.push(turn);
    };
    const waits: Promise<void>[] = [];
    const add = () => waits.push(queue(newAddress()).catch(ignoreBusy));
    for (let asked = 0; asked < 1100; asked += 1) add();
    const timer = setInterval(() => {
      held.shift()?.[Symbol.dispose]();
      add();
    }, 10);
    return {
      async [Symbol.asyncDispose]() {
        clearInterval(timer);
        over.abort();
        for (const turn of held.splice(0)) turn[Symbol.dispose]();
        await Promise.all(waits);
      },
    };
  };

  test('lets known browsers in while the queue is full of strangers', async () => {
    const { email, visitor } = await signedInOwner(world);
    const { email: other, visitor: otherBrowser } = await signedInOwner(world);
    const forged = new Visitor(baseUrl, newAddress());
    forged.cookies.set('retention-device', 'A'.repeat(43));
    const unknown = [new Visitor(baseUrl, newAddress()), forged];
    {
      await using _ = fillQueue();
      for (const each of unknown) assert.equal((await again(each, email)).status, 503);
      // A browser is known only to the accounts that have signed in with it.
      assert.equal((await again(otherBrowser, email)).status, 503);
      assert.equal((await again(visitor, email, 'not the right one')).status, 422);
      assert.equal((await again(visitor, email)).status, 303);
      assert.equal((await again(otherBrowser, other)).status, 303);
      // Its cookie was replaced when it signed in.
      assert.equal((await again(visitor.copy(newAddress()), email)).status, 303);
    }
    for (const each of unknown) assert.equal((await again(each, email)).status, 303);
  });

  /** Accounts whose passwords are quick to check. */
  const addAccounts = async (count: number) => {
    const emails = Array.from({ length: count }, newEmail);
    const hash = quickHash(password);
    for (const email of emails) {
      const ownerId = await ensureOwner(world.store.write, email, new Date(clock.now()));
      assert.ok(await world.store.write.begin((tx) => updatePassword(tx, ownerId, null, hash)));
    }
    return emails;
  };

  for (const [place, addressOf] of [
    ['in 200 networks', () => newAddress()],
    ['in one network', (office: string) => office],
  ] as const) {
    test(`lets 200 owners ${place} sign in at once while 50 guess`, async () => {
      const owners = await addAccounts(200);
      const others = await addAccounts(50);
      const office = newAddress();
      const over = new AbortController();
      let guesses = 0;
      const guessing = Array.from({ length: 50 }, async (_, index) => {
        const guesser = new Visitor(baseUrl, newAddress());
        for (let tried = index; !over.signal.aborted; tried += 1) {
          const { status } = await again(guesser, others[tried % 50] ?? '', 'not the right one');
          assert.ok(status === 422 || status === 429, String(status));
          guesses += 1;
        }
      });
      try {
        const answers = await Promise.all(
          owners.map((email) => again(new Visitor(baseUrl, addressOf(office)), email)),
        );
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([303]));
      } finally {
        over.abort();
        await Promise.all(guessing);
      }
      assert.ok(guesses > 0);
    });
  }

  test('does not count attempts that were refused because the service was busy', async () => {
    const { email, visitor } = await signedInOwner(world);
    const stranger = new Visitor(baseUrl, newAddress());
    {
      await using _ = fillQueue();
      for (let tried = 0; tried < 6; tried += 1) {
        assert.equal((await again(stranger, email, 'not the right one')).status, 503);
      }
    }
    assert.equal((await again(stranger, email, 'not the right one')).status, 422);
    // The fifth is the last without a wait, so that none of the first six was counted.
    for (let tried = 1; tried < 5; tried += 1) {
      assert.equal((await again(stranger, email, 'not the right one')).status, 422);
    }
    assert.equal((await again(stranger, email)).status, 429);
    assert.equal((await again(visitor, email)).status, 303);
  });
});
