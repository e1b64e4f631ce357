import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { root, throwawayFolder } from '../test/cli/process.ts';
import { findPostgresPrograms } from '../test/support/postgres.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

test('measures some small shops and a larger one, and does nothing twice', { skip }, async () => {
  const folder = throwawayFolder();
  // The server has a user of its own.
  chmodSync(folder, 0o755);
  const measure = async () => {
    const sizes = ['--shops', '4', '--subscriptions', '20', '--large', '50'];
    const args = [path.join(root, 'bench/scale.ts'), '--folder', folder, ...sizes];
    const env = { ...process.env, BENCH_MILLISECONDS: '100', BENCH_ROUNDS: '1' };
    return (await promisify(execFile)(process.execPath, args, { env })).stdout;
  };
  const first = await measure();
  for (const row of [
    /4 × 20 +1 × 50\n/,
    /^records imported +\d{3} +\d{3}$/m,
    /^memory once each key was used, MB +\d+ +\d+$/m,
    /^entitlements of all: p50; p99 ms +\d+\.\d+; \d+\.\d+ +–$/m,
    /^migrate with an index, s +\d+\.\d +\d+\.\d$/m,
  ]) {
    assert.match(first, row);
  }
  const { filled } = JSON.parse(readFileSync(path.join(folder, 'state.json'), 'utf8'));
  assert.deepEqual([filled.many.keys.length, filled.one.keys.length], [4, 1]);

  const again = await measure();
  assert.doesNotMatch(again, /portion/);
  assert.ok(first.endsWith(again), again);
});
