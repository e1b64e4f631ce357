import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { launch } from '../../cli/process.ts';
import { places } from '../../support/empty-database.ts';
import { until } from '../../support/until.ts';
import { type Source, createSource, createTables, planStream } from './source.ts';
import { type Suggesting, openSuggesting } from './suggesting.ts';

const place = places[1][1]?.();
const skip = !place && 'PostgreSQL is not available on this machine';

describe('a sync that is interrupted', { skip }, () => {
  let service: Suggesting;
  let source: Source;

  before(async () => {
    service = await openSuggesting((await place?.target()) ?? '');
  });
  beforeEach(async () => {
    source = await createSource();
    await createTables(source);
  });
  afterEach(() => source.remove());
  after(async () => {
    await service.close();
    await place?.remove();
  });

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    test(`says so, and exits as ${signal} asks`, async () => {
      const query = 'select *, pg_sleep(60)::text as nap from plans';
      const streams = [{ ...planStream, query }];
      const { id, code, err } = await service.connect(JSON.stringify({ url: source.url, streams }));
      assert.deepEqual([code, err], [0, '']);
      const sync = launch(['sync', 'postgres', '--shop', id, '--once'], { env: service.env });
      await until(async () => {
        const [row] = await source.admin<{ count: number }[]>`
          select count(*)::int as count from pg_stat_activity
          where usename = ${source.reader} and query like 'fetch %' and state = 'active'`;
        return row?.count === 1;
      });
      sync.child.kill(signal);
      const ended = await sync.ended;
      assert.equal(ended.code, status, ended.err);
      assert.match(ended.err, /Interrupted: the next sync goes on from what is stored\./);
    });
  }
});
