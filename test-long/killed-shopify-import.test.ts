import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Sql } from '../src/store/database.ts';
import { type Store, connectAll, openStore } from '../src/store/open.ts';
import { launch, migratedFolder, runProcess, throwawayFolder } from '../test/cli/process.ts';
import {
  billed,
  contract,
  failure,
  line,
  order,
  refund,
  success,
} from '../test/feeds/shopify/nodes.ts';
import { plans, randomOf, sample, shuffled } from '../test/feeds/shopify/samples.ts';
import { assertSameShop } from '../test/model/dump.ts';
import { serverUrl } from '../test/support/databases.ts';
import { until } from '../test/support/until.ts';
import { createShop } from '../test/support/world.ts';

const skip = serverUrl === undefined && 'PostgreSQL is not available on this machine';

test(
  'an import from Shopify stores the same after being killed repeatedly and run again',
  { skip },
  async (t) => {
    const store = connectAll(serverUrl ?? '') as Store;
    t.after(() => store.close());
    const [shop, other] = [await createShop(store), await createShop(store)];
    await killAndCompare({
      file: writeContracts(3000),
      shopId: shop.id,
      otherId: other.id,
      env: { DATABASE_URL: serverUrl ?? '', LOG_LEVEL: 'error', TMPDIR: throwawayFolder() },
      sql: store.write,
    });
  },
);

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
    const { code, err } = await runProcess(args(id), { env: embedded });
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
  const whole = await runProcess(args(otherId), { env: of });
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
  const last = await runProcess(args(shopId), { env: of });
  assert.equal(last.code, 0, last.err);
  await assertSameShop(sql, shopId, otherId);
}
