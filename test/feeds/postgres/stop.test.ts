import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { launch } from '../../cli/process.ts';
import { until } from '../../support/until.ts';
import { onMerchant } from './merchant.ts';
import { createTables, planStream } from './source.ts';
import { openSuggesting } from './suggesting.ts';

onMerchant('a sync that is interrupted', (at) => {
  const service = openSuggesting(at);
  beforeEach(() => createTables(at.source));

  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    test(`says so, and exits as ${signal} asks`, async () => {
      const query = 'select *, pg_sleep(60)::text as nap from plans';
      const streams = [{ ...planStream, query }];
      const { id, code, err } = await service.connect(
        JSON.stringify({ url: at.source.url, streams }),
      );
      assert.deepEqual([code, err], [0, '']);
      const sync = launch(['sync', 'postgres', '--shop', id, '--once'], { env: at.env });
      await until(async () => {
        const [row] = await at.source.admin<{ count: number }[]>`
          select count(*)::int as count from pg_stat_activity
          where usename = ${at.source.reader} and query like 'fetch %' and state = 'active'`;
        return row?.count === 1;
      });
      sync.child.kill(signal);
      const ended = await sync.ended;
      assert.equal(ended.code, status, ended.err);
      assert.match(ended.err, /Interrupted: the next sync goes on from what is stored\./);
    });
  }
});
