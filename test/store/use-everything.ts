import assert from 'node:assert/strict';
import { findRecord, listHomes } from '../../src/platforms/source-ids.ts';
import { FixedClock } from '../../src/clock.ts';
import { apiKeys } from '../../src/access/keys/keys.ts';
import { rotateSecret } from '../../src/access/secrets.ts';
import { generateShop } from '../../src/demo/generate.ts';
import { Snapshot } from '../../src/ingest/snapshot.ts';
import { listSubscriptionsOfSessions } from '../../src/store/records/cancellations.ts';
import { deletions } from '../../src/store/records/deletions.ts';
import { Entitlements } from '../../src/store/records/entitlements.ts';
import { listAllOfCustomer, redactCustomer } from '../../src/store/records/customers.ts';
import { ensureCustomerKey, replaceCustomerKey } from '../../src/store/records/customer-keys.ts';
import { listPaidAhead, listTakenBack } from '../../src/store/records/refunded.ts';
import { listSourceIdsOfCustomer } from '../../src/store/records/source-ids.ts';
import { findReplication } from '../../src/store/failover.ts';
import {
  listAnsweredRequests,
  listKeyRequests,
  deleteOldBatches,
  deleteOldCounts,
  listLoggedRequests,
} from '../../src/store/keys/requests.ts';
import {
  listKeys,
  listRevokedKeys,
  updateKeyNetworks,
  findKeyGeneration,
  updateRevokedKey,
  updateRevokedKeysOfShop,
} from '../../src/store/keys/keys.ts';
import { useAudit } from './use-audit.ts';
import { useInsights } from './use-insights.ts';
import { useRecovery } from './use-recovery.ts';
import { usePushSources, useUploads } from './use-push-sources.ts';
import { listFeedLags, listFeeds, listFeedsOf } from '../../src/store/feeds/feeds.ts';
import { findLedgerDifferences, rebuildMetrics } from '../../src/metrics/verify/sums.ts';
import { countSubscribers, summariseMetrics } from '../../src/metrics/summary.ts';
import { monthBefore } from '../../src/metrics/bounds.ts';
import { useTheEnd } from './use-the-end.ts';
import { usePast } from './use-past.ts';
import { findFirstDay, findPricesSince, listDays } from '../../src/metrics/history.ts';
import { summariseFromRecords } from '../../src/metrics/segments/summary.ts';
import { countSegment } from '../../src/metrics/segments/subscriptions.ts';
import { countUndated, countUndatedOf } from '../../src/store/records/sightings.ts';
import { type Store } from '../../src/store/open.ts';
import { findWriter, listTables, pagesOf } from '../../src/store/shop-copy.ts';
import {
  advanceWatermark,
  beginShopifySync,
  completePayments,
  completeShopifySync,
  findShopifySync,
  forgetOperations,
  hasForeignRecords,
  hasRecords,
  listOutdatedContracts,
  listStoredPlans,
  listSubscriptionIds,
  updateOperation,
} from '../../src/platforms/shopify/store/syncs.ts';
import {
  claimRenewal,
  deleteConnection,
  endRenewal,
  findConnectedShop,
  findConnection,
  listConnections,
  replaceSealed,
  startConnection,
  upsertConnection,
  deleteSyncStates,
  findSyncState,
  hastenSync,
  listSyncCounts,
  listSyncStates,
  upsertSyncState,
} from '../../src/store/feeds/platforms.ts';
import {
  deleteStreams,
  forgetDigests,
  keepStreams,
  findBelonging,
  listStreamLags,
  listStreams,
  listStreamsOf,
  noteAccount,
  upsertStreams,
} from '../../src/store/feeds/streams.ts';
import { linkShopifyShop, markReinstalled } from '../../src/platforms/shopify/store/shops.ts';
import {
  findShop,
  listShops,
  updateCustomerLink,
  updateKeyPolicy,
  updateShopTier,
} from '../../src/store/shops.ts';
import { findTimeline } from '../../src/store/records/subscription-timeline.ts';
import {
  countSubscriptions,
  listIntervals,
  listSubscriptionsOfCustomer,
  listSubscriptionsShown,
  listStatusesAt,
} from '../../src/store/records/subscriptions.ts';
import {
  createShop,
  createTestKey,
  get,
  importAll,
  importSnapshot,
  now,
  silentLog,
  startTestService,
} from '../support/world.ts';

const endAt = Date.parse(now);
const later = '2026-11-20T11:59:00.000Z';

const isActive = (each: object) => 'status' in each && each.status === 'active';

