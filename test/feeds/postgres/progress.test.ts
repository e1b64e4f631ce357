import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { importShopOf } from '../../../src/ingest/apply.ts';
import { postgresCode } from '../../../src/platforms/postgres/code.ts';
import type { Report } from '../../../src/push/upload/jobs/import-file.ts';
import { rehearseSync } from '../../../src/push/upload/jobs/rehearse-sync.ts';
import { type StreamState, listStreams } from '../../../src/store/feeds/streams.ts';
import { findShop } from '../../../src/store/shops.ts';
import { createShop, silentLog } from '../../support/world.ts';
import { onMerchant } from './merchant.ts';
import { chargeStream, createTables, planStream, subscriptionStream } from './source.ts';

const sourceNetworks = ['127.0.0.0/8', '::1'];

onMerchant('how far a first sync is', (at) => {
  beforeEach(() => createTables(at.source));

  async function open(...streams: readonly object[]) {
    const { id } = await createShop(at.store);
    const row = await findShop(at.store.write, id);
    if (!row) throw new Error('There is no such shop.');
    const credentials = { shop: id, url: at.source.url, streams };
    return { id, shop: importShopOf(row), credentials };
  }

  test('is noted while it is read: the rows so far', async () => {
    await at.source.owner.script(`
      insert into subs select 'm-' || i, 'c-' || i, 'box', 'on', 5, '2026-03-05', null, '2026-03-05'
      from generate_series(1, 1200) i`);
    const { id, shop, credentials } = await open(planStream, subscriptionStream, chargeStream);
    let now = 0;
    // Minutes pass between any two of its looks at the clock.
    const clock = { now: systemClock.now, monotonic: () => (now += 60_000) };
    const seen: Promise<readonly StreamState[]>[] = [];
    const intake = {
      sql: at.store.write,
      shop,
      feed: 'postgres',
      clock,
      log: silentLog,
      arrived: () => void seen.push(listStreams(at.store.write, id, 'postgres')),
    };
    const read = async () => credentials;
    const connected = {
      shop: id,
      account: 'db/billing',
      baseUrl: undefined,
      origin: 'database',
      version: '1',
      credentials: { read, renew: read },
    } as const;
    const context = { app: undefined, sourceNetworks, clock, log: silentLog };
    const connection = postgresCode.connect(connected, context);
    await connection.sync(intake, { full: false, takeOver: false });
    const states = (await Promise.all(seen)).map((streams) =>
      streams.find(({ stream }) => stream === 'subscriptions'),
    );
    const soFar = states.filter((state) => state?.readAt === null).map((state) => state?.rows);
    // A look that takes long may see a later state.
    assert.ok(
      [250, 500, 750, 1000].some((rows) => soFar.includes(rows)),
      String(soFar),
    );
    const after = await listStreams(at.store.write, id, 'postgres');
    const whole = after.find(({ stream }) => stream === 'subscriptions');
    assert.deepEqual([whole?.rows, whole?.readAt !== null], [1203, true]);
  });

  test('is told while it is rehearsed, however long the source takes for a row', async () => {
    // A process that says nothing is ended.
    const slow = { ...planStream, query: 'select *, pg_sleep(1.5) from plans' };
    const { shop, credentials } = await open(slow, subscriptionStream, chargeStream);
    const reports: Report[] = [];
    const request = {
      database: at.env['DATABASE_URL'] ?? '',
      shop,
      platform: 'postgres',
      account: 'db/billing',
      baseUrl: undefined,
      version: '1',
      credentials,
      sourceNetworks,
    };
    const { signal } = new AbortController();
    const report = (each: Report) => void reports.push(structuredClone(each));
    const end = await rehearseSync(request, { signal, report });
    assert.equal(end.failure, undefined);
    assert.equal(end.counts['plan']?.stored, 2);
    assert.ok(reports.length > 0);
    assert.ok(reports.every(({ kind }) => kind === 'progress'));
  });
});
