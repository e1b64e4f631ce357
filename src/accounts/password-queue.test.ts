import assert from 'node:assert/strict';
import { setImmediate as settle } from 'node:timers/promises';
import { test } from 'node:test';
import { PasswordQueue, type Sender, TooBusy, type Turn } from './password-queue.ts';

const limits = { computations: 1, turns: 1, maxWaiting: 1000, maxWaitMilliseconds: 600_000 };
const owner = (network: string): Sender => ({ standing: 'stranger', network });

/** A queue whose only turn is taken, and what happens to those who wait. */
function queueOf(settings: Partial<typeof limits> = {}) {
  const queue = new PasswordQueue({ ...limits, ...settings });
  const begun: string[] = [];
  const refused: string[] = [];
  let turn: Turn | undefined;
  const ask = async (name: string, sender: Sender) => {
    try {
      turn = await queue.turn(sender);
      begun.push(name);
    } catch (error) {
      assert.ok(error instanceof TooBusy);
      refused.push(name);
    }
  };
  /** Ends the turn, and begins the next one. */
  const end = async (isRight = true) => {
    if (isRight) turn?.succeed();
    turn?.[Symbol.dispose]();
    await settle();
  };
  return { queue, begun, refused, ask, end };
}

test('lets 200 strangers in before a second guess from any of 50 networks', async () => {
  const { begun, refused, ask, end } = queueOf();
  await ask('first', owner('first'));
  const isOwner = (name: string) => name.startsWith('owner');
  const guess = (index: number) => void ask(`guess ${index}`, owner(`guesser ${index}`));
  for (let index = 0; index < 250; index += 1) guess(index % 50);
  for (let index = 0; index < 100; index += 1) {
    void ask(`owner ${index}`, owner(`home ${index}`));
    void ask(`owner ${100 + index}`, owner('one office'));
  }
  while (begun.filter(isOwner).length < 200) {
    const name = begun.at(-1) ?? '';
    await end(isOwner(name));
    // Each guesser sends its next guess as soon as it has an answer.
    if (name.startsWith('guess')) guess(Number(name.split(' ')[1]));
  }
  assert.equal(begun.length, 1 + 50 + 200);
  assert.deepEqual(refused, []);
});

test('lets everyone in before a network that sends many guesses at once', async () => {
  const { begun, ask, end } = queueOf();
  await ask('first', owner('first'));
  for (let index = 0; index < 500; index += 1) void ask('guess', owner('guesser'));
  for (let index = 0; index < 200; index += 1) void ask('owner', owner(`home ${index}`));
  while (begun.filter((name) => name === 'owner').length < 200) await end(begun.at(-1) !== 'guess');
  assert.equal(begun.filter((name) => name === 'guess').length, 1);
});

test('lets known senders in first', async () => {
  const { begun, ask, end } = queueOf();
  await ask('first', owner('first'));
  void ask('stranger', owner('a'));
  void ask('known', { standing: 'known', network: 'b' });
  await end();
  await end();
  assert.deepEqual(begun, ['first', 'known', 'stranger']);
});

test('forgives a failure after a success from the same network', async () => {
  const { begun, ask, end } = queueOf();
  await ask('typo', owner('home'));
  await end(false);
  await ask('corrected', owner('home'));
  await end();
  await ask('first', owner('first'));
  void ask('home', owner('home'));
  void ask('other', owner('other'));
  await end();
  assert.deepEqual(begun.slice(-1), ['home']);
});

test('when it is full, refuses senders in the network that failed most or has most waiting', async () => {
  const { begun, refused, ask, end } = queueOf({ maxWaiting: 4 });
  await ask('guess', owner('guesser'));
  await end(false);
  await ask('first', owner('first'));
  void ask('guess 1', owner('guesser'));
  for (const name of ['busy 1', 'busy 2', 'busy 3']) void ask(name, owner('busy'));
  void ask('a', owner('a'));
  await settle();
  assert.deepEqual(refused, ['guess 1']);
  void ask('b', owner('b'));
  await settle();
  assert.deepEqual(refused, ['guess 1', 'busy 3']);
  void ask('guess 2', owner('guesser'));
  await settle();
  assert.deepEqual(refused, ['guess 1', 'busy 3', 'guess 2']);
  // Strangers take no places of known senders.
  void ask('known', { standing: 'known', network: 'guesser' });
  for (let ended = 0; ended < 5; ended += 1) await end();
  assert.deepEqual(begun.slice(2), ['known', 'busy 1', 'busy 2', 'a', 'b']);
});

test('refuses after the longest wait', async () => {
  const { begun, refused, ask, end } = queueOf({ maxWaitMilliseconds: 1 });
  await ask('first', owner('first'));
  // The queue's timers do not keep the process alive.
  const alive = setInterval(() => {}, 1000);
  await ask('second', owner('second'));
  clearInterval(alive);
  assert.deepEqual(refused, ['second']);
  await end();
  await ask('third', owner('third'));
  assert.deepEqual(begun, ['first', 'third']);
});

test('computes no more at once than it may, in the order of the turns', async () => {
  const queue = new PasswordQueue({ ...limits, computations: 2, turns: 4 });
  const work = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const done = work.map(async ({ promise }, index) => {
    using turn = await queue.turn(owner('home'));
    await turn.compute(() => {
      begun.push(index);
      return promise;
    });
  });
  await settle();
  assert.deepEqual(begun, [0, 1]);
  work[1]?.resolve();
  await done[1];
  assert.deepEqual(begun, [0, 1, 2]);
  for (const { resolve } of work) resolve();
  await Promise.all(done);
  assert.deepEqual(begun, [0, 1, 2, 3]);
});
