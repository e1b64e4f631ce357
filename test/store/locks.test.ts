import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShopLocks } from '../../src/store/locks.ts';
import { connectAll } from '../../src/store/open.ts';
import { serverUrl } from '../support/databases.ts';

test(
  'further locks are taken on a new session after one is lost, however long its own are held',
  { skip: serverUrl === undefined && 'PostgreSQL is not available on this machine' },
  async () => {
    const { write, close } = connectAll(serverUrl as string);
    const here = new ShopLocks(write, { databaseUrl: serverUrl, dataDir: '' });
    const elsewhere = new ShopLocks(write, { databaseUrl: serverUrl, dataDir: '' });
    // No shops: a lock needs only a number.
    const [one, two] = [-1, -2];
    try {
      const work = 'tests of locks';
      const held = await here.lock(work, one);
      assert.ok(held);
      assert.equal(await here.lock(work, one), undefined);
      assert.equal(await elsewhere.lock(work, one), undefined);
      await write`
        select pg_terminate_backend(pid) from pg_locks
        where locktype = 'advisory' and (classid::bigint << 32 | objid::bigint) =
          hashtextextended(${`retention ${work} ${one}`}, 0)`;
      await assert.rejects(here.lock(work, two));
      const second = await here.lock(work, two);
      assert.ok(second);
      assert.equal(await elsewhere.lock(work, two), undefined);
      await held();
      // It is still on its own session.
      assert.equal(await elsewhere.lock(work, two), undefined);
      await second();
      const third = await elsewhere.lock(work, two);
      assert.ok(third);
      await third();
      // No connection was lost to the pool.
      await Promise.all(
        Array.from({ length: write.size }, () => write.begin((tx) => tx`select pg_sleep(0.01)`)),
      );
    } finally {
      await close();
    }
  },
);
