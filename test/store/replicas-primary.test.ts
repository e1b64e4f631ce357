import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createLog } from '../../src/log/log.ts';
import { connectAll } from '../../src/store/open.ts';
import { run } from '../cli/process.ts';
import { findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import {
  type Replicated,
  callEveryOperation,
  countConnections,
  fillShop,
  onServer,
  startReplicated,
} from '../support/replication.ts';
import { until } from '../support/until.ts';
import { get } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const failure = { success: false, message: 'Internal server error.' };

describe('two standbys and their primary', { skip, timeout: 600_000 }, () => {
  let all: Replicated;
  before(async () => {
    all = await startReplicated(2);
    await fillShop(all);
    await bothInUse();
  });
  after(() => all.close());

  const bothInUse = () => Promise.all([all.untilInUse(true, 0), all.untilInUse(true, 1)]);
  const urls = () => all.standbys.map(({ url }) => url);
  const plans = () => get(`${all.world.base}/plans`, all.world.key);
  const entitled = (customerId: number) =>
    all.read(({ entitlements }) => entitlements.of(all.world.shop.id, customerId, Date.now()));

  /** How often each standby has looked up a customer's subscriptions. */
  const lookUps = () =>
    Promise.all(
      urls().map(async (url) => {
        const [row] = await onServer<{ scans: number }>(
          url,
          `select sum(idx_scan)::int as scans from pg_stat_user_tables
           where relname = 'subscriptions'`,
        );
        return row?.scans ?? 0;
      }),
    );

  test('are used in turn', async () => {
    const counted = await all.whileInUse(async () => {
      const told = all.said.length;
      // A connection publishes its counts after a second, with a later statement.
      await sleep(1_100);
      await Promise.all([plans(), plans()]);
      const first = await lookUps();
      // Each standby gets every second request, whether it shares a statement or is alone in its turn.
      const found = await Promise.all(Array.from({ length: 40 }, () => entitled(501)));
      for (const rows of found)
        assert.deepEqual(
          rows.map((row) => row.subscriptionId),
          [1001],
        );
      for (let each = 0; each < 8; each += 1) {
        assert.deepEqual(
          (await entitled(502)).map((row) => row.subscriptionId),
          [1002],
        );
      }
      return until(
        async () => {
          await Promise.all([plans(), plans()]);
          return (await lookUps()).map((scans, index) => scans - (first[index] ?? 0));
        },
        (counts) => counts.every((scans) => scans >= 24) || all.said.length > told,
      );
    });
    assert.deepEqual(counted, [24, 24]);
  });

  test('the other standby continues when one dies', async () => {
    await all.standbys[0]?.stop('crash');
    for (const answer of await callEveryOperation(all.world)) assert.match(answer, / 200 /);
    await untilReadyReplicas('left out', 'in use');
    await all.standbys[0]?.start();
    await bothInUse();
  });

  /** Waits until readiness reports these states of the two. */
  const untilReadyReplicas = (...states: readonly string[]) =>
    until(
      async () => Object.values((await get(`${all.world.service.baseUrl}/readyz`)).body.replicas),
      (found) => isDeepStrictEqual(found, states),
    );

  for (const how of ['dies', 'freezes'] as const) {
    test(`are soon left out when the primary ${how}, and used again when it is back`, async () => {
      await (how === 'dies' ? all.primary.stop('crash') : all.primary.freeze());
      await Promise.all([all.untilInUse(false, 0), all.untilInUse(false, 1)]);
      await all.untilSaid(
        'standby left out: the primary does not answer, so it cannot be compared',
      );
      if (how === 'dies') {
        const { status, body } = await until(plans, (answer) => answer.status !== 200);
        assert.deepEqual([status, body], [500, failure]);
        assert.equal((await get(`${all.world.service.baseUrl}/readyz`)).status, 503);
        await all.primary.start();
      } else {
        all.primary.thaw();
      }
      await bothInUse();
      await until(plans, ({ status }) => status === 200);
      await untilReadyReplicas('in use', 'in use');
    });
  }

  test('are used again after the primary is back, if its address names a standby as second host', async () => {
    const [standby] = all.standbys;
    assert.ok(standby);
    const own = `127.0.0.1:${all.primary.port}`;
    const hosts = all.primary.url.replace(own, `${own},127.0.0.1:${standby.port}`);
    const replication = { standbys: [standby.url], log: createLog('silent', { write() {} }) };
    const store = connectAll(hosts, { replication });
    const isInUse = (expected: boolean) => until(() => store.replicas[0]?.isInUse === expected);
    await isInUse(true);
    await all.primary.stop('crash');
    await isInUse(false);
    await all.primary.start();
    await isInUse(true);
    await store.close();
    await bothInUse();
  });

  test('have as many connections afterwards as at first: four each', async () => {
    await Promise.all([callEveryOperation(all.world), callEveryOperation(all.world)]);
    for (const url of [...urls(), all.primary.url]) {
      // Only keys, and what only the primary can answer, are read from the primary.
      const reading = url === all.primary.url ? 'retention read keys' : 'retention read plans';
      const counts = await until(
        () => countConnections(url),
        (found) => found[reading] === 1 && found['retention watch'] === 1,
      );
      assert.ok((counts['retention analyse'] ?? 0) <= 2);
    }
  });

  test('doctor checks each, without showing passwords', async () => {
    const hosts = all.standbys.map(({ port }) => `127.0.0.1:${port}`);
    const env = {
      DATABASE_URL: all.primary.url,
      DATABASE_READ_URL: `postgres://postgres:sesame@${hosts.join()}/postgres`,
    };
    // It accepts a lag of two seconds, as the service does.
    const healthy = await until(
      () => run(['doctor', '--json'], { env }),
      ({ code, out }) => code === 0 || !out.includes('lags more than'),
    );
    assert.equal(healthy.code, 0, healthy.out + healthy.err);
    const { configuration, findings } = JSON.parse(healthy.out);
    assert.deepEqual(
      configuration.databaseReadUrls,
      hosts.map((host) => `postgres://postgres:redacted@${host}/postgres`),
    );
    const about = findings.filter(({ check }: { check: string }) => check.startsWith('standby'));
    assert.deepEqual(
      about.map(({ check, ok }: { check: string; ok: boolean }) => [check, ok]),
      hosts.map((host) => [`standby ${host}`, true]),
    );
    assert.match(about[0].detail, /^in recovery, lags \d+ ms$/);
    assert.doesNotMatch(healthy.out + healthy.err, /sesame/);

    // While paused it is in recovery but does not reach the primary's position.
    await onServer(urls()[0] ?? '', 'select pg_wal_replay_pause()');
    await onServer(all.primary.url, "update plans set name = name || ''");
    const unusableHosts = `127.0.0.1:1,${all.primary.url.split('@')[1]?.split('/')[0]}`;
    const unhealthy = await run(['doctor'], {
      env: {
        ...env,
        DATABASE_READ_URL: `postgres://postgres:sesame@${hosts[0]},${unusableHosts}/postgres`,
      },
    });
    await onServer(urls()[0] ?? '', 'select pg_wal_replay_resume()');
    assert.equal(unhealthy.code, 1);
    assert.match(
      unhealthy.out,
      /^FAIL {2}standby 127\.0\.0\.1:\d+: in recovery, lags more than 2000 ms$/m,
    );
    assert.match(unhealthy.out, /^FAIL {2}standby 127\.0\.0\.1:1: connect ECONNREFUSED/m);
    assert.match(unhealthy.out, /^FAIL {2}standby 127\.0\.0\.1:\d+: it is not in recovery: /m);
    assert.doesNotMatch(unhealthy.out + unhealthy.err, /sesame/);
  });

  /** Waits until a service with this primary and these standbys has logged this for each. */
  async function untilFound(
    verdict: string,
    primary: string,
    standbys: readonly string[],
  ): Promise<void> {
    const verdicts = new Map<string, string>();
    const log = createLog('info', {
      write(line) {
        const { standby, reason, msg } = JSON.parse(line);
        verdicts.set(standby, reason ?? msg);
      },
    });
    const store = connectAll(primary, { replication: { standbys, log } });
    try {
      await until(() => store.replicas.every(({ name }) => verdicts.get(name) === verdict));
      for (const { isInUse } of store.replicas) assert.equal(isInUse, false);
    } finally {
      await store.close();
    }
  }

  test('are left out if they belong to another cluster or database', async (t) => {
    const other = await requirePostgres(['fsync=off'], { isNew: true });
    t.after(() => other.destroy());
    const foreignStandby = await other.startReplica();
    t.after(() => foreignStandby.destroy());
    const elsewhere = Object.assign(new URL(urls()[0] ?? ''), { pathname: '/template1' }).href;
    const verdict = 'it belongs to another cluster or database than the primary';
    await untilFound(verdict, all.primary.url, [foreignStandby.url, elsewhere]);
  });

  test('are left out if they follow another history of the same cluster', async (t) => {
    const promoted = await all.primary.startReplica();
    t.after(() => promoted.destroy());
    await onServer(promoted.url, 'select pg_promote()');
    // The server waits up to a minute; a standby that still followed would replay what comes next.
    await until(
      () => onServer<{ follows: boolean }>(promoted.url, 'select pg_is_in_recovery() as follows'),
      ([server]) => server?.follows === false,
    );
    // More than the promotion wrote.
    await onServer(
      all.primary.url,
      'create table ballast as select generate_series(1, 100000); drop table ballast',
    );
    const [here] = await onServer<{ lsn: string }>(
      all.primary.url,
      'select pg_current_wal_lsn()::text as lsn',
    );
    await until(
      () =>
        onServer<{ isThere: boolean }>(
          urls()[0] ?? '',
          `select pg_last_wal_replay_lsn() >= '${here?.lsn}' as "isThere",
            pg_get_wal_replay_pause_state() as pause, (select status from pg_stat_wal_receiver)`,
        ),
      ([standby]) => standby?.isThere === true,
    );
    const ahead = 'it has changes that the primary does not have';
    await untilFound(ahead, promoted.url, [urls()[0] ?? '']);
  });

  test('a statement that timed out is not retried on the primary', async () => {
    const tried = await all.whileInUse(async () => {
      const on: boolean[] = [];
      const cancelled = all.read(async ({ subscriptions: sql }) => {
        const [row] = await sql<{ isStandby: boolean }[]>`
          select pg_is_in_recovery() as "isStandby"`;
        on.push(row?.isStandby === true);
        await sql`select pg_sleep(60)`;
      });
      await assert.rejects(cancelled, { code: '57014' });
      return on;
    });
    assert.deepEqual(tried, [true]);
    assert.deepEqual([all.isInUse(0), all.isInUse(1)], [true, true]);
  });

  test('a read that conflicts with replay is retried on the primary, and the standby stays in use', async () => {
    for (const url of urls()) {
      await onServer(url, "alter system set max_standby_streaming_delay = '0'");
      await onServer(url, 'select pg_reload_conf()');
    }
    const isAsleep = `select from pg_stat_activity where wait_event = 'PgSleep'`;
    const asleep = () => Promise.all(urls().map((url) => onServer(url, isAsleep)));
    const { rows, tried } = await all.whileInUse(async () => {
      const told = all.said.length;
      let times = 0;
      const reading = all.read(({ analyse: sql }) => {
        times += 1;
        return sql<{ isStandby: boolean; slept: string | null }[]>`
          select pg_is_in_recovery() as "isStandby",
            case when pg_is_in_recovery() then pg_sleep(4)::text end as slept
          from plans where shop_id = ${all.world.shop.id}`;
      });
      await until(async () => (await asleep()).flat().length > 0 || all.said.length > told);
      await onServer(all.primary.url, 'begin; lock table plans in access exclusive mode; commit');
      return { rows: [...(await reading)], tried: times };
    });
    assert.deepEqual(rows, [{ isStandby: false, slept: null }]);
    assert.equal(tried, 2);
    assert.deepEqual([all.isInUse(0), all.isInUse(1)], [true, true]);
  });
});
