import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { type ImportCounts, importRecords } from '../../src/ingest/import.ts';
import type { Line } from '../../src/ingest/lines.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { launch, run, throwawayFolder } from '../cli/process.ts';
import { plan } from '../rest/records.ts';
import { isCluster, onOneDatabase, serverUrl } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { type TestShop, createShop, now, silentLog } from '../support/world.ts';

const isLinux = process.platform === 'linux';
const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };
const plans = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => plan({ id: from + index }));

onOneDatabase('an import that is stopped', (open) => {
  let store: Store;
  let shop: TestShop;
  before(async () => {
    store = open();
    shop = await createShop(store);
  });
  after(() => store.close());

  test('finishes its transaction, and says what it has done', async () => {
    const stopping = new AbortController();
    const counts: ImportCounts = {};
    async function* lines(): AsyncGenerator<Line[]> {
      const all = plans(1, 30).map((each, index) => ({
        number: index + 1,
        text: JSON.stringify(each),
      }));
      yield all.slice(0, 10);
      stopping.abort(new Error('stopped here'));
      yield all.slice(10);
    }
    const imported = importRecords([{ name: 'test', lines: lines() }], {
      sql: store.write,
      shop,
      feed: 'records',
      clock: new FixedClock(now),
      log: silentLog,
      linesPerTransaction: 10,
      signal: stopping.signal,
      counts,
      refuse: () => assert.fail(),
    });
    await assert.rejects(imported, /stopped here/);
    assert.deepEqual(counts, { plan: { ...none, stored: 10 } });
    const [feed] = await store.write`select completed_at from feeds where shop_id = ${shop.id}`;
    assert.deepEqual(feed, { completed_at: null });
  });
});

const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';

describe('retention import, interrupted', { skip }, () => {
  let store: Store;
  before(() => {
    store = connectAll(serverUrl as string);
  });
  after(() => store.close());

  const holdsUp = async (id: number) => {
    const [waiting] = isCluster
      ? await store.write`select from citus_lock_waits where blocking_gpid = ${id}`
      : await store.write`select from pg_stat_activity where ${id} = any(pg_blocking_pids(pid))`;
    return waiting !== undefined;
  };

  test('exits with 130, removes its temporary folder, and can be run again', async () => {
    const { id } = await createShop(store);
    const [folder, temporary] = [throwawayFolder(), throwawayFolder()];
    const file = path.join(folder, 'a.ndjson');
    // They wait for a subscription, in the temporary folder.
    const payments = Array.from({ length: 999 }, (_, index) => ({
      type: 'payment',
      id: index + 1,
      subscriptionId: 404,
      cycle: 'x'.repeat(100),
      status: 'pending',
      amount: '1.00',
      processedAt: '2026-11-01T00:00:00Z',
    }));
    const records = [plan(), ...payments, ...plans(1000, 500)];
    writeFileSync(file, records.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const env = { DATABASE_URL: serverUrl as string, LOG_LEVEL: 'warn', TMPDIR: temporary };
    const args = ['import', '--json', '--shop', String(id), file];

    const { ended } = await store.write.begin(async (tx) => {
      await tx`select lock_shop(${id})`;
      const [mine] = isCluster
        ? await tx<{ id: number }[]>`select citus_backend_gpid() as id`
        : await tx<{ id: number }[]>`select pg_backend_pid() as id`;
      const running = launch(args, { env });
      await until(() => holdsUp(mine?.id as number));
      // It gives way to whatever else the machine does, such as serving requests.
      const threads = isLinux
        ? readdirSync(`/proc/${running.child.pid}/task`)
        : [running.child.pid];
      for (const thread of threads) assert.ok(os.getPriority(Number(thread)) > os.getPriority());
      running.child.kill('SIGINT');
      // While its first transaction is in progress.
      await running.logged(/Stopping\. Press Ctrl-C again to stop at once\.\n/);
      return running;
    });
    const { code, out, err } = await ended;
    assert.equal(code, 130, err);
    assert.deepEqual(JSON.parse(out), {
      shop: id,
      interrupted: true,
      counts: { plan: { ...none, stored: 1 } },
    });
    assert.equal(
      err.replace(/^Stopping.*\n/, ''),
      'Interrupted: 1 record was imported, the others were not. To go on, run the same command again: what is stored comes out as unchanged.\n',
    );
    assert.deepEqual(readdirSync(temporary), []);

    const again = await run(args, { env });
    assert.deepEqual(JSON.parse(again.out).counts, {
      plan: { ...none, stored: 500, unchanged: 1 },
      payment: { ...none, refused: 999 },
    });
  });
});
