import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { launch, migratedFolder, runProcess, throwawayFolder } from '../cli/process.ts';
import { findPostgresPrograms, requirePostgres } from '../support/postgres.ts';

/** Preloaded to simulate a memory limit, which test machines may not be able to set. */
const limited = path.join(throwawayFolder(), 'limited.mjs');
writeFileSync(limited, 'process.constrainedMemory = () => 1024 * 1024 * 1024;');
const NODE_OPTIONS = `--import=file://${limited}`;
/** The young generation, which V8 adds to the old space. */
const maxYoungMegabytes = 96;

interface Line {
  readonly msg: string;
  readonly pid: number;
  readonly heapMegabytes: number;
}

/** What the processes log when they start to listen. */
async function listening(args: readonly string[], env: Record<string, string>, count = 1) {
  const { child, logged, said, ended } = launch(args, { env: { ...env, PORT: '0' } });
  await said(/listens on/);
  // Other lines may come in between.
  await logged(new RegExp(`(?:[^]*?"msg":"listening"){${count}}.*\\n`));
  child.kill('SIGTERM');
  const { code, err } = await ended;
  assert.equal(code, 0, err);
  const lines = err.split('\n').filter((line) => line.includes('"msg":"listening"'));
  return { pid: child.pid, lines: lines.map((line) => JSON.parse(line) as Line) };
}

const isAbout = (actual: number | undefined, megabytes: number) =>
  assert.ok(
    actual !== undefined && actual >= megabytes && actual <= megabytes + maxYoungMegabytes,
    `${actual} instead of ${megabytes}`,
  );

test('the heap leaves memory for the embedded database, without a second process', async () => {
  const env = { RETENTION_DATA_DIR: migratedFolder(), NODE_OPTIONS };
  const { pid, lines } = await listening(['serve'], env);
  isAbout(lines[0]?.heapMegabytes, 128);
  assert.equal(lines[0]?.pid, pid);
});

test('keeps a limit in NODE_OPTIONS', async () => {
  const env = {
    RETENTION_DATA_DIR: migratedFolder(),
    NODE_OPTIONS: `${NODE_OPTIONS} --max-old-space-size=777`,
  };
  const { lines } = await listening(['serve'], env);
  isAbout(lines[0]?.heapMegabytes, 777);
});

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
test('workers share the limit, and doctor shows it', { skip }, async (t) => {
  const database = await requirePostgres(['fsync=off']);
  t.after(() => database.destroy());
  const env = { DATABASE_URL: database.url, REDIS_URL: 'redis://127.0.0.1:1', NODE_OPTIONS };
  const { lines } = await listening(['serve', '--workers', '2'], env, 2);
  assert.equal(lines.length, 2);
  for (const { heapMegabytes } of lines) isAbout(heapMegabytes, 240);

  const { out } = await runProcess(['doctor'], { env });
  assert.match(out, /^ok {4}memory: limited to 1024 MB$/m);
});