/** Everything that is ever done with a shop: import, correct and delete, every query and command. */
export async function useEverything(store: Store): Promise<void> {
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
  const [, plan] = records.filter(({ type }) => type === 'plan');
  const older = {
    ...first('subscription'),
    planId: plan?.id,
    exportedAt: '2026-11-20T10:00:00.000Z',
  };
  assert.deepEqual((await importAll(store, shop, [older], true)).refused, []);
  const kept = {
    ...first('subscription'),
    statusEvents: [],
    updatedAt: now,
    preserve: 'history',
    stays: ['lines'],
    sourceIds: { id: 'sub_1' },
    exportedAt: now,
  };
  const exported = { ...first('plan'), updatedAt: later, exportedAt: now };
  const seenValues = [{ at: 0, amounts: {}, shows: 'all' }];
  const paid = { ...first('payment'), seenValues };
  assert.deepEqual((await importAll(store, shop, [exported, kept, paid], true)).refused, []);
  const { id } = first('subscription') as { id: number };
  assert.ok(await findRecord(store.write, shop.id, 'subscription', String(id)));

  assert.equal((await listHomes(store.write, shop, [{ kind: 'subscription', id }])).size, 1);

  const snapshot = new Snapshot({ types: ['subscription'], allowShrink: true });
  const subscriptions = records.filter(({ type }) => type === 'subscription');
  await importAll(store, other, records);
  const dated = subscriptions.slice(1).map((each) => ({ ...each, exportedAt: now }));
  await importSnapshot(store, other, dated, snapshot, { isFromFeed: true });
  assert.equal(snapshot.outcome?.kind, 'deleted');
  const [broken, missing, ...left] = dated.toSorted((a) => (isActive(a) ? -1 : 1));
  const cancelling = new Snapshot({ gone: 'cancelled', allowShrink: true });
  const exportedAt = '2026-11-20T12:01:00.000Z';
  const rows = [...left, { ...broken, lines: [] }].map((each) => ({ ...each, exportedAt }));
  await importSnapshot(store, other, rows, cancelling, { isFromFeed: true });
  assert.ok(cancelling.outcome?.kind === 'cancelled' && cancelling.outcome.cancelled === 1);
  await importAll(store, other, [{ ...missing, updatedAt: now }]);
  assert.equal(await countUndated(store.write, other.id), 0);
  assert.equal((await countUndatedOf(store.write, [other.id])).size, 0);

  for (const table of await listTables(store.write)) {
    for await (const page of pagesOf(store.write, table, shop.id, { rowsPerPage: 5 }))
      assert.ok(page.length > 0);
  }
  assert.ok(await findWriter(store.write, shop.id));

  const { id: keyId, key } = await createTestKey(store, shop.id);
  const service = await startTestService(store);
  const base = `${service.baseUrl}/api/external/v1`;
  const send = async (question: string) => {
    const { status, body } = await get(`${base}/${question}`, key);
    assert.equal(status, 200, question);
    return body;
  };
  for (const list of [
    'subscriptions',
    'subscriptions?status=active',
    'cancellations?outcome=saved',
  ]) {
    await send(list);
  }
  const { nextCursor } = await send('cancellations?limit=1');
  await send(`cancellations?limit=1&cursor=${nextCursor}`);
  await send('subscriptions/1001');
  await send('entitlements?customerId=77');
  // By the login of the tables' owner.
  await new Entitlements(store.write).of(shop.id, 77, Date.now());
  await listStatusesAt(store.write, shop.id, [1001], 0);
  await send('metrics/summary');
  await send('plans');
  await service.close();

  await listKeys(store.write, shop.id);
  await listKeyRequests(store.write, shop.id, 0);
  await listAnsweredRequests(store.write, shop.id, 0);
  const logged = { status: 200, keyId, after: undefined, limit: 100 };
  await deleteOldBatches(store.write, shop.id);
  await deleteOldCounts(store.write, shop.id, keyId, 0);
  for (const order of ['newest', 'oldest', 'slowest', 'fastest'] as const) {
    const requests = await listLoggedRequests(store.write, shop.id, { ...logged, order });
    assert.equal(requests.length, 9);
  }
  const ending = { sql: store.write, clock: new FixedClock(now), log: silentLog };
  const target = { shopId: shop.id, id: keyId, actor: { who: 'command line' } };
  await rotateSecret(apiKeys, ending, target, {
    newId: apiKeys.newId(),
    newExpiresAt: null,
    overlapMilliseconds: 3_600_000,
  });
  await store.write.begin((tx) => updateKeyNetworks(tx, shop.id, keyId, ['203.0.113.0/24', '::1']));
  assert.ok(await findKeyGeneration(store.primary.keys));
  await updateRevokedKey(store.write, shop.id, keyId, new Date(now));
  assert.equal((await listRevokedKeys(store.write, [shop.id], new Date(now))).length, 1);
  await findReplication(store.write);
  await findShop(store.write, shop.id);
  const { subscriptions: read } = store.primaryOf(shop.id);
  const page = { status: undefined, after: undefined, limit: 51 };
  await listSubscriptionsOfCustomer(read, shop, 77, page);
  await listSubscriptionsOfCustomer(read, shop, 77, { ...page, order: 'highest' });
  await listSubscriptionsShown(read, shop, { ...page, order: 'lowest' });
  await listSubscriptionsShown(read, shop, { ...page, status: 'active', order: 'highest' });
  await listIntervals(read, shop.id, [1001]);
  await listSubscriptionsOfSessions(read, shop.id, [50001]);
  await findTimeline(read, shop.id, 1001, endAt);
  await listPaidAhead(store.write, shop.id, [9001], new Date(now));
  await listTakenBack(store.write, shop.id, [{ id: 1001, since: 0 }]);
  await listShops(store.write);
  await updateShopTier(store.write, shop.id, 'pro');
  await updateKeyPolicy(store.write, shop.id, { keyDefaultDays: 90, keyMaxDays: null });
  await updateCustomerLink(store.write, shop.id, 'https://admin.example/{id}');
  await listDays(store.primaryOf(shop.id).analyse, shop.id, monthBefore(endAt - 1));
  await summariseMetrics(store.primaryOf(shop.id).analyse, shop.id, endAt, monthBefore(endAt - 1));
  await countSubscribers(store.primaryOf(shop.id).analyse, shop.id, endAt, monthBefore(endAt - 1));
  await listFeeds(store.write, shop.id);
  await listFeedsOf(store.write, [shop.id]);
  await useShopifySync(store, shop.id);
  await useConnections(store, shop.id);
  await useStreams(store, shop.id);
  await usePushSources(store, shop.id);
  await useUploads(store, shop.id);
  await listFeedLags(store.write);
  await findFirstDay(store.primaryOf(shop.id).analyse, shop.id);
  await findPricesSince(store.primaryOf(shop.id).analyse, shop.id);
  await usePast(store, shop);
  await useAudit(store, shop.id, new Date(now));
  await useInsights(store, shop.id, endAt);
  await useRecovery(store, shop.id, endAt);
  await summariseFromRecords(store.write, shop.id, endAt);
  const inSegment = { segment: { status: 'active' }, now: endAt } as const;
  await countSegment(store.write, shop.id, inSegment);
  for (const counted of [{}, { status: 'active' }, { customer: 501 }] as const) {
    await countSubscriptions(store.primaryOf(shop.id).subscriptions, shop.id, counted, 10);
  }
  await rebuildMetrics(store.write, shop.id);
  // The remaining case: changed events are deleted and written again.
  await store.write`update status_events set position = position where shop_id = ${shop.id}`;
  assert.equal((await findLedgerDifferences(store.write, shop.id)).length, 0);

  const { customerId } = first('subscription') as { customerId: number };
  assert.notEqual((await listAllOfCustomer(store.write, shop.id, customerId)).length, 0);
  await store.write.begin((tx) => redactCustomer(tx, shop.id, customerId));
  await listSourceIdsOfCustomer(store.write, shop.id, 77);
  await ensureCustomerKey(store.write, shop.id);
  await replaceCustomerKey(store.write, shop.id);
  await findRecord(store.write, shop.id, 'customer', 'ann@example.com');
  await store.write.begin((tx) => updateRevokedKeysOfShop(tx, shop.id, new Date(now)));
  // Delete all of it, so that sums become zero.
  const gone = ['refund', 'cancellation', 'payment', 'subscription', 'plan'].flatMap((type) =>
    records
      .filter((record) => record.type === type)
      .map((record) => ({ type: 'delete', record: type, id: record.id })),
  );
  assert.deepEqual(Object.keys(deletions).length, 5);
  assert.deepEqual((await importAll(store, shop, gone)).refused, []);
  await importAll(store, shop, records);
  await useTheEnd(store, shop);
}

