import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { run, throwawayFolder } from '../cli/process.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { onServer } from '../support/replication.ts';
import { until } from '../support/until.ts';
import { createShop, createTestKey, get, startTestService } from '../support/world.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('a revocation with an asynchronous standby', { skip, timeout: 600_000 }, () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let store: Store;

  before(async () => {
    primary = await requirePostgres(['fsync=off', 'wal_level=logical']);
    store = connectAll(primary.url);
  });
  after(async () => {
    await store.close();
    for (const server of [standby, primary]) {
      server?.thaw();
      await server?.destroy();
    }
  });

  /** Runs a command with the login `postgres`, a superuser, or another user. */
  const env = (more: Record<string, string> = {}) => ({
    DATABASE_URL: primary.url,
    LOG_LEVEL: 'warn',
    ...more,
  });
  const findingOf = async (name: string, more?: Record<string, string>) => {
    const { out } = await run(['doctor', '--json'], { env: env(more) });
    return JSON.parse(out).findings.find(({ check }: { check: string }) => check === name);
  };
  const failoverOf = (more?: Record<string, string>) => findingOf('failover', more);
  const revokeOne = async (more?: Record<string, string>) => {
    const shop = await createShop(store);
    const { id, key } = await createTestKey(store, shop.id);
    const { code, out, err } = await run(['keys', 'revoke', '--shop', String(shop.id), id], {
      env: env(more),
    });
    assert.deepEqual([code, out], [0, `Key ${id} is revoked.\n`]);
    return { shop, id, key, err };
  };
  const warning =
    'The standbys are asynchronous: a failover right now can undo this. "After a failover" in docs/operations.md says how to revoke again.\n';

  test('does not warn if only a backup or a logical subscriber streams', async () => {
    const other = await primary.createDatabase('other');
    await onServer(primary.url, 'create publication changes');
    await onServer(primary.url, "select pg_create_logical_replication_slot('sub', 'pgoutput')");
    await onServer(
      other,
      `create subscription sub connection '${primary.url}' publication changes
       with (slot_name = 'sub', create_slot = false, copy_data = false)`,
    );
    const program = path.join(findPostgresPrograms() ?? '', 'pg_receivewal');
    const backup = spawn(program, ['-d', primary.url, '-D', throwawayFolder()]);
    try {
      await until(
        () => onServer(primary.url, 'select from pg_stat_replication'),
        (rows) => rows.length === 2,
      );
      assert.equal((await revokeOne()).err, '');
      assert.equal(await failoverOf(), undefined);
    } finally {
      backup.kill('SIGKILL');
      await onServer(other, 'drop subscription sub');
    }
  });

  test('configured standbys are enough for a warning', async () => {
    const away = { DATABASE_READ_URL: 'postgres://postgres@127.0.0.1:1/postgres' };
    assert.equal((await revokeOne(away)).err, warning);
    assert.equal((await failoverOf(away)).warning, true);
  });

  test('the command and doctor warn if a standby streams, even without privileges', async () => {
    standby = await primary.startReplica();
    await onServer(
      primary.url,
      `create role service login;
       grant usage, create on schema public to service;
       grant usage on schema owners to service;
       grant all on all tables in schema public, owners to service`,
    );
    const service = { DATABASE_URL: primary.url.replace('postgres@', 'service@') };
    for (const who of [{}, service]) {
      assert.equal((await revokeOne(who)).err, warning);
      const { ok, warning: isWarning, detail } = await failoverOf(who);
      assert.deepEqual([ok, isWarning], [true, true]);
      assert.match(detail, /^The standbys are asynchronous: a failover can bring back a key /);
    }

    // A check that lacks privileges fails alone.
    assert.deepEqual(await findingOf('connected shops', service), {
      check: 'connected shops',
      ok: false,
      detail: 'permission denied for schema platforms',
    });

    await onServer(primary.url, 'revoke select on pg_stat_replication from public');
    assert.equal(
      (await revokeOne(service)).err,
      'This login cannot see whether a failover can undo this; "retention doctor" explains why.\n',
    );
    assert.match((await failoverOf(service)).detail, /^This login cannot see whether standbys /);
  });

  // Must be the last test: it stops the primary.
  test('the old server lists keys that a failover restored, so that they can be revoked again', async () => {
    const shop = await createShop(store);
    const { id, key } = await createTestKey(store, shop.id);
    await until(
      () => onServer(standby.url, `select from api_keys where key_id = '${id}'`),
      (rows) => rows.length === 1,
    );
    // Frozen and then killed, it never receives what is sent from now on.
    standby.freeze();
    const revoke = ['keys', 'revoke', '--shop', String(shop.id), id];
    assert.equal((await run(revoke, { env: env() })).err, warning);
    await standby.stop('crash');
    await store.close();
    await primary.stop('crash');
    await standby.start();
    await onServer(standby.url, 'select pg_promote()');

    store = connectAll(standby.url);
    const service = await startTestService(store, { clock: systemClock });
    const send = async () => (await get(`${service.baseUrl}/api/external/v1/plans`, key)).status;
    try {
      assert.equal(await send(), 200);
      const list = ['keys', 'revoked', '--since', '1h', '--shop', String(shop.id), '--json'];
      const lost = await run(list, { env: env({ DATABASE_URL: standby.url }) });
      assert.deepEqual(JSON.parse(lost.out), []);

      // The old server comes back, read-only.
      await primary.start();
      await onServer(primary.url, 'alter system set default_transaction_read_only = on');
      await onServer(primary.url, 'select pg_reload_conf()');
      const [known, ...others] = JSON.parse((await run(list, { env: env() })).out);
      assert.deepEqual([known.shopId, known.keyId, others], [shop.id, id, []]);

      const again = await run(['keys', 'revoke', '--shop', String(known.shopId), known.keyId], {
        env: env({ DATABASE_URL: standby.url }),
      });
      assert.deepEqual([again.code, again.out, again.err], [0, `Key ${id} is revoked.\n`, '']);
      assert.equal(await send(), 401);
    } finally {
      await service.close();
    }
  });
});
