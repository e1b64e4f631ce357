import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { CommandError } from '../../errors.ts';
import { acquireLock } from './lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'lock-test-'));
test.after(() => rmSync(folder, { recursive: true }));

test('a held lock is refused, also within the process, and free again once released', () => {
  const lock = acquireLock(folder);
  assert.ok(lock);
  assert.equal(acquireLock(folder), undefined);
  lock.release();
  const again = acquireLock(folder);
  assert.ok(again);
  again.release();
});

test('a lock held by another process is refused until that process is killed', async () => {
  const program = `
    import { acquireLock } from ${JSON.stringify(new URL('./lock.ts', import.meta.url))};
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

test('a folder that cannot hold a lock is the user’s to correct', () => {
  assert.throws(() => acquireLock(join(folder, 'missing')), CommandError);
});
