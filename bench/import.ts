import { spawn } from 'node:child_process';
import { startPostgres } from '../test/support/postgres.ts';
import { cpuMicroseconds, residentMegabytes } from './cpu.ts';
import { retention, run } from './processes.ts';

/** Import of a generated shop into PostgreSQL: records a second, and the most memory that was held. */
const subscriptions = process.env['BENCH_SUBSCRIPTIONS'] ?? '1000000';
const sampleMilliseconds = 250;

const postgres = await startPostgres(['shared_buffers=512MB', 'max_wal_size=4GB']);
if (!postgres) throw new Error('PostgreSQL is not installed.');
const env = { ...process.env, DATABASE_URL: postgres.url, LOG_LEVEL: 'error' };
try {
  run(['shops', 'create', '--id', '1', '--name', 'Bench', '--currency', 'USD'], env);
  const source = spawn(retention, ['demo-data', '--subscriptions', subscriptions], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const begin = performance.now();
  const importer = spawn(retention, ['import', '--shop', '1', '--json', '-'], {
    env,
    stdio: [source.stdout, 'pipe', 'inherit'],
  });
  let most = 0;
  let cpu = 0;
  const sampling = setInterval(() => {
    most = Math.max(most, residentMegabytes(importer.pid as number));
    cpu = cpuMicroseconds(importer.pid as number) || cpu;
  }, sampleMilliseconds);
  let text = '';
  importer.stdout.on('data', (chunk: Buffer) => (text += chunk));
  const status = await new Promise((resolve) => importer.once('close', resolve));
  clearInterval(sampling);
  if (status !== 0) throw new Error(`The import ended with status ${status}.`);

  const seconds = (performance.now() - begin) / 1000;
  const { counts } = JSON.parse(text) as { counts: Record<string, { stored: number }> };
  const records = Object.values(counts).reduce((sum, { stored }) => sum + stored, 0);
  const lines = Object.entries(counts).map(([type, { stored }]) => `${type} ${stored}`);
  process.stdout.write(
    [
      `${records} records (${lines.join(', ')}) in ${seconds.toFixed(1)} s`,
      `${Math.round(records / seconds)} records a second, their generation on the same machine included`,
      `importer: at most ${most.toFixed(0)} MB, ${(cpu / records).toFixed(1)} µs of CPU a record`,
      '',
    ].join('\n'),
  );
} finally {
  await postgres.destroy();
}
