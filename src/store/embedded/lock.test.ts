import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { CommandError } from '../../errors.ts';
import { acquireLock } from './folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'lock-test-'));
test.after(() => rmSync(folder, { recursive: true }));

test('refuses a held lock, even in the same process, until it is released', () => {
  const lock = acquireLock(folder);
  assert.ok(lock);
  assert.equal(acquireLock(folder), undefined);
  lock.release();
  const again = acquireLock(folder);
  assert.ok(again);
  again.release();
});

test('refuses a lock held by another process until that process is killed', async () => {
  const program = `
    import { acquireLock } from ${JSON.stringify(new URL('./folder.ts', import.meta.url))};
    const lock = acquireLock(${JSON.stringify(folder)});
    process.stdout.write(lock ? 'held' : 'refused');
    setInterval(() => lock, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout, 'data');
  assert.equal(String(said), 'held');
  assert.equal(acquireLock(folder), undefined);

  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = acquireLock(folder);
  assert.ok(lock);
  lock.release();
});

test('throws CommandError if the folder cannot hold a lock', () => {
  assert.throws(() => acquireLock(join(folder, 'missing')), CommandError);
});
