import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Sql, arrayText } from '../src/store/database.ts';
import { openClient } from '../test/support/client.ts';
import {
  type PostgresServer,
  findPostgresPrograms,
  startPostgres,
} from '../test/support/postgres.ts';
import { until } from '../test/support/until.ts';
import { type Work, startWork } from './work.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const rounds = 36;

describe('connections terminated under load', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  let admin: Sql;
  let work: Work;
  before(async () => {
    const started = await startPostgres(['fsync=off']);
    assert.ok(started);
    database = started;
    admin = openClient(database.url);
    work = await startWork({ databaseUrl: database.url, directUrl: database.url });
    await work.untilProgress();
  });
  after(async () => {
    await work?.close();
    await admin?.end(0);
    await database?.destroy();
  });

  const ways = {
    pg_terminate_backend: (pids: readonly number[]) =>
      admin`select pg_terminate_backend(pid) from unnest(${arrayText(pids)}::int[]) pid`,
    // PostgreSQL then ends all of its processes and restarts.
    'kill -9': async ([pid = 0]: readonly number[]) => process.kill(pid, 'SIGKILL'),
  };
  /** A statement might still get the lock and succeed before the signal arrives. */
  const untilGone = (pids: readonly number[]) =>
    until(() =>
      admin`select from pg_stat_activity where pid in (select unnest(${arrayText(pids)}::int[]))`.then(
        ({ length }) => length === 0,
        // Restarting.
        () => true,
      ),
    );
  for (const [how, disrupt] of Object.entries(ways)) {
    test(`tells the owner that a key was not created: ${how}`, async () => {
      const form = await work.createKeyAnd(async (pids) => {
        await disrupt(pids);
        await untilGone(pids);
      });
      assert.ok(form);
      assert.deepEqual([form.status, form.key], [500, undefined]);
      const keys = await until(() => work.listKeys().catch(() => undefined));
      assert.ok(!keys?.some(({ id }) => id === form.id));
      const again = await work.resend(form);
      assert.equal(await work.statusWith(again?.key), 200);
    });
  }
  test(`${rounds} rounds of terminated connections lose no work`, async () => {
    const isAnyBroken = () => work.imports.some(({ code }) => code === 1);
    for (let round = 0; round < rounds || !isAnyBroken(); round += 1) {
      await admin`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'retention %' and application_name <> 'retention test'
          and random() < 0.7`.catch(() => {});
      await sleep(Math.random() * 300);
    }
    await work.untilProgress();
    await work.finish();
    await work.untilQuiet();
    const keys = new Set((await work.listKeys()).map(({ id }) => id));
    const made = new Set(work.forms.filter(({ status }) => status === 201).map(({ id }) => id));
    for (const { id, status, key } of work.forms) {
      assert.equal(key !== undefined, status === 201);
      assert.ok(status === 201 || status === 500);
      // A form that failed may have succeeded when it was sent again.
      assert.equal(keys.has(id), made.has(id), `${id} ${status}`);
    }
    const { key } = work.forms.findLast((form) => form.key !== undefined) ?? {};
    assert.equal(await work.statusWith(key), 200);
    await work.stop();
  });
});
