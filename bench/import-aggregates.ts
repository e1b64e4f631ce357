import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectAll } from '../src/store/open.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { retention, run } from './processes.ts';
import { median } from './statistics.ts';

/**
 * What maintaining the aggregates costs an import: its speed with the triggers relative to its
 * speed without, measured alternately; each time into a new shop of one database.
 */
const subscriptions = Number(process.env['BENCH_SUBSCRIPTIONS'] ?? 60_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);

const postgres = await startPostgres(['shared_buffers=512MB', 'max_wal_size=4GB']);
if (!postgres) throw new Error('PostgreSQL is not installed.');
const env = { DATABASE_URL: postgres.url, LOG_LEVEL: 'error' };
const folder = mkdtempSync(path.join(tmpdir(), 'retention-bench-'));
const file = path.join(folder, 'records.ndjson');
const { write, close } = connectAll(postgres.url);
let shops = 0;

async function switchTriggers(to: 'enable' | 'disable'): Promise<void> {
  const triggers = await write<{ relation: string; name: string }[]>`
    select tgrelid::regclass::text as relation, tgname as name from pg_trigger
    where not tgisinternal and tgname like 'metrics%'`;
  if (triggers.length === 0) throw new Error('There are no triggers to enable or disable.');
  for (const { relation, name } of triggers) {
    await write.unsafe(`alter table ${relation} ${to} trigger ${name}`);
  }
}

/** Seconds of one import, including the start of its process. */
async function secondsOf(triggers: 'enable' | 'disable'): Promise<number> {
  await switchTriggers(triggers);
  const shop = String((shops += 1));
  run(['shops', 'create', '--id', shop, '--name', 'Bench', '--currency', 'USD'], env);
  const begin = performance.now();
  execFileSync(retention, ['import', '--shop', shop, file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  return (performance.now() - begin) / 1000;
}

try {
  run(['migrate'], env);
  execFileSync('sh', [
    '-c',
    `"${retention}" demo-data --subscriptions ${subscriptions} > "${file}"`,
  ]);
  const ratios: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const kept = await secondsOf('enable');
    const without = await secondsOf('disable');
    ratios.push(without / kept);
    process.stdout.write(
      `with aggregates ${kept.toFixed(2)} s, without ${without.toFixed(2)} s: ${(without / kept).toFixed(3)}\n`,
    );
  }
  process.stdout.write(`speed with aggregates relative to without: ${median(ratios).toFixed(3)}\n`);
} finally {
  await close();
  rmSync(folder, { recursive: true });
  await postgres.destroy();
}
