import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runProcess } from '../test/cli/process.ts';
import {
  type PostgresServer,
  findPostgresPrograms,
  startPostgres,
} from '../test/support/postgres.ts';
import { onServer } from '../test/support/replication.ts';
import { makeSynchronous } from '../test/support/synchronous.ts';
import { until } from '../test/support/until.ts';
import { type Work, secrets, startWork } from './work.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('a failover between two hosts of DATABASE_URL', { skip, timeout: 600_000 }, () => {
  let primary: PostgresServer;
  let standby: PostgresServer;
  let work: Work;
  before(async () => {
    const started = await startPostgres(['fsync=off']);
    assert.ok(started);
    primary = started;
    standby = await primary.startReplica();
    // The failover must not lose a key that an owner was shown.
    await makeSynchronous({ primary, standby });
    // The read-only host comes first.
    const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
    const url = primary.url.replace(`127.0.0.1:${primary.port}`, hosts);
    work = await startWork({ databaseUrl: url, directUrl: url });
    await work.untilProgress();
  });
  after(async () => {
    await work?.close();
    await standby?.destroy();
    await primary?.destroy();
  });

  const readiness = async () => (await fetch(`${work.baseUrl}/readyz`)).status;
  const retention = (...args: string[]) => runProcess(args, { env: work.env });
  const shop = () => ['--shop', String(work.shop.id)];

  test('refuses everything while only the standby is available', async () => {
    await primary.stop('crash');
    const [key] = work.keys;
    await until(
      () => work.statusWith(key),
      (status) => status === 500,
    );
    for (let each = 0; each < 100; each += 1) assert.equal(await work.statusWith(key), 500);
    assert.equal(await readiness(), 503);
    assert.equal(await work.createKey(work.visitor.copy()), undefined);
    const revoked = await retention('keys', 'revoke', ...shop(), 'key_0000000000000000');
    assert.deepEqual([revoked.code, revoked.out], [1, '']);
    assert.match(revoked.err, /^retention: DATABASE_URL: [^\n]*: it is a standby[^\n]*\n$/);
    assert.doesNotMatch(revoked.err, secrets);
  });

  test('finds the promoted standby by itself', async () => {
    await onServer(standby.url, 'select pg_promote()');
    await until(readiness, (status) => status === 200);
    const made = await until(
      () => work.createKey(work.visitor.copy()),
      (form) => form?.status === 201,
    );
    // Plans are read on a separate connection, which has to find it as well.
    await until(
      () => work.statusWith(made?.key),
      (status) => status === 200,
    );
    const revoked = await retention('keys', 'revoke', ...shop(), made?.id ?? '');
    assert.deepEqual([revoked.code, revoked.out], [0, `Key ${made?.id} is revoked.\n`]);
    assert.equal(await work.statusWith(made?.key), 401);
    const doctor = await retention('doctor');
    assert.equal(doctor.code, 0, doctor.out);
    assert.match(doctor.out, /^ok {4}schema: up to date$/m);
    await work.untilProgress();
  });

  test('loses no work, and attempts no write on the standby', async () => {
    await work.finish();
    await work.checkForms();
    const err = await work.stop();
    assert.doesNotMatch(err, /read-only|25006/);
    for (const said of [...work.imports, ...work.syncs]) {
      assert.doesNotMatch(said.err, /read-only|25006/);
    }
  });
});
