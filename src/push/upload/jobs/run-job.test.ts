import assert from 'node:assert/strict';
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { noteProcesses } from '../../../../test/support/started-processes.ts';
import { JobEnded, runJob } from './run-job.ts';

function startFolder(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const shop = { id: 1, currency: 'USD', minorDigits: 2 };
  const request = (file: string) => ({
    file,
    fileName: 'a.csv',
    shop,
    answers: [],
    asOf: undefined,
  });
  return {
    /** A file that is never read to its end. */
    endless() {
      const file = path.join(folder, 'endless');
      execFileSync('mkfifo', [file]);
      return request(file);
    },
    write(content: string) {
      const file = path.join(folder, 'file');
      writeFileSync(file, content);
      return request(file);
    },
  };
}

const wrong = { problem: 'a.csv is empty.' };

test('a process that needs more memory than it may have ends alone, and others do their jobs', async (t) => {
  const { write } = startFolder(t);
  const note = `[${Array(1_300_000).fill('{}').join(',')}]`;
  const large = write(`{"type":"plan"}\n{"type":"plan"}\n{"type":"plan","note":${note}}\n`);
  await assert.rejects(
    runJob('examine', large, { heapMegabytes: 24 }),
    (error) =>
      error instanceof JobEnded &&
      error.problemFor('a.csv') ===
        'a.csv needs more memory than one file may take. Split it into smaller files, or leave out columns that are not about subscriptions.',
  );
  assert.deepEqual(await runJob('examine', write(''), { heapMegabytes: 24 }), wrong);
});

test('jobs that follow each other are done by one process, which ends when none came for a minute', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const started = noteProcesses(t);
  const { write } = startFolder(t);
  const doJob = () => runJob('examine', write(''), { heapMegabytes: 64 });
  assert.deepEqual([await doJob(), await doJob(), await doJob()], [wrong, wrong, wrong]);
  const larger = runJob('examine', write(''), { heapMegabytes: 65 });
  assert.deepEqual(await larger, wrong);
  assert.deepEqual(
    started.map(({ spawnargs }) => spawnargs[1]),
    ['--max-old-space-size=64', '--max-old-space-size=65'],
  );
  const ends = started.map((child) => once(child, 'exit'));
  t.mock.timers.tick(60_000);
  assert.deepEqual(await Promise.all(ends), [
    [1, null],
    [1, null],
  ]);
  assert.deepEqual(await doJob(), wrong);
  assert.equal(started.length, 3);
});

test('a process that says nothing for a minute is ended', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const job = runJob('examine', startFolder(t).endless(), { heapMegabytes: 256 });
  t.mock.timers.tick(60_000);
  await assert.rejects(
    job,
    (error) =>
      error instanceof JobEnded &&
      error.problemFor('a.csv') === 'a.csv could not be read in time. Split it into smaller files.',
  );
});

test('a process ends with the service, and not by itself if all are asked to', async (t) => {
  const { endless, write } = startFolder(t);
  const start = () => {
    const child = fork(new URL('./job-process.ts', import.meta.url), { serialization: 'advanced' });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const busy = start();
  const request = endless();
  busy.send({ kind: 'examine', request });
  // Once it reads.
  const writer = await open(request.file, 'w');
  busy.kill('SIGTERM');
  const other = start();
  other.send({ kind: 'examine', request: write('') });
  assert.deepEqual(await once(other, 'message'), [{ kind: 'result', result: wrong }, undefined]);
  busy.disconnect();
  // Exiting waits for the thread that reads.
  await writer.close();
  assert.deepEqual(await once(busy, 'exit'), [1, null]);
});
