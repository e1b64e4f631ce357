import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateShop } from '../src/demo/generate.ts';
import { launchServer, migratedFolder, runProcess } from '../test/cli/process.ts';

import { type PostgresServer, freePort } from '../test/support/postgres.ts';
import { type TestSource, credentialsKeys, finished, push } from '../test/push/world.ts';

interface Load {
  readonly records: number;
  readonly batchSize: number;
  /** How often the server is killed while records are sent. */
  readonly kills: number;
}

const senders = 8;
const retryMilliseconds = 100;

/**
 * Eight senders push a shop in batches, in any order, to a server that is killed and started again. Each repeats a
 * request until it is answered 202.
 */
export async function pushWhileKilled(
  postgres: PostgresServer | undefined,
  { records: count, batchSize, kills }: Load,
): Promise<void> {
  const env = {
    ...(postgres ? { DATABASE_URL: postgres.url } : { RETENTION_DATA_DIR: migratedFolder() }),
    CREDENTIALS_KEY: credentialsKeys[0]?.toString('base64') ?? '',
    LOG_LEVEL: 'silent',
    SYNC: 'off',
    PORT: String(await freePort()),
  };
  const create = ['shops', 'create', '--id', '1', '--name', 'x', '--currency', 'USD'];
  assert.equal((await runProcess(create, { env })).code, 0);
  const made = await runProcess(['ingest', 'create', '--shop', '1', '--name', 'x', '--json'], {
    env,
  });
  const source = JSON.parse(made.out) as TestSource;

  const endAt = Date.now();
  const shop = { subscriptions: Math.ceil(count / 4), seed: 5, currency: 'USD', minorDigits: 2 };
  const records = [...generateShop({ ...shop, endAt })].slice(0, count);
  assert.equal(records.length, count);
  const batches = Array.from({ length: Math.ceil(count / batchSize) }, (_, index) => ({
    id: randomUUID(),
    records: records.slice(index * batchSize, (index + 1) * batchSize),
  }));
  const total = batches.length;
  const batchIds: string[] = [];
  let server = await launchServer('serve', env);
  const { baseUrl } = server;

  const send = async () => {
    for (let next = batches.shift(); next; next = batches.shift()) {
      const { id, records: some } = next;
      for (;;) {
        const answer = await push(baseUrl, source, some, { id }).catch(() => undefined);
        if (answer?.status === 202) {
          batchIds.push(answer.body.batchId);
          break;
        }
        assert.ok(!answer || [429, 503].includes(answer.status), String(answer?.status));
        await sleep(retryMilliseconds);
      }
    }
  };
  const kill = async () => {
    for (let killed = 1; killed <= kills; killed += 1) {
      while (batchIds.length < (total * killed) / (kills + 1)) await sleep(5);
      server.child.kill('SIGKILL');
      assert.equal((await server.ended).signal, 'SIGKILL');
      server = await launchServer('serve', env);
    }
  };
  await Promise.all([...Array.from({ length: senders }, send), kill()]);
  assert.equal(new Set(batchIds).size, total);

  const sums = { stored: 0, replaced: 0, unchanged: 0, stale: 0, deleted: 0, refused: 0 };
  for (const batchId of batchIds) {
    // Batches of a killed server begin again, behind what other sources sent.
    const batch = await finished(baseUrl, source, batchId, { minutes: 4 });
    assert.deepEqual([batch.status, batch.refused], ['done', []]);
    for (const name of Object.keys(sums) as (keyof typeof sums)[]) {
      sums[name] += batch.outcomes[name] ?? 0;
    }
  }
  // Each in once: a record that was stored twice would count as unchanged, too.
  const none = { replaced: 0, unchanged: 0, stale: 0, deleted: 0, refused: 0 };
  assert.deepEqual(sums, { ...none, stored: count });
  const verified = await runProcess(['metrics', 'verify', '--shop', '1'], { env });
  assert.equal(verified.code, 0, verified.out + verified.err);
  server.child.kill('SIGTERM');
  assert.equal((await server.ended).code, 0);
}
