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

const skip = findPostgresPrograms() === undefined && 'PostgreSQL could not be had on this machine';

describe(
  'connections that fall silent while everything is at work',
  { skip, timeout: 600_000 },
  () => {
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
      await work.progressed();
    });
    after(async () => {
      await work?.close();
      await wire?.close();
      await database?.destroy();
    });

    const readiness = async () => (await fetch(`${work.baseUrl}/readyz`)).status;

    test('all of them are replaced, and what they held in the database is let go', async () => {
      const form = await work.makeKeyAnd(() => wire.silence());
      assert.equal(form?.status, 500);
      // It waits for as long as the server keeps what the first one has written.
      assert.equal(await work.statusWith((await work.resend(form))?.key), 200);
      await work.progressed();
      assert.equal(await readiness(), 200);
    });

    test('while nothing answers, requests are refused and none waits; after that all is well', async () => {
      wire.silenceAll();
      const [key] = work.keys;
      await until(
        () => work.statusWith(key),
        (status) => status === 500,
      );
      // Were each to wait for its own answer from the database, the silence would have to last for long.
      for (let each = 0; each < 200; each += 1) assert.equal(await work.statusWith(key), 500);
      assert.equal(await readiness(), 503);
      wire.mend();
      await until(readiness, (status) => status === 200);
      await work.progressed();
    });

    test('nothing is left undone', async () => {
      await work.finish();
      await work.checkForms();
      await work.stop();
    });
  },
);