/** What is stored about a Shopify shop, and the queries for its records. */
async function useShopifySync({ write }: Store, shopId: number): Promise<void> {
  const at = new Date(now);
  const domain = 'sample-shop.myshopify.com';
  await write.begin((tx) => linkShopifyShop(tx, { shopId, domain }));
  await beginShopifySync(write, shopId, domain);
  await updateOperation(write, shopId, 'plans', 'gid://shopify/BulkOperation/1', at);
  await forgetOperations(write, shopId);
  await advanceWatermark(write, shopId, at);
  await completeShopifySync(write, shopId, { watermark: at, reconciledAt: at });
  await completePayments(write, shopId, at);
  assert.deepEqual((await findShopifySync(write, shopId))?.watermark, at);
  const reported = { contract: 1, attempt: 1, status: 'succeeded', amount: null };
  await listOutdatedContracts(write, shopId, [reported]);
  await markReinstalled(write, shopId, at);
  assert.equal(await hasForeignRecords(write, shopId), true);
  assert.equal(await hasRecords(write, shopId), true);
  const ids = await listSubscriptionIds(write, shopId, { after: 0, createdBefore: at, limit: 5 });
  assert.equal(ids.length, 5);
  assert.notEqual((await listStoredPlans(write, shopId)).length, 0);
}

