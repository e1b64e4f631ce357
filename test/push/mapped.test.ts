import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { entriesOf, findMapping, mapDocuments } from '../../src/push/mappings.ts';
import { timelessSchemes } from '../../src/push/signature.ts';
import { createSecret, revokeSecret } from '../../src/access/secrets.ts';
import { pushSources } from '../../src/push/sources.ts';
import { startPush } from '../../src/push/routes.ts';
import { Turns } from '../../src/push/body.ts';
import { createShell } from '../../src/http/shell.ts';
import { recordSchema } from '../../src/records/records.ts';
import { deriveId } from '../../src/ingest/source-ids.ts';
import { parseMapping, readMapping } from '../../src/mapping/read.ts';
import { JobQueue } from '../../src/platforms/webhooks/queue.ts';
import { deleteOldBatches } from '../../src/store/push/batches.ts';
import type { Store } from '../../src/store/open.ts';
import { root } from '../cli/process.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { createShop, silentLog } from '../support/world.ts';
import { type BatchAnswer, createSource, finished, push, sealing } from './world.ts';

const none = { stored: 0, replaced: 0, unchanged: 0, stale: 0, deleted: 0, refused: 0 };
const mapping = parseMapping(
  'mapping.json',
  JSON.stringify({
    input: { format: 'json', list: 'data.sessions' },
    formats: { ids: 'text' },
    records: [
      {
        type: 'cancellation',
        when: { mode: { is: ['LIVE'] } },
        fields: {
          id: 'id',
          detectedReason: { column: 'reason', table: { Price: 'too_expensive' } },
          createdAt: 'at',
        },
      },
    ],
  }),
);

test('documents are mapped, and reasons quote no values', async () => {
  const live = {
    mode: 'LIVE',
    id: 'a',
    reason: 'Price',
    at: '2026-11-17T10:58:00Z',
    email: 'planted',
  };
  const documents = [
    {
      number: 1,
      value: { data: { sessions: [live, { ...live, mode: 'TEST' }] }, name: 'planted' },
    },
    { number: 2, value: { ...live, id: 'b' } },
    { number: 3, value: { ...live, id: 'c', reason: 'planted " must' } },
    { number: 4, value: { ...live, id: 'd', at: 'planted' } },
    { number: 5, value: { data: { sessions: ['planted'] } } },
  ];
  const shop = { id: 1, currency: 'USD', minorDigits: 2 };
  const schema = recordSchema(2, systemClock, true);
  const entries = entriesOf({ rows: documents, refused: [] }, mapping);
  assert.ok('rows' in entries);
  assert.deepEqual(entries.refused, [
    { line: 5, reason: 'data.sessions has an entry that is not an object' },
  ]);
  const { lines, refused } = await mapDocuments(entries.rows, mapping, {
    shop,
    customerKey: '',
    clock: systemClock,
    schema,
    turns: new Turns(systemClock),
  });
  assert.deepEqual(
    lines.map(({ number, text }) => [number, JSON.parse(text).id]),
    [
      [1, deriveId('cancellation', 'a')],
      [2, deriveId('cancellation', 'b')],
    ],
  );
  assert.deepEqual(
    refused.map(({ line }) => line),
    [3, 4],
  );
  assert.equal(refused[0]?.reason, 'column reason: its value is not in its table, which has Price');
  assert.doesNotMatch(JSON.stringify({ lines, refused }), /planted/);
});

test('warnings quote no values either', async () => {
  const priced = parseMapping(
    'mapping.json',
    JSON.stringify({
      input: { format: 'json' },
      formats: { ids: 'text' },
      records: [
        {
          type: 'subscription',
          currency: 'currency',
          fields: {
            id: 'id',
            customerId: 'id',
            planId: 'id',
            status: { value: 'active' },
            createdAt: 'at',
          },
          lines: {
            fields: {
              productId: 'id',
              productTitle: 'id',
              variantId: 'id',
              quantity: { value: 1 },
              currentPrice: { value: '5' },
            },
          },
        },
      ],
    }),
  );
  const value = { id: 'a', at: '2026-11-17T10:58:00Z', currency: 'planted' };
  const { warnings, refused } = await mapDocuments([{ number: 1, value }], priced, {
    shop: { id: 1, currency: 'USD', minorDigits: 2 },
    customerKey: '',
    clock: systemClock,
    schema: recordSchema(2, systemClock, true),
    turns: new Turns(systemClock),
  });
  assert.deepEqual(refused, []);
  const reason =
    "column currency: its value is not the shop's currency, USD; the subscription is priced at 0";
  assert.deepEqual(warnings, [{ line: 1, reason }]);
});

