import { spawn } from 'node:child_process';
import { startPostgres } from '../test/support/postgres.ts';
import { measureImport } from './importer.ts';
import { retention, run } from './processes.ts';

/** Imports a generated shop into PostgreSQL: records a second, and max memory. */
const subscriptions = process.env['BENCH_SUBSCRIPTIONS'] ?? '1000000';

const postgres = await startPostgres(['shared_buffers=512MB', 'max_wal_size=4GB']);
if (!postgres) throw new Error('PostgreSQL is not installed.');
const env = { ...process.env, DATABASE_URL: postgres.url, LOG_LEVEL: 'error' };
try {
  run(['shops', 'create', '--id', '1', '--name', 'Bench', '--currency', 'USD'], env);
  const source = spawn(retention, ['demo-data', '--subscriptions', subscriptions], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const args = ['--shop', '1', '-'];
  const measured = await measureImport(args, env, postgres.pid, source.stdout);
  const { seconds, megabytes, stored } = measured;
  const records = Object.values(stored).reduce((sum, each) => sum + each, 0);
  const lines = Object.entries(stored).map(([type, each]) => `${type} ${each}`);
  process.stdout.write(
    [
      `${records} records (${lines.join(', ')}) in ${seconds.toFixed(1)} s`,
      `${Math.round(records / seconds)} records a second, including their generation on the same machine`,
      `importer: max ${megabytes.toFixed(0)} MB, ${(measured.cpuMicroseconds / records).toFixed(1)} µs of CPU a record`,
      `PostgreSQL: ${(measured.serverCpuMicroseconds / records).toFixed(1)} µs of CPU a record`,
      '',
    ].join('\n'),
  );
} finally {
  await postgres.destroy();
}
