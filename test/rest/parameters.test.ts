import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { onOneDatabase } from '../support/databases.ts';
import {
  createShop,
  createTestKey,
  get,
  importAll,
  startWorld,
  type World,
} from '../support/world.ts';
import { plan, session, subscription } from './records.ts';

const invalidNumbers = [
  '',
  '0',
  '00',
  '-1',
  '-0',
  '+5',
  '%2B5',
  '1e1',
  '1E1',
  '0x10',
  '0b1',
  '0o7',
  '5.0',
  '5.',
  '.5',
  '5,0',
  '1_000',
  '%205',
  '5%20',
  '%095',
  '5%0A',
  '5%00',
  '5n',
  'five',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  '[5]',
  '{}',
  '%D9%A5',
  '%EF%BC%95',
  '%zz',
  '%',
];
const cursorMessage =
  'cursor is not valid here. Take it from nextCursor of the previous page of the same listing with the same filter.';

onOneDatabase('parameters', (open) => {
  let world: World;
  const send = (path: string, key = world.key) => get(world.base + path, key);
  const refusal = async (path: string) => {
    const { status, body } = await send(path);
    assert.equal(status, 400, path);
    return body.message;
  };

  /** The number of subscriptions for this spelling of a customer id. */
  const count = async (text: string) => {
    const { status, body } = await send(`/entitlements?customerId=${text}`);
    assert.equal(status, 200, text);
    return body.subscriptions.length;
  };
  const cursorOf = async (path: string, key?: string): Promise<string> => {
    const { body } = await send(path, key);
    assert.equal(typeof body.nextCursor, 'string');
    return body.nextCursor;
  };

  before(async () => {
    world = await startWorld(open());
    const { refused } = await importAll(world.store, world.shop, [
      plan(),
      ...[1, 2, 3].map((id) => subscription(id)),
      subscription(4, { customerId: 9007199254740991, status: 'paused' }),
      ...[1, 2, 3].map((id) => session(id, { outcome: 'saved' })),
    ]);
    assert.deepEqual(refused, []);
  });
  after(() => world.close());

  test('accepts only decimal digits as customerId', async () => {
    const message = 'customerId must be a positive integer.';
    for (const text of invalidNumbers) {
      assert.equal(await refusal(`/entitlements?customerId=${text}`), message);
    }
    for (const query of [
      '',
      '?',
      '?customerId',
      '?customerid=501',
      '?customerId=501&customerId=501',
      '?customerId=501&customerId=',
      '?customerId[]=501',
      '?customerId[0]=501',
      '?customerId=501;customerId=501',
    ]) {
      assert.equal(await refusal(`/entitlements${query}`), message);
    }
  });

  test('accepts leading zeros and any size of customerId', async () => {
    assert.equal(await count('501'), 3);
    assert.equal(await count('%35%30%31'), 3);
    assert.equal(await count('000501'), 3);
    assert.equal(await count(`${'0'.repeat(400)}501`), 3);
    assert.equal(await count('9007199254740991'), 1);
    // 2^53 and 2^53 + 1 are the same floating-point number; neither may match the other.
    assert.equal(await count('9007199254740992'), 0);
    assert.equal(await count('9007199254740993'), 0);
    assert.equal(await count('9223372036854775807'), 0);
    assert.equal(await count('9223372036854775808'), 0);
    assert.equal(await count('9'.repeat(400)), 0);
  });

  test('accepts only decimal digits from 1 to 100 as limit', async () => {
    const message = 'limit must be an integer from 1 to 100.';
    for (const text of [...invalidNumbers, '101', '1000', '9007199254740993', '9'.repeat(400)]) {
      assert.equal(await refusal(`/subscriptions?limit=${text}`), message);
      assert.equal(await refusal(`/cancellations?limit=${text}`), message);
    }
    assert.equal(await refusal('/subscriptions?limit=2&limit=2'), message);
    for (const [text, length] of [
      ['1', 1],
      ['2', 2],
      ['002', 2],
      ['100', 4],
      ['0100', 4],
    ] as const) {
      assert.equal((await send(`/subscriptions?limit=${text}`)).body.subscriptions.length, length);
    }
  });

  test('accepts only the exact values of status and outcome', async () => {
    const invalid = ['', 'ACTIVE', 'Saved', '%20active', 'active%20', 'saved,cancelled', 'null'];
    const prototypes = ['constructor', '__proto__', 'toString', 'hasOwnProperty', '0', 'length'];
    for (const text of [...invalid, ...prototypes]) {
      assert.equal(
        await refusal(`/subscriptions?status=${text}`),
        'status must be one of active, paused, cancelled, expired, failed.',
      );
      assert.equal(
        await refusal(`/cancellations?outcome=${text}`),
        'outcome must be one of saved, cancelled, abandoned.',
      );
    }
    await refusal('/subscriptions?status=active&status=active');
    await refusal('/subscriptions?status=saved');
    await refusal('/cancellations?outcome=active');
    await refusal('/cancellations?outcome=saved&outcome=saved');
  });

  test('ignores unknown parameters', async () => {
    const unknown = [
      'foo=1&foo=2',
      '__proto__=1',
      '__proto__[limit]=0',
      'constructor=1',
      'constructor.prototype.limit=0',
      'hasOwnProperty=1',
      'shopId=1',
      'shop_id=1',
      'subscriptionId=999',
      'id=999',
      'Limit=0',
      '=',
      '&&&',
      '%zz=%zz',
      '%00=1',
    ];
    for (const query of [...unknown, 'limit=0&cursor=x&status=x&outcome=x']) {
      assert.equal(
        (await send(`/entitlements?customerId=501&${query}`)).body.subscriptions.length,
        3,
      );
      assert.equal((await send(`/plans?${query}`)).body.plans.length, 1);
      assert.equal((await send(`/subscriptions/1?${query}`)).body.subscription.subscriptionId, 1);
      assert.equal((await send(`/metrics/summary?${query}`)).body.summary.activeSubscribers, 1);
    }
    for (const query of unknown) {
      assert.equal((await send(`/subscriptions?outcome=x&${query}`)).body.subscriptions.length, 4);
      assert.equal((await send(`/cancellations?status=x&${query}`)).body.cancellations.length, 3);
    }
  });

  describe('cursors', () => {
    test('work with any limit, and repeatedly', async () => {
      const cursor = await cursorOf('/subscriptions?limit=1');
      for (const limit of ['1', '2', '2', '100']) {
        const { body } = await send(`/subscriptions?limit=${limit}&cursor=${cursor}`);
        assert.equal(body.subscriptions[0].subscriptionId, 3);
      }
    });

    test('work only with their own listing and filter', async () => {
      const all = await cursorOf('/subscriptions?limit=1');
      const active = await cursorOf('/subscriptions?limit=1&status=active');
      const sessions = await cursorOf('/cancellations?limit=1');
      const saved = await cursorOf('/cancellations?limit=1&outcome=saved');
      for (const path of [
        `/subscriptions?cursor=${active}`,
        `/subscriptions?cursor=${sessions}`,
        `/subscriptions?status=active&cursor=${all}`,
        `/subscriptions?status=paused&cursor=${active}`,
        `/cancellations?cursor=${all}`,
        `/cancellations?cursor=${saved}`,
        `/cancellations?outcome=saved&cursor=${sessions}`,
        `/cancellations?outcome=cancelled&cursor=${saved}`,
      ]) {
        assert.equal(await refusal(path), cursorMessage);
      }
    });

    test('work only in their own shop', async () => {
      const other = await createShop(world.store);
      await importAll(world.store, other, [plan(), subscription(1), subscription(2)]);
      const { key } = await createTestKey(world.store, other.id);
      const foreign = await cursorOf('/subscriptions?limit=1', key);
      assert.equal(await refusal(`/subscriptions?cursor=${foreign}`), cursorMessage);
    });

    test('are refused if they are changed in any way', async () => {
      const cursor = await cursorOf('/subscriptions?limit=1');
      assert.match(cursor, /^[A-Za-z0-9_-]+$/);
      const changed = [...cursor].flatMap((character, index) =>
        ['A', 'B', '_', '%2B', '%3D']
          .filter((each) => each !== character)
          .map((each) => cursor.slice(0, index) + each + cursor.slice(index + 1)),
      );
      const variants = [
        '',
        '%20',
        'null',
        'e30',
        '0',
        'A',
        'A'.repeat(30),
        'A'.repeat(4000),
        `${cursor}%3D`,
        `${cursor}%3D%3D`,
        `${cursor}A`,
        `${cursor}%20`,
        `%20${cursor}`,
        `${cursor}%0A`,
        `${cursor}%00`,
        `${cursor}.`,
        cursor.slice(0, -1),
        cursor.slice(1),
        cursor.toLowerCase(),
        `${cursor}&cursor=${cursor}`,
        `${cursor}&cursor=`,
      ];
      for (const text of [...changed, ...variants]) {
        assert.equal(await refusal(`/subscriptions?cursor=${text}`), cursorMessage);
      }
    });
  });
});
