import { newKeyId } from '../../src/access/create-key.ts';
import { FixedClock } from '../../src/clock.ts';
import { rotateKey } from '../../src/owner/keys.ts';
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateShop } from '../../src/demo/generate.ts';
import { listSubscriptionsOfSessions } from '../../src/store/cancellations.ts';
import { deletions } from '../../src/store/deletions.ts';
import { listAllOfCustomer, redactCustomer } from '../../src/store/customers.ts';
import { listKeyRequests } from '../../src/store/key-requests.ts';
import { listKeys, revokeKey, revokeKeysOfShop } from '../../src/store/keys.ts';
import { listFeedLags, listFeeds } from '../../src/store/feeds.ts';
import { findLedgerDifferences, rebuildMetrics } from '../../src/store/metrics-check.ts';
import { findFirstDay, hasFewChanges, listDays } from '../../src/store/metrics-history.ts';
import { listOutcomesByReason } from '../../src/store/metrics-reasons.ts';
import { listRenewals } from '../../src/store/metrics-renewals.ts';
import { summarisePlainly } from '../../src/store/metrics-plain.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { deleteShop } from '../../src/store/shop-deletion.ts';
import {
  advanceWatermark,
  beginShopifySync,
  completeShopifySync,
  findShopifySync,
  forgetOperations,
  hasForeignRecords,
  listStoredPlans,
  listSubscriptionIds,
  updateOperation,
} from '../../src/store/shopify-syncs.ts';
import { findShop, listShops, updateShopTier } from '../../src/store/shops.ts';
import { findCourse } from '../../src/store/subscription-course.ts';
import { listIntervals, listSubscriptionsOfCustomer } from '../../src/store/subscriptions.ts';
import { root } from '../cli/process.ts';
import { type PlanNode, scansAcrossShops } from './plan-nodes.ts';
import { type PostgresServer, findPostgresPrograms, startPostgres } from '../support/postgres.ts';
import {
  createShop,
  createTestKey,
  get,
  importAll,
  now,
  startTestService,
} from '../support/world.ts';

/** A statement that the server ran, whoever sent it: the service, a trigger, or a foreign key. */
interface Statement {
  readonly 'Query Text': string;
  readonly Plan: PlanNode;
}

/**
 * What may look beyond one shop:
 * - the look-up that finds the shop of a key, by the key's hash;
 * - the ledger's sums that have become nothing, by the addresses of rows of that shop that the
 *   statement before has just written;
 * - how old each feed is where it is oldest, for those who run the service: no page and no answer
 *   shows it;
 * - the accounts of a shop's owners, who may have other shops: they are apart from the shops' data.
 */
