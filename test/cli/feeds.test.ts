import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { plan, subscription } from '../rest/records.ts';
import { newShopId, run, throwawayFolder } from './process.ts';
import { upsertFeed } from '../../src/store/feeds/feeds.ts';
import { connectAll } from '../../src/store/open.ts';
import { upsertStreams } from '../../src/store/feeds/streams.ts';
import { upsertSyncState } from '../../src/store/feeds/platforms.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL, LOG_LEVEL: 'warn' };

async function runOk(...args: string[]): Promise<string> {
  const { code, out, err } = await run(args, { env });
  assert.equal(code, 0, err);
  return out;
}

describe('feeds status', { skip }, () => {
  test('shows when data arrived, and how long ago', async () => {
    const id = newShopId();
    await runOk('shops', 'create', '--id', id, '--name', 'Shop', '--currency', 'USD');
    assert.equal(
      await runOk('feeds', 'status', '--shop', id),
      'No data yet. "retention import" imports some.\n',
    );

    const file = path.join(throwawayFolder(), 'records.ndjson');
    writeFileSync(file, `${JSON.stringify(plan())}\n${JSON.stringify(subscription(1001))}\n`);
    await runOk('import', '--shop', id, file);
    const [feed, ...others] = JSON.parse(await runOk('feeds', 'status', '--shop', id, '--json'));
    assert.deepEqual(others, []);
    const { shop, feed: name, newestAt, arrivedAt, completedAt } = feed;
    assert.deepEqual([shop, name, newestAt], [Number(id), 'records', '2026-11-01T00:00:00.000Z']);
    assert.ok(arrivedAt <= completedAt);

    const table = await runOk('feeds', 'status');
    // Shops of other tests may bring further columns.
    assert.match(table, /^SHOP +FEED +ARRIVED +NEWEST +COMPLETE(?: +[A-Z]+)*\n/);
    const row = `^${id} +records +${arrivedAt} \\(\\d+ (second|minute)s? ago\\) +${newestAt} \\(`;
    assert.match(table, new RegExp(row, 'm'));
    assert.equal(feed.undatedSubscriptions, undefined);
  });

  test('counts the subscriptions that ended or paused at an unknown time', async () => {
    const id = newShopId();
    await runOk('shops', 'create', '--id', id, '--name', 'Shop', '--currency', 'USD');
    const file = path.join(throwawayFolder(), 'records.ndjson');
    const ended = (subscriptionId: number, status: string, at: string | null) =>
      subscription(subscriptionId, { status, statusEvents: [{ at, to: status }] });
    const records = [
      plan(),
      ended(1, 'cancelled', null),
      ended(2, 'paused', null),
      ended(3, 'cancelled', '2026-11-02T00:00:00Z'),
    ];
    writeFileSync(file, records.map((record) => JSON.stringify(record)).join('\n'));
    // A dry run counts what would be stored.
    const dryRun = ['import', '--shop', id, '--dry-run', file];
    assert.equal(JSON.parse(await runOk(...dryRun, '--json')).undatedSubscriptions, 2);
    const { err } = await run(dryRun, { env });
    assert.match(err, /^2 subscriptions have ended or paused at an unknown time/m);
    assert.equal(
      await runOk('feeds', 'status', '--shop', id),
      'No data yet. "retention import" imports some.\n',
    );
    await runOk('import', '--shop', id, file);
    const [feed] = JSON.parse(await runOk('feeds', 'status', '--shop', id, '--json'));
    assert.equal(feed.undatedSubscriptions, 2);
    const table = await runOk('feeds', 'status', '--shop', id);
    assert.match(table, /^SHOP .* UNDATED\n/);
    assert.match(table, / 2\n$/);
  });

  test('says why a sync does not arrive, and since when its credentials are refused', async () => {
    const id = newShopId();
    await runOk('shops', 'create', '--id', id, '--name', 'Shop', '--currency', 'USD');
    const store = connectAll(DATABASE_URL);
    const settle = async (state: object) => {
      const settled = {
        dueAt: new Date(),
        failures: 0,
        problem: null,
        refusedAt: null,
        refusedVersion: null,
      };
      await upsertSyncState(store.write, Number(id), 'shopify', { ...settled, ...state });
    };
    const shown = async () => {
      const feeds = JSON.parse(await runOk('feeds', 'status', '--shop', id, '--json'));
      return feeds.map(({ feed, problem, pausedSince }: Record<string, unknown>) => [
        feed,
        problem,
        pausedSince,
      ]);
    };
    try {
      await settle({});
      assert.deepEqual(await shown(), []);
      const problem = 'Shopify does not accept the token.';
      const refusedAt = new Date('2026-11-20T08:00:00Z');
      await settle({ problem, refusedAt });
      assert.deepEqual(await shown(), [['shopify', problem, '2026-11-20T08:00:00.000Z']]);
      const table = await runOk('feeds', 'status', '--shop', id);
      assert.match(table, /^SHOP +FEED +ARRIVED +NEWEST +COMPLETE +PROBLEM\n/);
      assert.match(
        table,
        new RegExp(
          `^${id} +shopify +- +- +- +Paused since 2026-11-20T08:00:00\\.000Z \\(.+ ago\\): ${problem}$`,
          'm',
        ),
      );
      await settle({ problem: 'Shopify is down.', failures: 2 });
      assert.deepEqual(await shown(), [['shopify', 'Shopify is down.', null]]);
      assert.match(await runOk('feeds', 'status', '--shop', id), / - +- +- +Shopify is down\.$/m);

      // It is fine again, and has delivered something.
      await upsertFeed(store.write, Number(id), 'shopify', { arrivedAt: refusedAt });
      await settle({});
      assert.deepEqual(await shown(), [['shopify', null, null]]);
      assert.doesNotMatch(await runOk('feeds', 'status', '--shop', id), /PROBLEM/);
    } finally {
      await store.close();
    }
  });

  test('shows how far streams are read, and what was refused', async () => {
    const id = newShopId();
    await runOk('shops', 'create', '--id', id, '--name', 'Shop', '--currency', 'USD');
    const store = connectAll(DATABASE_URL);
    try {
      const unread = {
        account: 'db/billing',
        cursor: null,
        digest: null,
        mappedAt: null,
        wholeAt: null,
      } as const;
      const readAt = new Date('2026-11-20T08:00:00Z');
      await upsertStreams(store.write, Number(id), 'postgres', [
        { ...unread, stream: 'charges', types: ['payment'], rows: 12, readAt: null },
        { ...unread, stream: 'subs', types: ['subscription'], rows: 3, readAt },
      ]);
      await upsertSyncState(store.write, Number(id), 'postgres', {
        dueAt: readAt,
        failures: 0,
        problem: null,
        refusedAt: null,
        refusedVersion: null,
        refused: 2,
        refusedRecordsAt: readAt,
        refusals: JSON.stringify([{ reason: 'subs: column price: it is empty', count: 2 }]),
      });
      const [feed] = JSON.parse(await runOk('feeds', 'status', '--shop', id, '--json'));
      const at = '2026-11-20T08:00:00.000Z';
      assert.deepEqual(feed.streams, [
        { stream: 'charges', types: ['payment'], rows: 12, readAt: null },
        { stream: 'subs', types: ['subscription'], rows: 3, readAt: at },
      ]);
      const reasons = [{ reason: 'subs: column price: it is empty', count: 2 }];
      assert.deepEqual(feed.refused, { count: 2, at, reasons });
      assert.match(
        await runOk('feeds', 'status', '--shop', id),
        / charges 12 so far, subs 3 .+ ago +2 .+ ago: subs: column price: it is empty$/m,
      );
    } finally {
      await store.close();
    }
  });

  test('names a shop that does not exist', async () => {
    const unknown = await run(['feeds', 'status', '--shop', '9007199254740991'], { env });
    assert.deepEqual(
      [unknown.code, unknown.out, unknown.err],
      [1, '', 'retention: There is no shop 9007199254740991.\n'],
    );
  });
});
