/* How long a session's record waits to be seen while other sources of its shop push as fast as they may, or a file is imported. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/clock.ts';
import { migrate } from '../src/store/migrate.ts';
import { openStore } from '../src/store/open.ts';
import {
  type TestSource,
  createSource,
  credentialsKeys,
  deliver,
  push,
} from '../test/push/world.ts';
import { plan, session, subscription } from '../test/rest/records.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { createShop, createTestKey } from '../test/support/world.ts';
import { importDemoShop, startImport, startService, writeDemoRecords } from './processes.ts';
import { beginTable, figure, print } from './report.ts';
import { median } from './statistics.ts';

const senders = 20;
const recordsPerBatch = 1000;
const sessions = Number(process.env['BENCH_SESSIONS'] ?? 30);
const pollMilliseconds = 20;

let lastId = 1_000_000_000;
const newId = () => (lastId += 1);
const newSubscription = () => {
  const id = newId();
  return subscription(id, { customerId: id });
};
const newSession = () => {
  const id = newId();
  return { id, record: session(id, { createdAt: new Date().toISOString() }) };
};

const postgres = await startPostgres(['fsync=off', 'shared_buffers=256MB']);
if (!postgres) throw new Error('PostgreSQL is not installed: nothing can be measured.');
const store = await openStore({ databaseUrl: postgres.url, dataDir: '', role: 'command' });
await migrate(store.write);
const folder = mkdtempSync(path.join(tmpdir(), 'bench-push-'));
const file = writeDemoRecords(folder, 100_000);
const [sealingKey] = credentialsKeys.map((each) => each.toString('base64'));
const env = { DATABASE_URL: postgres.url, LOG_LEVEL: 'error', CREDENTIALS_KEY: sealingKey ?? '' };
print(`${senders} sources, ${recordsPerBatch} records a batch, ${sessions} sessions a row.`);
const row = beginTable(['', 'p50 ms', 'p90 ms', 'max ms', 'batches/s', '429']);

/** @returns how long each session waited */
async function sendSessions(baseUrl: string, source: TestSource, key: string) {
  const url = `${baseUrl}/api/external/v1/cancellations?limit=1`;
  const headers = { authorization: `Bearer ${key}` };
  const waits: number[] = [];
  while (waits.length < sessions) {
    const sent = newSession();
    const began = performance.now();
    for (
      const id = randomUUID();
      (await push(baseUrl, source, [sent.record], { id })).status !== 202;
    ) {
      await sleep(pollMilliseconds);
    }
    for (;;) {
      const { cancellations } = (await (await fetch(url, { headers })).json()) as {
        cancellations: readonly { sessionId: number }[];
      };
      if (cancellations[0]?.sessionId === sent.id) break;
      await sleep(pollMilliseconds);
    }
    waits.push(performance.now() - began);
    await sleep(Math.random() * 500);
  }
  return waits.toSorted((a, b) => a - b);
}

interface Load {
  readonly senders: number;
  readonly isImporting?: boolean;
}

async function measure(name: string, load: Load): Promise<void> {
  const shop = await createShop(store, { tier: 'enterprise_plus' });
  importDemoShop(shop.id, 5000, env);
  await store.write.script('analyze');
  const { key } = await createTestKey(store, shop.id);
  const [own, ...others] = await Promise.all(
    Array.from({ length: load.senders + 1 }, () => createSource(store, shop)),
  );
  if (!own) throw new Error('There is no source.');
  await using service = await startService(env, []);
  const baseUrl = `http://127.0.0.1:${service.port}`;
  await deliver(baseUrl, own, [plan()]);
  const over = new AbortController();
  let refused = 0;
  const sending = others.map(async (source) => {
    while (!over.signal.aborted) {
      const records = Array.from({ length: recordsPerBatch }, newSubscription);
      const { status, headers } = await push(baseUrl, source, records);
      if (status === 202) continue;
      refused += 1;
      await sleep(Number(headers.get('retry-after') ?? 1) * 1000);
    }
  });
  await using _ = load.isImporting === true ? startImport(shop.id, file, env) : undefined;
  // Until there is a queue.
  await sleep(5000);
  const began = systemClock.monotonic();
  const before = await countStored(shop.id);
  const waits = await sendSessions(baseUrl, own, key);
  const seconds = (systemClock.monotonic() - began) / 1000;
  const stored = (await countStored(shop.id)) - before - waits.length;
  over.abort();
  await Promise.all(sending);
  const at = (share: number) => waits[Math.floor((waits.length - 1) * share)] ?? Number.NaN;
  row(
    name,
    figure(median(waits)),
    figure(at(0.9)),
    figure(at(1)),
    figure(stored / seconds, 1),
    String(refused),
  );
}

async function countStored(shopId: number): Promise<number> {
  const [found] = await store.write<{ count: number }[]>`
    select count(*)::int as count from ingest.batches
    where shop_id = ${shopId} and finished_at is not null`;
  return found?.count ?? 0;
}

try {
  await measure('nothing else', { senders: 0 });
  await measure(`${senders} sources`, { senders });
  await measure('an import', { senders: 0, isImporting: true });
} finally {
  await store.close();
  await postgres.destroy();
  rmSync(folder, { recursive: true });
}
