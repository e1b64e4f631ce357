import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { legacyRequest, post } from './wire.ts';

describe('names of the caller in messages', () => {
  let world: World;
  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  const call = async (params: object) =>
    JSON.parse((await post(world, legacyRequest('tools/call', params))).body);
  const assertRefused = async (name: string, args: object, message: string) => {
    const { result } = await call({ name, arguments: args });
    assert.deepEqual(result, { content: [{ type: 'text', text: message }], isError: true });
  };

  test('are cut after 100 whole characters', async () => {
    for (const [name, shown] of [
      ['x'.repeat(100), 'x'.repeat(100)],
      ['x'.repeat(101), 'x'.repeat(100)],
      ['x'.repeat(200_000), 'x'.repeat(100)],
      ['👩'.repeat(101), '👩'.repeat(100)],
      [`${'x'.repeat(99)}👩y`, `${'x'.repeat(99)}👩`],
      [`y${'👩'.repeat(500)}`, `y${'👩'.repeat(99)}`],
      ['\ud83d'.repeat(101), '\ud83d'.repeat(100)],
    ] as const) {
      assert.equal((await call({ name })).error.message, `Unknown tool: ${shown}`);
      await assertRefused(
        'list_plans',
        { [name]: 1, [`${name}!`]: 1 },
        `Unknown argument: ${shown}, ${shown}. There are no arguments.`,
      );
    }
  });

  test('are ten unknown arguments at most; the others are counted', async () => {
    const invented = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 1]));
    const ten = 'a0, a1, a2, a3, a4, a5, a6, a7, a8, a9';
    for (const [count, shown] of [
      [10, `${ten}.`],
      [11, `${ten}, … and 1 more.`],
      [80_000, `${ten}, … and 79,990 more.`],
    ] as const) {
      await assertRefused(
        'list_plans',
        invented(count),
        `Unknown argument: ${shown} There are no arguments.`,
      );
    }
    await assertRefused(
      'list_subscriptions',
      { limit: 0, cursor: null, ...invented(12), status: 'active' },
      `limit must be an integer from 1 to 100. Unknown argument: ${ten}, … and 2 more. Known are limit, cursor, status.`,
    );
  });
});