/** How far streams of rows are read. */
async function useStreams({ write }: Store, shopId: number): Promise<void> {
  const platform = 'postgres';
  const account = 'db.example.com/billing';
  const stream = {
    stream: 'subscriptions',
    account,
    types: ['subscription'],
    cursor: '9',
    readAt: new Date(now),
    wholeAt: null,
    rows: 3,
    digest: '1 2 3',
    mappedAt: new Date(now),
  } as const;
  await upsertStreams(write, shopId, platform, [stream]);
  await upsertStreams(write, shopId, 'another', [stream]);
  assert.deepEqual([...(await listStreams(write, shopId, platform))], [stream]);
  assert.equal((await listStreamsOf(write, [shopId])).length, 2);
  assert.ok((await listStreamLags(write)).some(({ unread }) => unread === 0));
  await keepStreams(write, shopId, platform, ['subscriptions']);
  assert.equal(await findBelonging(write, shopId, platform), undefined);
  await write.begin((tx) => noteAccount(tx, shopId, platform, account));
  assert.deepEqual(
    [...(await listStreams(write, shopId, platform))],
    [{ ...stream, cursor: null, digest: null }],
  );
  await forgetDigests(write, shopId);
  await write.begin((tx) => noteAccount(tx, shopId, platform, 'another'));
  await write.begin((tx) => deleteStreams(tx, shopId, platform));
  assert.deepEqual([...(await listStreams(write, shopId, platform))], []);
  assert.deepEqual(
    [...(await listStreams(write, shopId, 'another'))],
    [{ ...stream, digest: null }],
  );
}

/** Connecting a shop to a platform, renewing its credentials, and how its sync is doing. */
async function useConnections({ write }: Store, shopId: number): Promise<void> {
  const platform = 'example';
  const connectedAt = new Date(now);
  const connection = { shopId, account: `shop-${shopId}`, credentials: 'sealed', connectedAt };
  const connect = () => write.begin((tx) => upsertConnection(tx, platform, connection));
  assert.equal(await connect(), undefined);
  assert.equal(await write.begin((tx) => startConnection(tx, shopId, platform)), false);
  const renewal = { shopId, platform, by: '00000000-0000-4000-8000-000000000001' };
  assert.ok(await claimRenewal(write, renewal, 60));
  assert.ok(await endRenewal(write, renewal, 'renewed'));
  await replaceSealed(write, renewal, { old: 'renewed', new: 'sealed anew' });
  assert.equal((await findConnection(write, shopId, platform))?.credentials, 'sealed anew');
  assert.equal((await listConnections(write, platform)).length, 1);
  assert.equal(await findConnectedShop(write, connection.account, platform), shopId);
  const state = {
    dueAt: connectedAt,
    failures: 1,
    problem: 'It is away.',
    reason: null,
    refusedAt: null,
    refusedVersion: null,
    takesOver: true,
    refused: 2,
    refusedRecordsAt: connectedAt,
    refusals: '[]',
  };
  await upsertSyncState(write, shopId, platform, state);
  const { dueAt, failures, problem, refusedAt, refusedVersion } = state;
  const again = { dueAt, failures, problem, refusedAt, refusedVersion };
  await upsertSyncState(write, shopId, platform, again);
  assert.deepEqual(await findSyncState(write, shopId, platform), { shopId, ...state });
  assert.equal((await listSyncStates(write, platform)).length, 1);
  assert.equal((await listSyncCounts(write)).length, 1);
  await hastenSync(write, shopId, platform, connectedAt);
  await deleteSyncStates(write, [shopId], platform);
  assert.ok(await deleteConnection(write, shopId, platform));
  assert.equal(await countSubscriptions(write, shopId), 60);
}
