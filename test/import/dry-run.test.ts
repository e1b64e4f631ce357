import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { rehearse } from '../../src/metrics/rehearse.ts';
import { generateShop } from '../../src/demo/generate.ts';
import type { Summary } from '../../src/metrics/figures.ts';
import type { Transaction } from '../../src/store/database.ts';
import { type Store, connectAll, openStore } from '../../src/store/open.ts';
import { copyShop } from '../../src/store/shop-copy.ts';
import { launch, migratedFolder, run, runProcess, throwawayFolder } from '../cli/process.ts';
import { dumpShop } from '../model/dump.ts';
import { plan, subscription } from '../rest/records.ts';
import { onEveryDatabase, serverUrl } from '../support/databases.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { createShop, importAll, now } from '../support/world.ts';

const none = { stored: 0, replaced: 0, deleted: 0, unchanged: 0, stale: 0, refused: 0 };

onEveryDatabase('a copy of a shop', (open, name) => {
  let store: Store;
  let copy: Store;
  before(async () => {
    store = open();
    copy = await openStore({ databaseUrl: undefined, dataDir: migratedFolder(), role: 'command' });
  });
  after(async () => {
    await store.close();
    await copy.close();
  });

  test('has all that the shop has, and may be imported into', async () => {
    const shop = await createShop(store);
    const endAt = Date.parse(now);
    const currency = { currency: 'USD', minorDigits: 2 };
    // More payments than fit on a page.
    const records = [...generateShop({ subscriptions: 150, seed: 5, endAt, ...currency })];
    const dated = records.map((record) => ({ ...record, exportedAt: '2026-11-19T00:00:00Z' }));
    await importAll(store, shop, dated, true);
    const isEmbedded = name === 'embedded';
    await copyShop(store.write, copy.write, { shopId: shop.id, isEmbedded });
    assert.deepEqual(await dumpShop(copy.write, shop.id), await dumpShop(store.write, shop.id));

    const changes = [
      ...records.slice(0, 900).map(({ type, id }) => ({ type: 'delete', record: type, id })),
      subscription(1, { planId: 12, customerId: 1 }),
      plan({ id: 12 }),
    ];
    const [here, there] = [
      await importAll(store, shop, changes),
      await importAll(copy, shop, changes),
    ];
    assert.deepEqual(here, there);
    assert.deepEqual(await dumpShop(copy.write, shop.id), await dumpShop(store.write, shop.id));
  });

  test('dates changes by what exports showed before it was made', async () => {
    const shop = await createShop(store);
    const createdAt = '2026-11-01T00:00:00Z';
    const exported = (status: string, exportedAt: string) =>
      subscription(1, { status, createdAt, updatedAt: null, preserve: 'history', exportedAt });
    await importAll(store, shop, [plan(), exported('active', '2026-11-10T00:00:00Z')], true);
    await copyShop(store.write, copy.write, { shopId: shop.id, isEmbedded: name === 'embedded' });
    for (const each of [store, copy]) {
      await importAll(each, shop, [exported('cancelled', '2026-11-15T00:00:00Z')], true);
    }
    const dump = await dumpShop(copy.write, shop.id);
    assert.deepEqual(dump, await dumpShop(store.write, shop.id));
    assert.match(dump['status_events']?.join() ?? '', /"at": "2026-11-15T00:00:00/);
  });

  test('is of one state, and refused if there is none', async () => {
    const shop = await createShop(store);
    await importAll(store, shop, [plan()]);
    let id = 12;
    // Each time that something is copied, the shop has just changed.
    const whileImporting = new Proxy(copy.write, {
      get: (sql, member) =>
        member === 'begin'
          ? async (work: (tx: Transaction) => Promise<unknown>) => {
              await importAll(store, shop, [plan({ id: (id += 1) })]);
              return sql.begin(work);
            }
          : Reflect.get(sql, member),
    });
    const options = { shopId: shop.id, isEmbedded: true };
    await assert.rejects(copyShop(store.write, whileImporting, options), {
      name: 'CommandError',
      message: `Shop ${shop.id} changed while it was read, 3 times. Try again when nothing else is imported into it.`,
    });
    await copyShop(store.write, copy.write, options);
    assert.deepEqual(await dumpShop(copy.write, shop.id), await dumpShop(store.write, shop.id));
  });
});

const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';

describe('retention import --dry-run', { skip }, () => {
  test('shows counts and figures, changes nothing, and waits for no other import', async (t) => {
    const store = connectAll(serverUrl as string);
    t.after(() => store.close());
    const today = Date.now();
    const shop = await createShop(store);
    const isoDay = (ago: number) => new Date(today - ago * 86_400_000).toISOString();
    const recent = (id: number, over: object = {}) =>
      subscription(id, { customerId: id, createdAt: isoDay(9), updatedAt: isoDay(9), ...over });
    const earlier = [plan(), ...[1, 2, 3, 4, 5].map((id) => recent(id))];
    await importAll(store, shop, earlier, false, systemClock);
    const [folder, temporary] = [throwawayFolder(), throwawayFolder()];
    const records = [
      recent(1, { status: 'paused', updatedAt: isoDay(1) }),
      ...[2, 3, 4, 6].map((id) => recent(id)),
      { type: 'subscription', id: 7 },
    ];
    const file = path.join(folder, 'a.ndjson');
    writeFileSync(file, records.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const stored = await dumpShop(store.write, shop.id);

    const { code, out, err } = await store.write.begin(async (tx) => {
      await tx`select lock_shop(${shop.id})`;
      const env = { DATABASE_URL: serverUrl as string, LOG_LEVEL: 'warn', TMPDIR: temporary };
      const args = ['--dry-run', '--complete', '--json', file];
      return run(['import', '--shop', String(shop.id), ...args], { env, cwd: folder });
    });
    assert.equal(code, 3, err);
    const { figures, ...rest } = JSON.parse(out);
    assert.deepEqual(rest, {
      shop: shop.id,
      dryRun: true,
      counts: {
        subscription: { ...none, stored: 1, replaced: 1, unchanged: 3, deleted: 1, refused: 1 },
      },
      snapshot: {
        kind: 'deleted',
        deleted: { subscription: 1 },
        plansInUse: 0,
        newer: 0,
        shrunk: [],
      },
    });
    const ofInterest = ({ activeSubscribers, pausedSubscribers, mrr }: Record<string, number>) => [
      activeSubscribers,
      pausedSubscribers,
      mrr,
    ];
    assert.deepEqual(ofInterest(figures.before), [5, 0, 153]);
    assert.deepEqual(ofInterest(figures.after), [4, 1, 122.4]);
    assert.match(err, /a\.ndjson:6: .*\nThis was a dry run: nothing was stored\.\n$/);
    assert.deepEqual(await dumpShop(store.write, shop.id), stored);
    assert.deepEqual([readdirSync(temporary), readdirSync(folder)], [[], ['a.ndjson']]);
  });

  test('counts in its figures what the import dates itself', async (t) => {
    const store = connectAll(serverUrl as string);
    t.after(() => store.close());
    const shop = await createShop(store);
    const createdAt = new Date(Date.now() - 86_400_000).toISOString();
    const undated = (over: object) => subscription(1, { createdAt, updatedAt: null, ...over });
    await importAll(store, shop, [plan(), undated({})], false, systemClock);
    const options = { isEmbedded: false, signal: new AbortController().signal };
    const figures = await rehearse(store.write, shop, options, (write, clock) => {
      const cancelled = undated({ status: 'cancelled', preserve: 'history' });
      return importAll({ ...store, write }, shop, [cancelled], true, clock);
    });
    const ofInterest = (each: Summary) => [
      each.activeSubscribers,
      each.cancelled30d,
      each.churnRate30d,
    ];
    assert.deepEqual(ofInterest(figures.before), [1, 0, 0]);
    assert.deepEqual(ofInterest(figures.after), [0, 1, 1]);
  });
});

onOneOwnDatabase('retention import --dry-run that is stopped', (open, targetOf) => {
  test(
    'leaves no copy behind when it ends at once, and removes that of a killed one',
    { skip },
    async (t) => {
      const store = open();
      t.after(() => store.close());
      const shop = await createShop(store);
      const [folder, temporary] = [throwawayFolder(), throwawayFolder()];
      const file = path.join(folder, 'plans.ndjson');
      writeFileSync(file, JSON.stringify(plan()));
      const env = { DATABASE_URL: targetOf(), LOG_LEVEL: 'warn', TMPDIR: temporary };
      const args = ['import', '--shop', String(shop.id), '--dry-run', file];
      // Only a copy reads this table, and waits for it.
      const holder = await store.write.reserve();
      await holder`begin`;
      await holder`lock table export_dates in access exclusive mode`;
      const begin = async () => {
        const running = launch(args, { env });
        await until(() =>
          readdirSync(temporary).some((name) => name.startsWith('retention-socket-')),
        );
        return running;
      };

      const stopped = await begin();
      stopped.child.kill('SIGINT');
      await stopped.logged(/Press Ctrl-C again to stop at once/);
      stopped.child.kill('SIGINT');
      assert.equal((await stopped.ended).signal, 'SIGINT');
      assert.deepEqual(readdirSync(temporary), []);

      const lost = await begin();
      lost.child.kill('SIGHUP');
      assert.equal((await lost.ended).signal, 'SIGHUP');
      assert.deepEqual(readdirSync(temporary), []);

      const killed = await begin();
      killed.child.kill('SIGKILL');
      await killed.ended;
      assert.ok(readdirSync(temporary).some((name) => name.startsWith('retention-copy-')));
      await holder`rollback`;
      holder.release();
      const { code, err } = await runProcess(args, { env });
      assert.equal(code, 0, err);
      assert.deepEqual(readdirSync(temporary), []);
    },
  );
});
