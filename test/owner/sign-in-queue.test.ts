import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place } from '../../src/accounts/passwords.ts';
import { newSecret } from '../../src/accounts/sessions.ts';
import { FixedClock } from '../../src/clock.ts';
import { onOneDatabase } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { type World, startWorld } from '../support/world.ts';
import { Visitor, newAddress, newEmail, password, signedInOwner } from './visitor.ts';

onOneDatabase('the queue for passwords', (open) => {
  let world: World;
  let baseUrl: string;
  // In the future, because other tests share the database and their services delete old rows.
  const clock = new FixedClock('2090-01-01T00:00:00.000Z');
  before(async () => {
    world = { ...(await startWorld(open(), { clock })), clock };
    baseUrl = world.service.baseUrl;
  });
  after(() => world.close());

  /** The same browser at the sign-in page, without its session. */
  const again = async (visitor: Visitor, email: string, tried = password) => {
    visitor.cookies.delete('retention-session');
    await visitor.get('/app/sign-in');
    return visitor.post('/app/sign-in', { email, password: tried });
  };
  /** Takes all places of the queue for strangers' passwords. */
  const fillQueue = () => {
    const places = new DisposableStack();
    for (let taken = 0; taken < 22; taken += 1) places.use(new Place('stranger'));
    return places;
  };

  test('lets known browsers in while the queue is full of guesses', async () => {
    const { email, visitor } = await signedInOwner(world);
    const { email: other, visitor: otherBrowser } = await signedInOwner(world);
    const forged = new Visitor(baseUrl, newAddress());
    forged.cookies.set('retention-device', 'A'.repeat(43));
    const unknown = [new Visitor(baseUrl, newAddress()), forged];
    using queue = fillQueue();
    for (const each of unknown) assert.equal((await again(each, email)).status, 503);
    // A browser is known only to the accounts that have signed in with it.
    assert.equal((await again(otherBrowser, email)).status, 503);
    assert.equal((await again(visitor, email, 'not the right one')).status, 422);
    assert.equal((await again(visitor, email)).status, 303);
    assert.equal((await again(otherBrowser, other)).status, 303);
    // Its cookie was replaced when it signed in.
    assert.equal((await again(visitor.copy(newAddress()), email)).status, 303);
    queue.dispose();
    for (const each of unknown) assert.equal((await again(each, email)).status, 303);
  });

  test('lets a known browser in during a flood of guesses with forged cookies', async () => {
    const { email, visitor } = await signedInOwner(world);
    const over = new AbortController();
    const answers = { busy: 0, wrong: 0 };
    const guessing = Array.from({ length: 60 }, async (_, index) => {
      while (!over.signal.aborted) {
        const stranger = new Visitor(baseUrl, newAddress());
        if (index % 2 === 1) stranger.cookies.set('retention-device', newSecret());
        const { status } = await again(stranger, newEmail(), 'not the right one');
        assert.ok(status === 503 || status === 422, String(status));
        answers[status === 503 ? 'busy' : 'wrong'] += 1;
      }
    });
    try {
      for (let each = 0; each < 3; each += 1) {
        const { busy } = answers;
        await until(
          () => answers.busy,
          (count) => count > busy,
        );
        assert.equal((await again(visitor, email)).status, 303);
      }
    } finally {
      over.abort();
      await Promise.all(guessing);
    }
    assert.ok(answers.wrong > 0);
  });

  test('does not count attempts that were refused because the service was busy', async () => {
    const { email, visitor } = await signedInOwner(world);
    const stranger = new Visitor(baseUrl, newAddress());
    const queue = fillQueue();
    for (let tried = 0; tried < 6; tried += 1) {
      assert.equal((await again(stranger, email, 'not the right one')).status, 503);
    }
    queue.dispose();
    assert.equal((await again(stranger, email, 'not the right one')).status, 422);
    // The fifth is the last without a wait, so that none of the first six was counted.
    for (let tried = 1; tried < 5; tried += 1) {
      assert.equal((await again(stranger, email, 'not the right one')).status, 422);
    }
    assert.equal((await again(stranger, email)).status, 429);
    assert.equal((await again(visitor, email)).status, 303);
  });
});
