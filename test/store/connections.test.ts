import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { type ConnectOptions, type Sql, connect } from '../../src/store/database.ts';
import { openClient } from '../support/client.ts';
import { until } from '../support/until.ts';
import { startWire } from '../support/wire.ts';

const target = process.env['TEST_POSTGRES'];
const skip = target === undefined && 'PostgreSQL is not available on this machine';
const kinds = {
  'shared, reading': { isShared: true, readOnly: true },
  'one at a time, reading': { readOnly: true },
  'one at a time, writing': {},
} as const;

describe('connections', { skip }, () => {
  let admin: Sql;
  before(() => {
    admin = openClient(target as string);
  });
  after(() => admin.end());

  const one = async (sql: Sql) => (await sql<{ one: number }[]>`select 1 as one`)[0]?.one;
  const pidOf = async (sql: Sql) =>
    (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0;
  const end = async (pid: number) => {
    await admin`select pg_terminate_backend(${pid})`;
    await until(
      async () => (await admin`select from pg_stat_activity where pid = ${pid}`).length === 0,
    );
  };

  const untilAsleep = (pid: () => number) =>
    until(async () => {
      const [row] = await admin`
        select from pg_stat_activity where pid = ${pid()} and wait_event = 'PgSleep'`;
      return row !== undefined;
    });

  for (const [kind, options] of Object.entries(kinds)) {
    const open = (port = new URL(target as string).port): Sql =>
      connect(Object.assign(new URL(target as string), { port }).href, {
        name: 'connections',
        connections: 'isShared' in options ? 1 : 2,
        statementTimeoutMilliseconds: 5_000,
        ...options,
      } satisfies ConnectOptions);

    test(`${kind}: replaces a connection that the server closed`, async (t) => {
      const sql = open();
      t.after(() => sql.end());
      for (let round = 0; round < 10; round += 1) {
        const pid = await pidOf(sql);
        await end(pid);
        await until(() => sql.statementsInFlight === 0);
        const next = await until(() => pidOf(sql).catch(() => undefined));
        assert.notEqual(next, pid);
      }
    });

    test(`${kind}: ${'readOnly' in options ? 'retries' : 'fails'} statements of a lost connection`, async (t) => {
      const sql = open();
      t.after(() => sql.end());
      const pid = await pidOf(sql);
      const answer = sql<{ ok: boolean }[]>`
        select pg_backend_pid() <> ${pid} or pg_sleep(60) is null as ok`.then<unknown, unknown>(
        ([row]) => row?.ok,
        (error) => (error as { code?: string }).code,
      );
      await untilAsleep(() => pid);
      await end(pid);
      assert.equal(await answer, 'readOnly' in options ? true : 'CONNECTION_LOST');
      assert.equal(await one(sql), 1);
    });

    test(`${kind}: replaces a silent connection`, async (t) => {
      const wire = await startWire(() => Number(new URL(target as string).port));
      const sql = open(String(wire.port));
      t.after(async () => {
        await sql.end(0);
        await wire.close();
      });
      assert.equal(await one(sql), 1);
      wire.silence();
      const answer = await one(sql).catch((error: Error & { code?: string }) => error.code);
      assert.equal(answer, 'readOnly' in options ? 1 : 'CONNECTION_LOST');
      assert.equal(await one(sql), 1);
    });

    test(`${kind}: rejects statements at once while the server does not answer, then recovers`, async (t) => {
      const wire = await startWire(() => Number(new URL(target as string).port));
      const sql = open(String(wire.port));
      t.after(async () => {
        await sql.end(0);
        await wire.close();
      });
      // To have two connections, unless one is shared.
      await Promise.all([sql`select pg_sleep(0.1)`, sql`select pg_sleep(0.1)`]);
      wire.silenceAll();
      await assert.rejects(one(sql));
      // Each would wait for a connection attempt or a timeout.
      for (let each = 0; each < 1_000; each += 1) await assert.rejects(one(sql));
      // If it were sent on the other silent connection, it would be lost with it.
      const last = one(sql);
      wire.restore();
      await assert.rejects(last, { code: 'NO_ANSWER' });
      await until(() => one(sql).catch(() => 0));
    });

    test(`${kind}: does not interrupt a slow statement`, async (t) => {
      const sql = open();
      t.after(() => sql.end());
      const pid = await pidOf(sql);
      await sql`select pg_sleep(4.5)`;
      assert.equal(await pidOf(sql), pid);
    });
  }

  const openForWriting = (connections = 1) =>
    connect(target as string, {
      name: 'connections',
      connections,
      statementTimeoutMilliseconds: 0,
    });

  test('a transaction on a lost connection fails and is rolled back', async (t) => {
    const sql = openForWriting();
    t.after(() => sql.end());
    await sql`create table if not exists connections_lost (id int)`;
    t.after(() => admin`drop table connections_lost`);
    const work = sql.begin(async (tx) => {
      await tx`insert into connections_lost values (1)`;
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      await end(row?.pid ?? 0);
      await tx`insert into connections_lost values (2)`;
    });
    await assert.rejects(work, { code: 'CONNECTION_LOST' });
    assert.deepEqual([...(await sql`select from connections_lost`)], []);
  });

  test('a transaction on a silent connection does not keep its locks', async (t) => {
    const port = Number(new URL(target as string).port);
    const wire = await startWire(() => port);
    const address = Object.assign(new URL(target as string), { port: wire.port });
    const sql = openClient(address.href);
    await admin`create table connections_held (id int)`;
    t.after(async () => {
      await sql.end(0);
      await wire.close();
      await admin`drop table connections_held`;
    });
    const work = sql.begin(async (tx) => {
      await tx`lock table connections_held`;
      wire.silence();
      await tx`select 1`;
    });
    await assert.rejects(work, { code: 'CONNECTION_LOST' });
    await until(
      () => admin`select from pg_locks where relation = 'connections_held'::regclass`,
      ({ length }) => length === 0,
    );
  });

  test('a transaction that ignores a failed statement is not reported as committed', async (t) => {
    const sql = openForWriting();
    t.after(() => sql.end());
    await assert.rejects(
      sql.begin((tx) => tx`select 1 / 0`.catch(() => 'never mind')),
      /so it was rolled back/,
    );
    assert.equal(await one(sql), 1);
  });

  test('rejects statements sent after their transaction has ended', async (t) => {
    const sql = openForWriting();
    t.after(() => sql.end());
    const tx = await sql.begin(async (inner) => ({ inner }));
    await assert.rejects(Promise.resolve(tx.inner`select 1`), /transaction is over/);
    await assert.rejects(tx.inner.script('select 1'), /transaction is over/);
  });

  test('a read-only transaction does not continue on another connection either', async (t) => {
    const sql = connect(target as string, {
      name: 'connections',
      connections: 2,
      readOnly: true,
      statementTimeoutMilliseconds: 0,
    });
    t.after(() => sql.end());
    let pid = 0;
    const work = sql.begin('isolation level repeatable read', async (tx) => {
      pid = (await tx<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0;
      const elsewhere = tx`select pg_backend_pid() <> ${pid} or pg_sleep(60) is null`;
      await assert.rejects(Promise.resolve(elsewhere), { code: 'CONNECTION_LOST' });
    });
    const isLost = assert.rejects(work, { code: 'CONNECTION_LOST' });
    await untilAsleep(() => pid);
    await end(pid);
    await isLost;
    assert.equal(await one(sql), 1);
  });

  test('does not reuse a connection with an open transaction', async (t) => {
    const sql = openForWriting();
    t.after(() => sql.end());
    const reserved = await sql.reserve();
    await reserved`begin`;
    await reserved`set local application_name = 'left open'`;
    reserved.release();
    const [row] = await sql<{ name: string }[]>`
      select current_setting('application_name') as name`;
    assert.equal(row?.name, 'retention connections');
    await assert.rejects(sql.script('begin; select 1 / 0; commit'), { code: '22012' });
    assert.equal(await one(sql), 1);
  });

  test('reads a table that was altered after a statement was prepared', async (t) => {
    const sql = openForWriting();
    t.after(() => sql.end());
    await sql`create table connections_changing (id int)`;
    t.after(() => admin`drop table connections_changing`);
    const read = () => sql`select * from connections_changing`;
    await sql`insert into connections_changing values (1)`;
    assert.deepEqual([...(await read())], [{ id: 1 }]);
    await sql`alter table connections_changing add column more int default 2`;
    assert.deepEqual([...(await read())], [{ id: 1, more: 2 }]);
    await sql`deallocate all`;
    assert.deepEqual([...(await read())], [{ id: 1, more: 2 }]);
  });

  test('rejects further statements while ten thousand wait', async (t) => {
    const sql = openForWriting();
    t.after(() => sql.end(0));
    const held = await sql.reserve();
    const waiting = Array.from({ length: 10_000 }, () => one(sql));
    await assert.rejects(one(sql), /10000 statements are already waiting for the database/);
    held.release();
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([1]));
  });

  test('values are returned as they were written', async (t) => {
    const sql = openForWriting();
    t.after(() => sql.end());
    const at = new Date('2026-02-28T23:59:59.999Z');
    const part = sql`${2}::int + ${3}::int`;
    const [row] = await sql`
      select ${'a\'b"\\'} as text, ${2 ** 53 - 1}::bigint as id, ${true} as yes, ${null}::int as none,
        ${at} as at, ${at} + interval '1 millisecond' as later, ${Buffer.from([0, 255])}::bytea = '\\x00ff' as bytes,
        (${part}) as sum, 1.50::numeric as price, '{"a": [1]}'::json as json, '{}'::text[] as array`;
    assert.deepEqual(row, {
      text: 'a\'b"\\',
      id: 2 ** 53 - 1,
      yes: true,
      none: null,
      at,
      later: new Date('2026-03-01T00:00:00.000Z'),
      bytes: true,
      sum: 5,
      price: '1.50',
      json: { a: [1] },
      array: '{}',
    });
    await assert.rejects(Promise.resolve(sql`select ${undefined as never}`), /undefined/);
  });
});

// If it ended early, the exit status would be 13, because only the pending wait keeps it alive.
test('a process that waits for a connection does not exit', () => {
  const script = `
    import { Connections } from ${JSON.stringify(new URL('../../src/store/connections/connections.ts', import.meta.url))};
    const session = () => ({ isOpen: true, inFlight: 0, isInTransaction: false, close() {}, destroy() {} });
    const opened = [session(), undefined, session()];
    const connections = new Connections({
      max: 2,
      async open() {
        const next = opened.shift();
        if (!next) throw new Error('refused');
        return next;
      },
    });
    const held = await connections.acquire();
    const waiting = connections.acquire();
    // One connection cannot be opened, and then the other is lost.
    await new Promise(setImmediate);
    connections.lost(held, new Error('ended'));
    await waiting;
    await connections.end(0);
    console.log('connected');`;
  const args = ['--input-type=module', '--eval', script];
  assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), 'connected\n');
});
