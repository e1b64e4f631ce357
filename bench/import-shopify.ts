import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres } from '../test/support/postgres.ts';
import { measureImport } from './importer.ts';
import { run } from './processes.ts';

/**
 * Imports a generated flat Shopify bulk result, with one line and one attempt per contract, into
 * PostgreSQL: contracts a second, and max memory.
 */
const contracts = Number(process.env['BENCH_SUBSCRIPTIONS'] ?? 200_000);
const begin = Date.UTC(2025, 0, 1);
const intervals = ['WEEK', 'MONTH', 'YEAR'];

const gid = (type: string, key: number | string) => `gid://shopify/${type}/${key}`;
const at = (minutes: number) => new Date(begin + minutes * 60_000).toISOString();

/** A contract, its line and its attempt, as long as Shopify's, with fields that are not read. */
function family(index: number): [contract: object, line: object, attempt: object] {
  const id = gid('SubscriptionContract', 1_000_000 + index);
  const status = index % 5 === 0 ? 'CANCELLED' : 'ACTIVE';
  const interval = intervals[index % intervals.length];
  const policy = { interval, intervalCount: 1, minCycles: null, maxCycles: null };
  const price = { amount: `${10 + (index % 90)}.5`, currencyCode: 'USD' };
  const uuid = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  return [
    {
      id,
      status,
      createdAt: at(index % 500_000),
      updatedAt: at(900_000 + (index % 50_000)),
      currencyCode: 'USD',
      nextBillingDate: at(1_000_000 + (index % 40_000)),
      lastPaymentStatus: 'SUCCEEDED',
      lastBillingAttemptErrorType: null,
      revisionId: String(90_000_000 + index),
      billingPolicy: policy,
      deliveryPolicy: { interval, intervalCount: 1 },
      deliveryPrice: { amount: '0.0', currencyCode: 'USD' },
      customer: { id: gid('Customer', 500_000 + index) },
      originOrder: { id: gid('Order', 7_000_000 + index) },
    },
    {
      id: gid('SubscriptionLine', uuid),
      title: `Product ${index % 300}`,
      variantTitle: 'Large',
      quantity: 1 + (index % 3),
      sku: `SKU-${index % 300}`,
      productId: gid('Product', 8000 + (index % 300)),
      variantId: gid('ProductVariant', 9000 + (index % 300)),
      requiresShipping: true,
      taxable: true,
      sellingPlanId: gid('SellingPlan', 300 + (index % 20)),
      sellingPlanName: `Plan ${index % 20}`,
      currentPrice: price,
      lineDiscountedPrice: price,
      pricingPolicy: null,
      __parentId: id,
    },
    {
      id: gid('SubscriptionBillingAttempt', 20_000_000 + index),
      createdAt: at(880_000 + (index % 50_000)),
      completedAt: at(880_000 + (index % 50_000)),
      originTime: at(880_000 + (index % 50_000)),
      idempotencyKey: `c${index}`,
      ready: true,
      errorCode: index % 17 === 0 ? 'CARD_DECLINED' : null,
      errorMessage: null,
      order: null,
      __parentId: id,
    },
  ];
}

/** One kind after the other, so that children are far from their parents. */
async function generate(file: string): Promise<void> {
  const out = createWriteStream(file);
  for (const kind of [1, 0, 2]) {
    for (let index = 0; index < contracts; index += 1) {
      const line = `${JSON.stringify(family(index)[kind])}\n`;
      if (!out.write(line)) await once(out, 'drain');
    }
  }
  out.end();
  await once(out, 'close');
}

const postgres = await startPostgres(['shared_buffers=512MB', 'max_wal_size=4GB']);
if (!postgres) throw new Error('PostgreSQL is not installed.');
const env = { ...process.env, DATABASE_URL: postgres.url, LOG_LEVEL: 'error' };
const folder = await mkdtemp(path.join(tmpdir(), 'retention-bench-'));
try {
  const file = path.join(folder, 'contracts.jsonl');
  await generate(file);
  run(['shops', 'create', '--id', '1', '--name', 'Bench', '--currency', 'USD'], env);
  const args = ['--shop', '1', '--from', 'shopify', file];
  const measured = await measureImport(args, env, postgres.pid);
  const { seconds } = measured;
  const stored = Object.entries(measured.stored).map(([type, each]) => `${type} ${each}`);
  const megabytes = (await stat(file)).size / 2 ** 20;
  process.stdout.write(
    [
      `${contracts} contracts, ${megabytes.toFixed(0)} MB (${stored.join(', ')}) in ${seconds.toFixed(1)} s`,
      `${Math.round(contracts / seconds)} contracts a second`,
      `importer: max ${measured.megabytes.toFixed(0)} MB, ${(measured.cpuMicroseconds / contracts).toFixed(1)} µs of CPU a contract`,
      `PostgreSQL: ${(measured.serverCpuMicroseconds / contracts).toFixed(1)} µs of CPU a contract`,
      '',
    ].join('\n'),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
  await postgres.destroy();
}
