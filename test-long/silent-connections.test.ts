import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type PostgresServer,
  findPostgresPrograms,
  startPostgres,
} from '../test/support/postgres.ts';
import { until } from '../test/support/until.ts';
import { type Wire, startWire } from '../test/support/wire.ts';
import { type Work, startWork } from './work.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('connections that fall silent under load', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  let wire: Wire;
  let work: Work;
  before(async () => {
    const started = await startPostgres(['fsync=off']);
    assert.ok(started);
    database = started;
    wire = await startWire(() => database.port);
    const databaseUrl = database.url.replace(/:\d+(?=\/)/, `:${wire.port}`);
    work = await startWork({ databaseUrl, directUrl: database.url });
    await work.untilProgress();
  });
  after(async () => {
    await work?.close();
    await wire?.close();
    await database?.destroy();
  });

  const readiness = async () => (await fetch(`${work.baseUrl}/readyz`)).status;

  test('are replaced, and the server releases their locks', async () => {
    const form = await work.createKeyAnd(() => wire.silence());
    assert.equal(form?.status, 500);
    // Waits until the server has discarded what the first attempt wrote.
    assert.equal(await work.statusWith((await work.resend(form))?.key), 200);
    await work.untilProgress();
    assert.equal(await readiness(), 200);
  });

  test('requests fail at once while nothing answers, and succeed again afterwards', async () => {
    wire.silenceAll();
    const [key] = work.keys;
    await until(
      () => work.statusWith(key),
      (status) => status === 500,
    );
    // If each of these waited for the database, the loop would take very long.
    for (let each = 0; each < 200; each += 1) assert.equal(await work.statusWith(key), 500);
    assert.equal(await readiness(), 503);
    wire.restore();
    await until(readiness, (status) => status === 200);
    await work.untilProgress();
  });

  test('no work is lost', async () => {
    await work.finish();
    await work.checkForms();
    await work.stop();
  });
});
