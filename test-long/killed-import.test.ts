import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateShop } from '../src/demo/generate.ts';
import type { Sql } from '../src/store/database.ts';
import { type Store, connectAll, openStore } from '../src/store/open.ts';
import { launch, migratedFolder, runProcess, throwawayFolder } from '../test/cli/process.ts';
import { assertSameShop } from '../test/model/dump.ts';
import { createShop, importAll, now } from '../test/support/world.ts';
import { serverUrl } from '../test/support/databases.ts';

/** About five lines per subscription, every seventh moved to the end, so that children wait for parents. */
function writeRecords(subscriptions: number): string {
  const currency = { currency: 'USD', minorDigits: 2 };
  const options = { subscriptions, seed: 11, endAt: Date.parse(now), ...currency };
  const records = [...generateShop(options)];
  const [moved, kept] = [0, 1].map((part) =>
    records.filter((_, index) => Number(index % 7 > 0) === part),
  );
  const file = path.join(throwawayFolder(), 'records.ndjson');
  const lines = [...(kept ?? []), ...(moved ?? [])].map((record) => `${JSON.stringify(record)}\n`);
  writeFileSync(file, lines.join(''));
  return file;
}

async function countStored(sql: Sql, shopId: number): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select (select count(*) from subscriptions where shop_id = ${shopId})
      + (select count(*) from payments where shop_id = ${shopId}) as rows`;
  return row?.rows ?? 0;
}

interface Attempt {
  readonly file: string;
  readonly shopId: number;
  readonly env: Readonly<Record<string, string>>;
  /** The number of stored rows after which the process is killed. */
  readonly after: number;
  /** A connection to the database of the process with this id; undefined until there is one. */
  watch(pid: number | undefined): Promise<Sql | undefined>;
}

/** @returns whether the import was killed before it finished */
async function importAndKill({ file, shopId, env, after, watch }: Attempt): Promise<boolean> {
  const { child, ended } = launch(['import', '--shop', String(shopId), file], { env });
  while (child.exitCode === null) {
    const sql = await watch(child.pid);
    if (sql && (await countStored(sql, shopId).catch(() => 0)) >= after) break;
    await sleep(2);
  }
  await sleep(randomInt(0, 60));
  child.kill('SIGKILL');
  const { signal, code, err } = await ended;
  assert.ok(signal === 'SIGKILL' || code === 0, err);
  return signal === 'SIGKILL';
}

const target = serverUrl;
const skip = target === undefined && 'PostgreSQL is not available on this machine';
const kills = 10;

test(
  'an import killed ten times and run again stores what an uninterrupted one stores',
  { skip },
  async (t) => {
    const store = connectAll(target ?? '') as Store;
    t.after(() => store.close());
    const env = { DATABASE_URL: target ?? '', LOG_LEVEL: 'error' };
    const file = writeRecords(3300);
    const [shop, other] = [await createShop(store), await createShop(store)];
    const whole = await runProcess(['import', '--shop', String(other.id), file], { env });
    assert.equal(whole.code, 0, whole.err);
    const total = await countStored(store.write, other.id);

    let killed = 0;
    for (let time = 0; time < kills; time += 1) {
      const after = Math.floor((total * time) / kills);
      const watch = async () => store.write;
      const attempt = { file, shopId: shop.id, env, after, watch };
      if (await importAndKill(attempt)) killed += 1;
    }
    assert.ok(killed > 0, 'every import was done before it was killed');

    const last = await runProcess(['import', '--shop', String(shop.id), file], { env });
    assert.equal(last.code, 0, last.err);
    await assertSameShop(store.write, shop.id, other.id);
  },
);

test('an import into the embedded database killed and run again stores the same', async (t) => {
  const dataDir = migratedFolder();
  const env = { RETENTION_DATA_DIR: dataDir, LOG_LEVEL: 'error' };
  const options = { databaseUrl: undefined, dataDir, role: 'command' } as const;
  const file = writeRecords(1100);
  const created = await openStore(options);
  const [shop, other] = [await createShop(created), await createShop(created)];
  await importAll(created, other, readFileSync(file, 'utf8').trim().split('\n'));
  await created.close();

  let watched: Omit<Store, 'failed'> | undefined;
  /** The importing process runs the database, and lets others connect once it is open. */
  const watch = async (pid: number | undefined) => {
    if (watched) return watched.primary.keys;
    try {
      const record = JSON.parse(readFileSync(path.join(dataDir, 'server.json'), 'utf8'));
      if (record.pid === pid) watched = connectAll(record.socketPath);
    } catch {
      // The record is written once the database is open.
    }
    return watched?.primary.keys;
  };
  await importAndKill({ file, shopId: shop.id, env, after: 1500, watch });
  await watched?.close();

  const last = await runProcess(['import', '--shop', String(shop.id), file], { env });
  assert.equal(last.code, 0, last.err);
  const store = await openStore(options);
  t.after(() => store.close());
  await assertSameShop(store.write, shop.id, other.id);
});
