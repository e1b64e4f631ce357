import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Sql } from '../../../src/store/database.ts';
import { type Store, connectAll, openStore } from '../../../src/store/open.ts';
import { launch, migratedFolder, run, throwawayFolder } from '../../cli/process.ts';
import { assertSameShop } from '../../model/dump.ts';
import { createShop } from '../../support/world.ts';
import { until } from '../../support/until.ts';
import { billed, contract, failure, line, order, refund, success } from './nodes.ts';
import { flat, grouped, plans, randomOf, sample, samplePath, shuffled } from './samples.ts';
import { serverUrl } from '../../support/databases.ts';

const target = serverUrl;
const skip = target === undefined && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL: target ?? '', LOG_LEVEL: 'error' };

describe('retention import --from shopify', { skip }, () => {
  let store: Store;
  before(() => {
    store = connectAll(target ?? '') as Store;
  });
  after(() => store.close());

  const prepare = async () => {
    const shop = await createShop(store);
    const folder = throwawayFolder();
    const take = (files: readonly string[], input = '') =>
      run(['import', '--shop', String(shop.id), '--from', 'shopify', ...files], {
        env,
        cwd: folder,
        input,
      });
    return { shop, folder, take };
  };

  test('reports each refused line, and saves only its GID', async () => {
    const { folder, take } = await prepare();
    writeFileSync(path.join(folder, 'a.jsonl'), readFileSync(samplePath(grouped)));
    writeFileSync(path.join(folder, 'b.jsonl'), readFileSync(samplePath('bad/orphan_child.jsonl')));
    const { code, out, err } = await take(['a.jsonl', 'b.jsonl', samplePath(plans)]);
    assert.equal(code, 3);
    assert.equal(
      err,
      [
        "a.jsonl:26: the contract is in CAD, and the shop's currency is USD",
        "a.jsonl:27: currentPrice is in CAD, and the shop's currency is USD",
        'a.jsonl:28: its SubscriptionContract was refused',
        'b.jsonl:7: its SubscriptionContract 9999 is not in the input',
        'Refused lines and their reasons are in a.jsonl.refused.ndjson, b.jsonl.refused.ndjson.',
        '',
      ].join('\n'),
    );
    // Two contracts, with an attempt each, are in both files.
    assert.equal(
      out,
      'TYPE          STORED  REPLACED  DELETED  UNCHANGED  STALE  REFUSED\n' +
        'subscription  10      0         0        2          0      1\n' +
        'line          0       0         0        0          0      2\n' +
        'payment       9       0         0        2          0      1\n' +
        'plan          8       0         0        0          0      0\n',
    );
    const kept = readFileSync(path.join(folder, 'b.jsonl.refused.ndjson'), 'utf8');
    assert.deepEqual(JSON.parse(kept), {
      file: 'b.jsonl',
      line: 7,
      reason: 'its SubscriptionContract 9999 is not in the input',
      text: 'gid://shopify/SubscriptionLine/00000000-0000-4000-8000-000000000099',
    });
  });

  test('reads gzipped files and standard input', async () => {
    const [gzipped, piped, plain] = [await prepare(), await prepare(), await prepare()];
    const texts = [readFileSync(samplePath(flat)), readFileSync(samplePath(plans))];
    writeFileSync(path.join(gzipped.folder, 'contracts.jsonl.gz'), gzipSync(texts[0] ?? ''));
    writeFileSync(path.join(gzipped.folder, 'plans.jsonl.gz'), gzipSync(texts[1] ?? ''));
    assert.equal((await gzipped.take(['contracts.jsonl.gz', 'plans.jsonl.gz'])).code, 3);
    assert.equal((await piped.take([samplePath(plans), '-'], String(texts[0]))).code, 3);
    assert.equal((await plain.take([samplePath(flat), samplePath(plans)])).code, 3);
    await assertSameShop(store.write, gzipped.shop.id, plain.shop.id);
    await assertSameShop(store.write, piped.shop.id, plain.shop.id);
  });

  test('leaves no temporary files behind', async () => {
    const { folder, shop } = await prepare();
    const args = ['import', '--shop', String(shop.id), '--from', 'shopify', samplePath(plans)];
    const { code } = await run(args, { env: { ...env, TMPDIR: folder } });
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('stores the same after being killed repeatedly and run again', async () => {
    const [shop, other] = [await createShop(store), await createShop(store)];
    await killAndCompare({
      file: writeContracts(3000),
      shopId: shop.id,
      otherId: other.id,
      env: { ...env, TMPDIR: throwawayFolder() },
      sql: store.write,
    });
  });
});

test('an import from Shopify into the embedded database stores the same after being killed', async () => {
  const dataDir = migratedFolder();
  const embedded = { RETENTION_DATA_DIR: dataDir, LOG_LEVEL: 'error', TMPDIR: throwawayFolder() };
  const options = { databaseUrl: undefined, dataDir, role: 'command' } as const;
  const created = await openStore(options);
  const [shop, other] = [await createShop(created), await createShop(created)];
  await created.close();
  const file = writeContracts(600);
  const args = (id: number) => ['import', '--shop', String(id), '--from', 'shopify', file];
  const { child, ended } = launch(args(shop.id), { env: embedded });
  // The import stores rows soon after the database is open.
  await until(() => existsSync(path.join(dataDir, 'server.json')) || child.exitCode !== null);
  const timer = setTimeout(() => child.kill('SIGKILL'), randomInt(200, 1500));
  await ended;
  clearTimeout(timer);
  for (const { id } of [shop, other]) {
    const { code, err } = await run(args(id), { env: embedded });
    assert.equal(code, 0, err);
  }
  const store = await openStore(options);
  await assertSameShop(store.write, shop.id, other.id);
  await store.close();
});

/**
 * Contracts and plans in random order, enough for several transactions. Half of the contracts show their first
 * order, and some attempts an order, of which some are refunded.
 */
function writeContracts(count: number): string {
  const random = randomOf(3);
  const refundsOf = (number: number) =>
    number % 7 === 0 ? [refund(number, '5.25', '2026-10-01T09:00:00Z')] : [];
  const many = Array.from({ length: count }, (_, index) => index + 10_000).flatMap((id) => [
    contract(id, {
      status: id % 4 === 0 ? 'PAUSED' : 'ACTIVE',
      originOrder:
        id % 2 === 0
          ? order(70_000 + id, `${18 + (id % 10)}.4`, { refunds: refundsOf(id) })
          : { id: `gid://shopify/Order/${70_000 + id}` },
    }),
    line(id, id, {
      sellingPlanId: id % 3 === 0 ? null : `gid://shopify/SellingPlan/${300 + (id % 9)}`,
    }),
    ...Array.from({ length: id % 5 }, (_each, number) => {
      const attemptId = 10 * id + number;
      const paid = order(attemptId, `${12 + number}.9`, { refunds: refundsOf(attemptId) });
      const state = [failure('INSUFFICIENT_FUNDS'), success(paid), success(null)][number % 3];
      return billed(id, attemptId, `2026-0${number + 4}-11T09:00:00Z`, state ?? {});
    }),
  ]);
  const texts = [...many.map((each) => JSON.stringify(each)), ...sample(plans)];
  const file = path.join(throwawayFolder(), 'contracts.jsonl');
  writeFileSync(file, shuffled(texts, random).join('\n'));
  return file;
}

interface Killing {
  readonly file: string;
  readonly shopId: number;
  readonly otherId: number;
  readonly env: Readonly<Record<string, string>>;
  readonly sql: Sql;
}

async function killAndCompare({ file, shopId, otherId, env: of, sql }: Killing): Promise<void> {
  const args = (id: number) => ['import', '--shop', String(id), '--from', 'shopify', file];
  const count = async (id: number) => {
    const [row] = await sql<{ rows: number }[]>`
      select (select count(*) from subscriptions where shop_id = ${id})
        + (select count(*) from payments where shop_id = ${id}) as rows`;
    return row?.rows ?? 0;
  };
  const whole = await run(args(otherId), { env: of });
  assert.equal(whole.code, 0, whole.err);
  const total = await count(otherId);
  // Each contract, 2 attempts on average, and every other contract's first order.
  assert.equal(total, 10_500);

  let killed = 0;
  // On startup, while reading, and after a share of the rows.
  for (const [share, milliseconds] of [
    [0, 0],
    [0, 900],
    [0.01, 40],
    [0.5, 40],
    [0.9, 40],
  ] as const) {
    const { child, ended } = launch(args(shopId), { env: of });
    const isReached = async () => child.exitCode !== null || (await count(shopId)) >= share * total;
    await until(isReached);
    const timer = setTimeout(() => child.kill('SIGKILL'), randomInt(0, milliseconds + 1));
    const { signal, code, err } = await ended;
    clearTimeout(timer);
    assert.ok(signal === 'SIGKILL' || code === 0, err);
    if (signal === 'SIGKILL') killed += 1;
  }
  assert.ok(killed > 0, 'every import was done before it was killed');
  const last = await run(args(shopId), { env: of });
  assert.equal(last.code, 0, last.err);
  await assertSameShop(sql, shopId, otherId);
}
