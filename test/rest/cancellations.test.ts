import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
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

onOneDatabase('GET /cancellations', (open) => {
  let world: World;
  let url: string;

  /** A new shop with these sessions, and a function that lists them. */
  const shopWith = async (records: object[]) => {
    const shop = await createShop(world.store);
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    const { key } = await createTestKey(world.store, shop.id);
    const page = async (query: string) => {
      const { status, body } = await get(url + query, key);
      assert.equal(status, 200);
      const ids: number[] = body.cancellations.map((each: { sessionId: number }) => each.sessionId);
      return { ids, nextCursor: body.nextCursor as string | null, body };
    };
    return { shop, page };
  };

  before(async () => {
    world = await startWorld(open());
    url = `${world.base}/cancellations`;
  });
  after(() => world.close());

  // Requirements: rest.cancellations, rest.fields.cancellation.*,
  // rest.cancellations.no-personal-data.
  test('returns the sessions, newest first, without personal data', async () => {
    const { page } = await shopWith([
      plan(),
      subscription(1001),
      session(7001, {
        subscriptionId: 1001,
        detectedReason: 'not_using',
        offerType: 'pause',
        outcome: 'saved',
        createdAt: '2026-11-17T12:58:00.005+02:00',
        email: 'jo@example.com',
        transcript: 'I am Jo',
      }),
      session(7002),
    ]);
    assert.deepEqual((await page('')).body, {
      cancellations: [
        {
          sessionId: 7001,
          detectedReason: 'not_using',
          outcome: 'saved',
          offerType: 'pause',
          createdAt: '2026-11-17T10:58:00.005Z',
        },
        {
          sessionId: 7002,
          detectedReason: 'too_expensive',
          outcome: null,
          offerType: null,
          createdAt: '2026-11-01T00:00:00.000Z',
        },
      ],
      nextCursor: null,
    });
  });

  // Requirements: rest.states.cancellation, rest.cancellations.null-in-progress,
  // rest.cancellations.null-no-offer, rest.cancellations.outcome-filter.
  test('returns every outcome and offer, and filters by outcome', async () => {
    const { page } = await shopWith([
      session(1, { outcome: 'saved', offerType: 'offer_discount' }),
      session(2, { outcome: 'cancelled', offerType: 'pause' }),
      session(3, { outcome: 'abandoned', offerType: 'swap' }),
      session(4, { offerType: 'skip_next' }),
      session(5),
      session(6, { outcome: 'saved' }),
    ]);
    const { body } = await page('');
    assert.deepEqual(
      body.cancellations.map((each: { outcome: string; offerType: string }) => [
        each.outcome,
        each.offerType,
      ]),
      [
        ['saved', null],
        [null, null],
        [null, 'skip_next'],
        ['abandoned', 'swap'],
        ['cancelled', 'pause'],
        ['saved', 'offer_discount'],
      ],
    );
    assert.deepEqual((await page('?outcome=saved')).ids, [6, 1]);
    assert.deepEqual((await page('?outcome=cancelled')).ids, [2]);
    assert.deepEqual((await page('?outcome=abandoned')).ids, [3]);
    const first = await page('?outcome=saved&limit=1');
    assert.deepEqual(first.ids, [6]);
    const second = await page(`?outcome=saved&limit=1&cursor=${first.nextCursor}`);
    assert.deepEqual(second.ids, [1]);
    assert.equal(second.nextCursor, null);
  });

  test('pages without gaps or duplicates while rows are added', async () => {
    const { shop, page } = await shopWith([
      ...[1, 2, 3].map((id) => session(id)),
      session(9, { createdAt: '2026-10-31T23:59:59.999Z' }),
      session(8, { createdAt: '2026-11-01T00:00:00.001Z' }),
    ]);
    const first = await page('?limit=2');
    assert.deepEqual(first.ids, [8, 3]);
    await importAll(world.store, shop, [
      session(4),
      session(5, { createdAt: '2026-11-02T00:00:00Z' }),
    ]);
    const second = await page(`?limit=2&cursor=${first.nextCursor}`);
    assert.deepEqual(second.ids, [2, 1]);
    const third = await page(`?limit=2&cursor=${second.nextCursor}`);
    assert.deepEqual(third.ids, [9]);
    assert.equal(third.nextCursor, null);
  });

  test('returns 50 rows by default and up to 100', async () => {
    const { page } = await shopWith(Array.from({ length: 101 }, (_, index) => session(index + 1)));
    assert.equal((await page('')).ids.length, 50);
    const full = await page('?limit=100');
    assert.equal(full.ids.length, 100);
    const last = await page(`?limit=1&cursor=${full.nextCursor}`);
    assert.deepEqual(last.ids, [1]);
    assert.equal(last.nextCursor, null);
  });

  // Requirements: rest.errors.400-outcome.
  test('refuses an invalid limit, cursor or outcome', async () => {
    for (const [query, message] of [
      ['?limit=0', 'limit must be an integer from 1 to 100.'],
      [
        '?cursor=x',
        'cursor is not valid here. Take it from nextCursor of the previous page of the same listing with the same filter.',
      ],
      ['?outcome=won', 'outcome must be one of saved, cancelled, abandoned.'],
      ['?outcome=null', 'outcome must be one of saved, cancelled, abandoned.'],
    ] as const) {
      const { status, body } = await get(url + query, world.key);
      assert.equal(status, 400);
      assert.deepEqual(body, { success: false, message });
    }
  });

  // Requirements: rest.cancellations.scope.
  test('requires read:metrics; it has no separate scope', async () => {
    const holder = await createTestKey(world.store, world.shop.id, ['read:metrics']);
    assert.equal((await get(url, holder.key)).status, 200);
    const other = await createTestKey(world.store, world.shop.id, [
      'read:entitlements',
      'read:subscriptions',
      'read:plans',
    ]);
    const { status, body } = await get(url, other.key);
    assert.equal(status, 403);
    assert.deepEqual(body, {
      success: false,
      message: 'This API key does not have the required scope: read:metrics.',
    });
  });
});
