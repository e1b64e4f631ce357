import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { type SecretParts, revokeSecret, rotateSecret } from '../../src/access/secrets.ts';
import { pushSources } from '../../src/push/sources.ts';
import { listPushSources } from '../../src/store/push/sources.ts';
import type { Store } from '../../src/store/open.ts';
import { updateShopTier } from '../../src/store/shops.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { createShop, createTestKey, silentLog } from '../support/world.ts';
import { type PushWorld, createSource, deliver, sealing, signed, startPushWorld } from './world.ts';

const session = {
  type: 'cancellation',
  id: 7001,
  detectedReason: 'too_expensive',
  createdAt: '2026-11-17T10:58:00Z',
};
const text = JSON.stringify(session);

onOneOwnDatabase('requests that are refused', (open) => {
  let store: Store;
  let parts: SecretParts;
  let world: PushWorld;
  before(async () => {
    store = open();
    parts = { sql: store.write, clock: systemClock, log: silentLog };
    world = await startPushWorld(store);
  });
  after(async () => {
    await world.close();
    await store.close();
  });
  const countBatches = async () => {
    const [found] = await store.write<{ count: number }[]>`
      select count(*)::int as count from ingest.batches where shop_id = ${world.shop.id}`;
    return found?.count;
  };
  const send = (headers: Record<string, string>, body = text, sourceId = world.source.sourceId) =>
    fetch(`${world.baseUrl}/ingest/v1/${sourceId}/records`, { method: 'POST', headers, body });

  test('have the same answer whatever is wrong with the signature', async () => {
    const { source, shop } = world;
    const { key } = await createTestKey(store, shop.id);
    const other = await createSource(store, await createShop(store));
    const valid = () => signed(source, text);
    const { 'webhook-signature': signature = '', ...unsigned } = valid();
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const answers = await Promise.all([
      send(signed(other, text)),
      send(signed(source, text, { at: minutesAgo(6) })),
      send(signed(source, text, { at: minutesAgo(-6) })),
      send(valid(), `${text} `),
      send({ authorization: `Bearer ${key}` }),
      send({ ...unsigned, authorization: `Bearer ${key}` }),
      send({ ...unsigned, 'webhook-signature': key }),
      send({ ...valid(), 'webhook-signature': `${signature.slice(0, 10)}` }),
      send(valid(), text, 'src_000000000000000000000000'),
      send(valid(), text, other.sourceId),
      send(valid(), text, 'nothing'),
      send({}),
    ]);
    for (const answer of answers) {
      assert.equal(answer.status, 401);
      assert.equal(await answer.text(), '{"success":false,"message":"Unauthorized"}');
      const names = [...answer.headers.keys()].filter((name) => name !== 'connection');
      assert.deepEqual(names.includes('www-authenticate'), false);
    }
    assert.equal(await countBatches(), 0);
    const url = `${world.baseUrl}/ingest/v1/${source.sourceId}/batches/${randomUUID()}`;
    assert.equal((await fetch(url, { headers: signed(other, '') })).status, 401);
    assert.equal((await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status, 401);
    assert.equal((await fetch(url, { headers: signed(source, '') })).status, 404);
  });

  test('of the API are those with a signing secret as key', async () => {
    const response = await fetch(`${world.baseUrl}/api/external/v1/plans`, {
      headers: { authorization: `Bearer ${world.source.secret}` },
    });
    assert.equal(response.status, 401);
  });

  test('are those with a webhook-id that came with another body', async () => {
    const id = randomUUID();
    const first = await world.push([session], { id });
    const again = await world.push([session], { id, at: new Date(Date.now() - 60_000) });
    assert.deepEqual([first.status, again.status], [202, 202]);
    assert.equal(again.body.batchId, first.body.batchId);
    const { outcomes } = await world.finished(first.body.batchId);
    assert.equal(outcomes['stored'], 1);
    const afterwards = await world.push([session], { id });
    assert.equal(afterwards.body.batchId, first.body.batchId);
    const other = await world.push([{ ...session, id: 7002 }], { id });
    assert.equal(other.status, 400);
    assert.match(other.body.message ?? '', /webhook-id/);
    assert.equal(await countBatches(), 1);
    // Another source's ids are its own.
    const source = await createSource(store, world.shop);
    const elsewhere = await deliver(world.baseUrl, source, [{ ...session, id: 7003 }], { id });
    assert.equal(elsewhere.status, 202);
  });

  test('once at the same time are stored once', async () => {
    const id = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => world.push([{ ...session, id: 7100 }], { id })),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
    assert.equal(new Set(answers.map(({ body }) => body.batchId)).size, 1);
    const { outcomes } = await world.finished(answers[0]?.body.batchId as string);
    assert.equal(outcomes['stored'], 1);
  });

  test('are those that are too large, and those that cannot be read', async () => {
    const many = Array.from({ length: 1001 }, (_, index) => ({ ...session, id: index + 1 }));
    const withLines = { type: 'subscription', lines: Array.from({ length: 250 }, () => ({})) };
    const cases: [status: number, body: string | object[]][] = [
      [413, many],
      [413, 'x\n'.repeat(524_288)],
      [413, Array.from({ length: 401 }, () => withLines)],
      [413, JSON.stringify([{ ...session, filler: 'x'.repeat(1024 * 1024) }])],
      [400, ''],
      [400, '\n \n'],
      [400, '[]'],
      [400, '[{"type":'],
    ];
    const stored = await countBatches();
    for (const [status, body] of cases) {
      const answer = await world.push(body);
      assert.equal(answer.status, status);
      assert.ok((answer.body.message ?? '').length > 10);
    }
    assert.equal(await countBatches(), stored);
    assert.equal((await world.push(many.slice(0, 1000))).status, 202);
  });

  test('are those of shops without API access', async () => {
    const shop = await createShop(store);
    const source = await createSource(store, shop);
    await updateShopTier(store.write, shop.id, 'starter');
    const { status, body } = await deliver(world.baseUrl, source, [session]);
    assert.equal(status, 403);
    assert.equal(body.message, 'Developer API access requires the Growth plan or higher.');
    const target = { shopId: shop.id, id: source.sourceId, actor: { who: 'command line' } };
    const renewal = { sealing, overlapMilliseconds: 0 };
    const locked = await rotateSecret(pushSources, parts, target, renewal);
    assert.deepEqual(locked, { kind: 'locked', tier: 'starter' });
  });

  test('are those with a secret that was replaced or revoked', async () => {
    const { shop } = world;
    const source = await createSource(store, shop);
    const target = { shopId: shop.id, id: source.sourceId, actor: { who: 'command line' } };
    const status = async (secret: string) =>
      (await deliver(world.baseUrl, source, [session], { secret })).status;
    const tryRotating = (overlapMilliseconds: number) =>
      rotateSecret(pushSources, parts, target, { sealing, overlapMilliseconds });
    const rotate = async (overlap: number) => {
      const rotated = await tryRotating(overlap);
      assert.equal(rotated.kind, 'created');
      return 'secret' in rotated ? rotated.secret : '';
    };
    const second = await rotate(60_000);
    assert.deepEqual([await status(source.secret), await status(second)], [202, 202]);
    const third = await rotate(0);
    assert.deepEqual([await status(second), await status(third)], [401, 202]);
    assert.equal(await status(source.secret), 401);
    assert.equal(await revokeSecret(pushSources, parts, target), true);
    assert.equal(await status(third), 401);
    assert.deepEqual(await tryRotating(0), { kind: 'ended' });
    const foreign = { ...target, shopId: shop.id + 1 };
    assert.equal(await revokeSecret(pushSources, parts, foreign), false);
  });

  test('are sent again later if too much is queued of their source, which leaves room for others', async () => {
    const shop = await createShop(store);
    const [source, other] = [await createSource(store, shop), await createSource(store, shop)];
    const queue = (count: number, columns: string) =>
      store.write.script(`
        insert into ingest.batches
          (shop_id, source_id, batch_id, digest, received_at, outcomes, refused, lines, is_waiting)
        select ${shop.id}, '${source.sourceId}', gen_random_uuid(), '', now(), '{}', '[]', ${columns}
        from generate_series(1, ${count})`);
    const statusOf = async (sender: typeof source) =>
      (await deliver(world.baseUrl, sender, [session])).status;
    const empty = () => store.write`delete from ingest.batches where shop_id = ${shop.id}`;
    const full = [
      () => queue(200, `'', false`),
      () => queue(2000, `'', true`),
      () => queue(128, `repeat('x', 1024 * 1024), true`),
    ];
    for (const fill of full) {
      await store.write.begin(async (tx) => {
        // Keeps workers from the shop meanwhile.
        await tx`select lock_shop(${shop.id})`;
        await fill();
        const { status, headers, body } = await deliver(world.baseUrl, source, [session]);
        assert.equal(status, 429);
        assert.equal(headers.get('retry-after'), '5');
        assert.equal(body.message, 'Too much is queued. Retry after 5 seconds.');
        assert.equal(await statusOf(other), 202);
      });
      await empty();
      assert.equal(await statusOf(source), 202);
    }
  });

  test('leave the time of the last batch, whatever order batches finish in', async () => {
    const shop = await createShop(store);
    const { sourceId } = await createSource(store, shop);
    const time = (minute: number) => new Date(`2026-11-17T10:${minute}:00Z`);
    const insert = (received: number, finished: number | undefined) => store.write`
      insert into ingest.batches
        (shop_id, source_id, batch_id, digest, received_at, finished_at, outcomes, refused)
      values (${shop.id}, ${sourceId}, gen_random_uuid(), '', ${time(received)},
        ${finished === undefined ? null : time(finished)}, '{}', '[]')`;
    const last = async () => (await listPushSources(store.write, shop.id, 0))[0]?.lastBatchAt;
    assert.equal(await last(), null);
    await insert(20, 40);
    await insert(30, 31);
    assert.deepEqual(await last(), time(30));
    await insert(35, undefined);
    assert.deepEqual(await last(), time(35));
  });
});
