import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../src/clock.ts';
import { leaseDrainMilliseconds } from '../../src/access/keys/key-leases.ts';
import { createLog } from '../../src/log/log.ts';
import { updateRevokedKey } from '../../src/store/keys/keys.ts';
import { connectAll } from '../../src/store/open.ts';
import { findPostgresPrograms } from '../support/postgres.ts';
import {
  type Replicated,
  callEveryOperation,
  countConnections,
  fillShop,
  onServer,
  startLoad,
  startReplicated,
} from '../support/replication.ts';
import { until } from '../support/until.ts';
import { startWire } from '../support/wire.ts';
import { plan } from '../rest/records.ts';
import { createTestKey, get, importAll } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

/** Readers see everything that was committed at least this long before they asked. */
const maxLagMilliseconds = 2_000;

describe('reading from one standby', { skip, timeout: 600_000 }, () => {
  let all: Replicated;
  before(async () => {
    all = await startReplicated(1);
    await fillShop(all);
    await all.untilInUse(true);
  });
  after(() => all.close());

  const standbyUrl = () => all.standbys[0]?.url ?? '';
  const planNames = async () => {
    const { status, body } = await get(`${all.world.base}/plans`, all.world.key);
    assert.equal(status, 200);
    return body.plans.map(({ name }: { name: string }) => name).join();
  };
  const renamePlan = async (name: string) => {
    const renamed = plan({ name, updatedAt: new Date().toISOString() });
    const { counts } = await importAll(all.store, all.world.shop, [renamed], false, systemClock);
    assert.equal(counts.plan?.replaced, 1);
  };

  /** The last statements since then on the connections that serve requests. */
  const lastStatements = async (url: string, since: string) =>
    (
      await onServer<{ query: string }>(
        url,
        `select query from pg_stat_activity
         where application_name like 'retention read %' or application_name = 'retention analyse'
           and query_start > '${since}'`,
      )
    )
      .map(({ query }) => query)
      .join('\n');

  test('all operations read from the standby, keys and readiness from the primary', async () => {
    const { standby, primary, body, lag, ready } = await all.whileInUse(async () => {
      const [server] = await onServer<{ now: string }>(
        all.primary.url,
        'select clock_timestamp()::text as now',
      );
      const since = server?.now ?? '';
      await callEveryOperation(all.world);
      await planNames();
      return {
        standby: await lastStatements(standbyUrl(), since),
        primary: await lastStatements(all.primary.url, since),
        body: (await get(`${all.world.service.baseUrl}/readyz`)).body,
        lag: all.store.replicas[0]?.lagMilliseconds,
        ready: await lastStatements(all.primary.url, since),
      };
    });
    assert.match(standby, /from plans where shop_id/);
    assert.match(standby, /from metric_shops/);
    assert.match(primary, /from find_keys/);
    assert.doesNotMatch(primary, /plans|metric_shops/);
    assert.deepEqual(body, {
      status: 'ready',
      database: 'up',
      replicas: { [`127.0.0.1:${all.standbys[0]?.port}`]: 'in use' },
    });
    assert.ok(lag !== undefined && lag <= maxLagMilliseconds);
    assert.match(ready, /select 1/);
  });

  test('is left out when replay pauses, before data is too old', async () => {
    // Retry if the paused standby returned nothing: on a busy machine it may be left out before its first
    // answer.
    for (let isPausedRead = false; !isPausedRead;) {
      await all.untilInUse(true);
      await onServer(standbyUrl(), 'select pg_wal_replay_pause()');
      await renamePlan('Renamed');
      const committedAt = performance.now();
      for (let late = 0; late < 5;) {
        const begunAt = performance.now();
        const names = await planNames();
        if (begunAt >= committedAt + maxLagMilliseconds) {
          assert.equal(names, 'Renamed');
          late += 1;
        }
        isPausedRead ||= names === 'Monthly box';
        await sleep(10);
      }
      assert.equal(all.isInUse(), false);
      await all.untilSaid('standby left out: it lags');
      const { body } = await get(`${all.world.service.baseUrl}/readyz`);
      assert.deepEqual(Object.values(body.replicas), ['left out']);

      await onServer(standbyUrl(), 'select pg_wal_replay_resume()');
      await all.untilInUse(true);
      assert.equal(await planNames(), 'Renamed');
      await renamePlan('Monthly box');
      const name = 'select name from plans';
      await until(
        () => onServer<{ name: string }>(standbyUrl(), name),
        ([stored]) => stored?.name === 'Monthly box',
      );
    }
  });

  test('a key revoked while the standby lags is refused from the acknowledgement on', async () => {
    const other = await createTestKey(all.store, all.world.shop.id);
    // On the standby the key is still valid.
    await until(
      () => onServer(standbyUrl(), `select from api_keys where key_id = '${other.id}'`),
      ({ length }) => length === 1,
    );
    await onServer(standbyUrl(), 'select pg_wal_replay_pause()');
    const plans = `${all.world.base}/plans`;
    assert.equal((await get(plans, other.key)).status, 200);
    await updateRevokedKey(all.store.write, all.world.shop.id, other.id, new Date());
    await sleep(leaseDrainMilliseconds);
    assert.equal((await get(plans, other.key)).status, 401);
    const [stored] = await onServer<{ isValid: boolean }>(
      standbyUrl(),
      `select revoked_at is null as "isValid" from api_keys where key_id = '${other.id}'`,
    );
    assert.equal(stored?.isValid, true, 'it did not lag');
    await onServer(standbyUrl(), 'select pg_wal_replay_resume()');
  });

  test('all answers are right when it dies under load; after a restart it is used again', async () => {
    const load = await startLoad(all.world, 4);
    for (let round = 0; round < 3; round += 1) {
      await all.untilInUse(true);
      await until(() => load.rounds > round * 10);
      await all.standbys[0]?.stop('crash');
      await all.untilInUse(false);
      const { rounds } = load;
      await until(() => load.rounds > rounds + 5);
      await all.standbys[0]?.start();
      await all.untilInUse(true);
    }
    assert.deepEqual(await load.end(), []);
    await all.untilSaid('standby in use');
  });

  test('all answers are right when it is shut down under load', async () => {
    const load = await startLoad(all.world, 4);
    await all.untilInUse(true);
    // Repeat until a request is in flight at that moment.
    await until(async () => {
      await onServer(
        standbyUrl(),
        `do $$ begin
           for attempt in 1..50 loop
             perform pg_terminate_backend(pid) from pg_stat_activity
             where application_name like 'retention read %';
             perform pg_sleep(0.002), pg_stat_clear_snapshot();
           end loop;
         end $$`,
      );
      return !all.isInUse();
    });
    await all.untilInUse(true);
    await all.standbys[0]?.stop();
    await all.untilInUse(false);
    await all.standbys[0]?.start();
    await all.untilInUse(true);
    assert.deepEqual(await load.end(), []);
  });

  test('the primary answers waiting requests when it freezes under load', async () => {
    const load = await startLoad(all.world, 4);
    await all.untilInUse(true);
    all.standbys[0]?.freeze();
    await all.untilInUse(false);
    const { rounds } = load;
    await until(() => load.rounds > rounds + 20);
    await all.untilSaid('standby left out: it failed');
    assert.equal(JSON.parse(all.lines.at(-1) ?? '').cause, 'no answer within 1000 ms');
    all.standbys[0]?.thaw();
    await all.untilInUse(true);
    assert.deepEqual(await load.end(), []);
  });

  test('is at least as far behind as the primary took to say how far it is', async (t) => {
    const wire = await startWire(() => all.primary.port);
    t.after(() => wire.close());
    const through = all.primary.url.replace(`:${all.primary.port}`, `:${wire.port}`);
    const log = createLog('silent', { write() {} });
    const store = connectAll(through, { replication: { standbys: [standbyUrl()], log } });
    t.after(() => store.close());
    const [standby] = store.replicas;
    await until(() => standby?.isInUse);
    wire.delay(1_500);
    const delayedAt = systemClock.monotonic();
    const lags: number[] = [];
    let last = 0;
    await until(() => {
      const lag = standby?.lagMilliseconds ?? 0;
      // By then, whatever was asked before the delay is as old as that.
      const isLate = systemClock.monotonic() - delayedAt >= 1_500;
      // Less than before: there was an answer.
      if (isLate && lag > 0 && lag < last) lags.push(lag);
      last = lag;
      return lags.length === 3;
    });
    for (const lag of lags) assert.ok(lag >= 1_500, String(lags));
    wire.delay(0);
    await until(() => standby?.isInUse);
  });

  test('has as many connections afterwards as at first', async () => {
    await all.untilInUse(true);
    await callEveryOperation(all.world);
    await until(
      () => countConnections(standbyUrl()),
      (counts) =>
        isDeepStrictEqual(counts, {
          // Summaries of a shop that are asked for at once share one.
          'retention analyse': 1,
          'retention read cancellations': 1,
          'retention read plans': 1,
          'retention read subscriptions': 1,
          'retention watch': 1,
        }),
    );
    const { 'retention write': _writes, ...reading } = await countConnections(all.primary.url);
    assert.ok((reading['retention analyse'] ?? 0) <= 2);
    assert.equal(reading['retention read keys'], 1);
    assert.equal(reading['retention watch'], 1);
  });

  test('is left out when promoted, with a log line and no password in any', async () => {
    await onServer(standbyUrl(), 'select pg_promote()');
    await all.untilSaid(
      'standby left out: it is not in recovery: it was promoted, or is not a standby',
    );
    await onServer(standbyUrl(), "update plans set name = 'Elsewhere'");
    assert.equal(await planNames(), 'Monthly box');
    const { port } = all.standbys[0] ?? {};
    assert.ok(all.lines.every((line) => line.includes(`"standby":"127.0.0.1:${port}"`)));
    assert.doesNotMatch(all.lines.join(''), /sesame/);
  });
});