const acrossShops = [
  /where hash = decode\(/,
  /^delete from metric_ledger where ctid = any \(empty_rows\)$/,
  /from feeds group by feed/,
  /delete from owners\.accounts/,
];

const skip = findPostgresPrograms() === undefined && 'PostgreSQL could not be had on this machine';
const endAt = Date.parse(now);
const later = '2026-11-20T11:59:00.000Z';

/** The server's own plan of everything that it runs, those within functions among them. */
const settings = [
  'fsync=off',
  'shared_preload_libraries=auto_explain',
  'auto_explain.log_format=json',
  'auto_explain.log_nested_statements=on',
  'logging_collector=on',
  'log_line_prefix=#',
  'log_rotation_size=0',
  'track_functions=all',
];

describe('statements that stay within a shop', { skip, timeout: 120_000 }, () => {
  let server: PostgresServer;
  let watched: Store;
  let observer: Store;
  let statements: Statement[];

  before(async () => {
    const started = await startPostgres(settings);
    assert.ok(started);
    server = started;
    observer = open(server.url);
    await migrate(observer.write);
    watched = open(`${server.url}?auto_explain.log_min_duration=0`);
    await useEverything(watched);
    await watched.close();
    await untilGone(observer);
    statements = await readStatements(observer);
  });
  after(async () => {
    await observer.close();
    await server.destroy();
  });

  test('every statement that the source has was run', () => {
    const texts = statements.map((each) => each['Query Text']);
    const missing = listTemplates().filter(
      ({ pieces }) => !texts.some((text) => pieces.every((piece) => text.includes(piece))),
    );
    assert.deepEqual(missing, []);
  });

  test('every function of the schema was called, but for those after emptying a table', async () => {
    const idle = await observer.write`
      select proname as name from pg_proc p
      join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
      left join pg_stat_user_functions s on s.funcid = p.oid
      where p.pronamespace = 'public'::regnamespace and s.calls is null`;
    assert.deepEqual([...idle], [{ name: 'rebuild_all_metrics' }]);
  });

  test('each reads the tables of a shop by the shop, or joined to it by the shop', () => {
    const found = statements
      .map((each) => ({ text: each['Query Text'].trim(), scans: scansAcrossShops(each.Plan) }))
      .filter(({ scans }) => scans.length > 0);
    const [known, others] = [
      found.filter(({ text }) => acrossShops.some((pattern) => pattern.test(text))),
      found.filter(({ text }) => !acrossShops.some((pattern) => pattern.test(text))),
    ];
    assert.deepEqual(others, []);
    // An exception that is none any more must go.
    for (const pattern of acrossShops)
      assert.ok(
        known.some(({ text }) => pattern.test(text)),
        String(pattern),
      );
  });
});

function open(url: string): Store {
  return { ...connectAll(url), failed: new Promise(() => {}) };
}

/** All that is ever done with a shop: import, correct and delete, every question, every command. */
async function useEverything(store: Store): Promise<void> {
  const other = await createShop(store);
  const shop = await createShop(store);
  const records = [
    ...generateShop({ subscriptions: 60, seed: 3, endAt, currency: 'USD', minorDigits: 2 }),
  ];
  await importAll(store, other, records.slice(0, 100));
  assert.ok(Object.keys((await importAll(store, shop, records)).counts).length === 5);

  const first = (type: string) => records.find((record) => record.type === type) as object;
  const corrections = [
    { ...first('plan'), intervalUnit: 'week', intervalCount: 3, updatedAt: later },
    { ...first('subscription'), customerId: 77, updatedAt: later },
    { ...first('payment'), amount: '1.00', status: 'succeeded', updatedAt: later },
    { ...first('refund'), amount: '0.50', updatedAt: later },
    { ...first('cancellation'), outcome: 'abandoned', updatedAt: later },
  ];
  const { refused } = await importAll(store, shop, corrections);
  assert.deepEqual(refused, []);
  const kept = { ...first('subscription'), statusEvents: [], updatedAt: now, keeps: 'history' };
  assert.deepEqual((await importAll(store, shop, [kept], true)).refused, []);

  const { id: keyId, key } = await createTestKey(store, shop.id);
  const service = await startTestService(store);
  const base = `${service.baseUrl}/api/external/v1`;
  const ask = async (question: string) => {
    const { status, body } = await get(`${base}/${question}`, key);
    assert.equal(status, 200, question);
    return body;
  };
  for (const list of [
    'subscriptions',
    'subscriptions?status=active',
    'cancellations?outcome=saved',
  ]) {
    await ask(list);
  }
  const { nextCursor } = await ask('cancellations?limit=1');
  await ask(`cancellations?limit=1&cursor=${nextCursor}`);
  await ask('subscriptions/1001');
  await ask('entitlements?customerId=77');
  await ask('metrics/summary');
  await ask('plans');
  await service.close();

  await listKeys(store.write, shop.id);
  await listKeyRequests(store.write, shop.id, 0);
  await rotateKey(store.write, new FixedClock(now), shop.id, 'command line', {
    keyId,
    newId: newKeyId(),
    newExpiresAt: null,
    overlapMilliseconds: 3_600_000,
  });
  await revokeKey(store.write, shop.id, keyId, new Date(now));
  await findShop(store.write, shop.id);
  const { read } = store.primary;
  const page = { status: undefined, after: undefined, limit: 51 };
  await listSubscriptionsOfCustomer(read, shop.id, 77, page);
  await listIntervals(read, shop.id, [1001]);
  await listSubscriptionsOfSessions(read, shop.id, [50001]);
  await findCourse(read, shop.id, 1001, endAt);
  await listShops(store.write);
  await updateShopTier(store.write, shop.id, 'pro');
  await listDays(store.write, shop.id, 30, endAt);
  await listFeeds(store.write, shop.id);
  await useShopifySync(store, shop.id);
  await listFeedLags(store.write);
  await findFirstDay(store.write, shop.id);
  await hasFewChanges(store.write, shop.id, endAt - 30 * 86_400_000, 100);
  await listRenewals(store.write, shop.id, 30, endAt);
  await listOutcomesByReason(store.write, shop.id, endAt - 30 * 86_400_000, endAt);
  await summarisePlainly(store.write, shop.id, endAt);
  await rebuildMetrics(store.write, shop.id);
  // The one thing that is never done: changed events are deleted and written again.
  await store.write`update status_events set position = position where shop_id = ${shop.id}`;
  assert.equal((await findLedgerDifferences(store.write, shop.id)).length, 0);

  await store.write.begin((tx) => redactCustomer(tx, shop.id, 77));
  await listAllOfCustomer(store.write, shop.id, 77);
  await store.write.begin((tx) => revokeKeysOfShop(tx, shop.id, new Date(now)));
  // All of it, so that sums become nothing.
  const gone = ['refund', 'cancellation', 'payment', 'subscription', 'plan'].flatMap((type) =>
    records
      .filter((record) => record.type === type)
      .map((record) => ({ type: 'delete', record: type, id: record.id })),
  );
  assert.deepEqual(Object.keys(deletions).length, 5);
  assert.deepEqual((await importAll(store, shop, gone)).refused, []);
  await importAll(store, shop, records);
  await deleteShop(store.write, shop.id);
}

/** What is kept of a shop that belongs to Shopify, and asked of its records. */
async function useShopifySync({ write }: Store, shopId: number): Promise<void> {
  const at = new Date(now);
  await beginShopifySync(write, shopId, 'sample-shop.myshopify.com');
  await updateOperation(write, shopId, 'plans', 'gid://shopify/BulkOperation/1', at);
  await forgetOperations(write, shopId);
  await advanceWatermark(write, shopId, at);
  await completeShopifySync(write, shopId, { watermark: at, reconciledAt: at });
  assert.deepEqual((await findShopifySync(write, shopId))?.watermark, at);
  assert.equal(await hasForeignRecords(write, shopId), true);
  const ids = await listSubscriptionIds(write, shopId, { after: 0, createdBefore: at, limit: 5 });
  assert.equal(ids.length, 5);
  assert.notEqual((await listStoredPlans(write, shopId)).length, 0);
}

/** What a connection counted is seen once it has ended. */
async function untilGone({ write }: Store): Promise<void> {
  for (;;) {
    const [others] = await write<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`;
    if (others?.count === 0) return;
    await sleep(50);
  }
}

async function readStatements({ write }: Store): Promise<Statement[]> {
  // The log is written by another process; what is logged now stands behind all that matters.
  const end = 'all has been said';
  await write.unsafe(`do $$ begin raise log '${end}'; end $$`);
  for (;;) {
    const [log] = await write<{ text: string }[]>`
      select pg_read_file(pg_current_logfile()) as text`;
    const text = log?.text ?? '';
    if (text.includes(`LOG:  ${end}`)) return parseLog(text);
    await sleep(50);
  }
}

function parseLog(log: string): Statement[] {
  return log
    .split(/^#/m)
    .filter((entry) => /^LOG: {2}duration: .* plan:\n/.test(entry))
    .map((entry) => JSON.parse(entry.slice(entry.indexOf('\n'))));
}

/**
 * The fixed parts of every statement that the store and the import send, but for those about owners,
 * Shopify's shops and jobs, whose tables are apart from the shops' data.
 */
function listTemplates() {
  return globSync(['src/store/*.ts', 'src/ingest/*.ts'], { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && file !== 'src/store/migrate.ts')
    .flatMap((file) => {
      const source = readFileSync(path.join(root, file), 'utf8');
      const templates = source.matchAll(/\b(?:sql|tx)(?:<[^`]*?>)?`([^`]*)`/g);
      return [...templates]
        .filter(([, text = '']) => !/[\s']owners\.|[\s']shopify\.|[\s']jobs\./.test(text))
        .map(([, text = '']) => ({
          file,
          pieces: text.split(/\$\{[^}]*\}/).filter((piece) => piece.trim() !== ''),
        }));
    });
}