test('a document that is nested too deeply to be written as text gets no id from it', async () => {
  const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  // A key of that name has the text made in another way, which needs the stack.
  const churnkey = await findMapping('churnkey-webhooks');
  assert.ok(churnkey);
  const value = { event: 'session', data: { session: { result: 'abort', toJSON: 1, deep } } };
  const { refused } = await mapDocuments([{ number: 1, value }], churnkey, {
    shop: { id: 1, currency: 'USD', minorDigits: 2 },
    customerKey: '',
    clock: systemClock,
    schema: recordSchema(2, systemClock, true),
    turns: new Turns(systemClock),
  });
  const reason = 'the row is nested too deeply to derive an id from it';
  assert.deepEqual(refused, [{ line: 1, reason }]);
});

test('every mapping of JSON that comes with the service is found by its name', async () => {
  const folder = path.join(root, 'mappings');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const { input } = await readMapping(path.join(folder, file));
    const found = await findMapping(file.replace('.json', ''));
    assert.equal(found !== undefined, input.format !== 'csv', file);
  }
  for (const name of ['', '../package', 'unknown', 'Churnkey', 'a/b']) {
    assert.equal(await findMapping(name), undefined);
  }
});

onOneOwnDatabase('mapped webhooks', (open) => {
  const secret = 'made-up-for-tests';
  let store: Store;
  let queue: JobQueue;
  let app: ReturnType<typeof createShell>;
  let baseUrl = '';
  let offset = 0;
  const clock: Clock = { ...systemClock, now: () => Date.now() + offset };
  before(async () => {
    store = open();
    queue = new JobQueue(store.jobs, silentLog);
    const { routes } = startPush({
      store,
      clock,
      log: silentLog,
      sealing,
      queue,
      findMapping: async (name) =>
        name === 'chargebee-retention-webhooks' || name === 'test-webhooks'
          ? mapping
          : findMapping(name),
    });
    await queue.open();
    app = createShell({ log: silentLog, routes, unrouted: (_path, answer) => answer });
    baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    await app.close();
    await queue.close();
    await store.close();
  });

  const vendors = {
    churnkey: { header: 'ck-signature', algorithm: 'sha256' },
    'chargebee-retention': { header: 'x-hub-signature', algorithm: 'sha1' },
  } as const;

  async function createVendor(scheme: keyof typeof vendors = 'churnkey') {
    const { header, algorithm } = vendors[scheme];
    const shop = await createShop(store);
    const parts = { sql: store.write, clock: systemClock, log: silentLog };
    const source = { sourceId: pushSources.newId() };
    const target = { shopId: shop.id, id: source.sourceId, actor: { who: 'command line' } };
    const vendor = { name: 'Test', scheme, given: secret, sealing };
    assert.equal((await createSecret(pushSources, parts, target, vendor)).kind, 'created');
    const sign = (body: string) => createHmac(algorithm, secret).update(body).digest('hex');
    const call = async (to: string, body?: string, signature = sign(body ?? '')) => {
      const response = await fetch(`${baseUrl}/ingest/v1/${source.sourceId}/${to}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { [header]: signature },
        ...(body !== undefined && { body }),
      });
      return { status: response.status, body: (await response.json()) as BatchAnswer };
    };
    const finish = async (to: string, body: string) => {
      const { status, body: accepted } = await call(to, body);
      assert.equal(status, 202);
      const read = () => call(`batches/${accepted.batchId}`);
      return (await until(read, (answer) => answer.body.status === 'done')).body;
    };
    const listSessions = async () => {
      const found = await store.write<{ at: Date }[]>`
        select created_at as at from cancellation_sessions where shop_id = ${shop.id}`;
      return found.map(({ at }) => at);
    };
    return { call, finish, listSessions, shop, sourceId: source.sourceId };
  }
  const session = { mode: 'LIVE', id: 'a', reason: 'Price', at: '2026-11-17T10:58:00Z' };

  test('are stored once for each body, signed as their vendor does', async () => {
    const { finish, listSessions } = await createVendor('chargebee-retention');
    const to = 'mapped/chargebee-retention-webhooks';
    const body = JSON.stringify({ data: { sessions: [session, { ...session, mode: 'TEST' }] } });
    const [first, again] = [await finish(to, body), await finish(to, body)];
    assert.equal(first.batchId, again.batchId);
    assert.deepEqual(first.outcomes, { ...none, stored: 1 });
    assert.equal((await listSessions()).length, 1);
    await finish(to, JSON.stringify({ ...session, id: 'b' }));
    assert.equal((await listSessions()).length, 2);
  });

  test('that name no time keep that of the first message, however they are sent again', async (t) => {
    const { finish, listSessions } = await createVendor();
    const to = 'mapped/churnkey-webhooks';
    const message = { event: 'session', data: { session: { result: 'abort', mode: 'LIVE' } } };
    const first = await finish(to, JSON.stringify(message));
    assert.deepEqual(first.outcomes, { ...none, stored: 1 });
    const stored = await listSessions();
    offset = 31 * 86_400_000;
    t.after(() => (offset = 0));
    const inArray = await finish(to, JSON.stringify([message]));
    assert.deepEqual(inArray.outcomes, { ...none, unchanged: 1 });
    assert.deepEqual(await listSessions(), stored);
  });

  test('that name no time are known for as long as their source may send', async (t) => {
    const { call, finish, shop, sourceId } = await createVendor();
    const to = 'mapped/churnkey-webhooks';
    const messageOf = (result: string) =>
      JSON.stringify({ event: 'session', data: { session: { _id: 'ses_1', result } } });
    const first = await finish(to, messageOf('abort'));
    await finish(to, messageOf('cancel'));
    offset = 400 * 86_400_000;
    t.after(() => (offset = 0));
    // Its job would delete what is old.
    const other = { event: 'session', data: { session: { _id: 'ses_2', result: 'abort' } } };
    await finish(to, JSON.stringify(other));
    // Somebody has copied the first message.
    const replayed = await finish(to, messageOf('abort'));
    assert.equal(replayed.batchId, first.batchId);
    const outcomes = await store.write<{ outcome: string }[]>`
      select outcome from cancellation_sessions where shop_id = ${shop.id} order by outcome`;
    assert.deepEqual(
      outcomes.map((each) => each.outcome),
      ['abandoned', 'cancelled'],
    );
    // A revoked source can send nothing, so nothing need be known of it.
    const parts = { sql: store.write, clock, log: silentLog };
    const target = { shopId: shop.id, id: sourceId, actor: { who: 'command line' } };
    await revokeSecret(pushSources, parts, target);
    await deleteOldBatches(
      store.write,
      { shopId: shop.id, sourceId },
      new Date(clock.now() + 60_000),
      timelessSchemes,
    );
    assert.equal(
      (await store.write`select from ingest.batches where shop_id = ${shop.id}`).length,
      0,
    );
    assert.equal((await call(to, messageOf('abort'))).status, 401);
  });

  test('of Churnkey without a session are refused', async () => {
    const { finish, listSessions } = await createVendor();
    const without = [{ event: 'session' }, { event: 'session', data: { session: { _id: ' ' } } }];
    const batch = await finish('mapped/churnkey-webhooks', JSON.stringify(without));
    const reason = 'column data.session._id is empty';
    assert.deepEqual(batch.refused, [
      { line: 1, reason },
      { line: 2, reason },
    ]);
    assert.deepEqual(await listSessions(), []);
  });

  test('are refused with another signature, for an unknown mapping, or as records', async () => {
    const { call } = await createVendor('chargebee-retention');
    const body = JSON.stringify(session);
    const to = 'mapped/chargebee-retention-webhooks';
    assert.equal((await call(to, body, '00')).status, 401);
    assert.equal((await call(to, body, '')).status, 401);
    assert.equal((await call('mapped/unknown', body, '00')).status, 401);
    assert.equal((await call(to, 'not JSON [')).status, 202);
    // A copied message must not become something else.
    for (const other of ['records', 'mapped/churnkey-webhooks', 'mapped/unknown']) {
      const refused = await call(other, body);
      assert.deepEqual(
        [refused.status, (refused.body as unknown as { message: string }).message],
        [
          400,
          "This source sends a vendor's webhooks; send them to mapped/chargebee-retention-webhooks.",
        ],
      );
    }
    const sessions = Array.from({ length: 1001 }, () => 0);
    const many = JSON.stringify({ data: { sessions } });
    assert.equal((await call(to, many)).status, 413);
  });

  test('with very many lines are refused as a whole, and those with too many by themselves', async () => {
    const source = await createSource(store, await createShop(store));
    const event = (items: number) =>
      JSON.stringify({
        type: 'customer.subscription.updated',
        data: {
          object: {
            id: 'sub_1',
            status: 'active',
            items: { data: Array.from({ length: items }, () => ({})) },
          },
        },
      });
    const send = (items: number) =>
      push(baseUrl, source, event(items), { path: 'mapped/stripe-webhooks' });
    const refused = await send(300_000);
    assert.equal(refused.status, 413);
    assert.match(refused.body.message ?? '', /send at most 100000 in one request/);
    for (const [items, reason] of [
      [10_001, /column data\.object\.items\.data must have at most 10000 entries/],
      [251, /lines must have at most 250 entries/],
    ] as const) {
      const accepted = await send(items);
      assert.equal(accepted.status, 202);
      const batch = await finished(baseUrl, source, accepted.body.batchId);
      assert.match(JSON.stringify(batch.refused), reason);
    }
  });

  test('may be signed by Standard Webhooks', async () => {
    const source = await createSource(store, await createShop(store));
    const body = JSON.stringify(session);
    const sent = await push(baseUrl, source, body, { path: 'mapped/test-webhooks', id: 'msg_1' });
    assert.equal(sent.status, 202);
    const unknown = await push(baseUrl, source, body, { path: 'mapped/unknown' });
    assert.equal(unknown.status, 404);
    const batch = await finished(baseUrl, source, sent.body.batchId);
    assert.deepEqual(batch.outcomes, { ...none, stored: 1 });
    // The same body means something else without the mapping.
    assert.equal((await push(baseUrl, source, body, { id: 'msg_1' })).status, 400);
  });
});
