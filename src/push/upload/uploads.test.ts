import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { examineFile } from './uploads.ts';

test('a file that is slow to read does not hold up those of other shops', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [slow, usual] = [path.join(folder, 'slow'), path.join(folder, 'usual')];
  execFileSync('mkfifo', [slow]);
  writeFileSync(usual, 'colour,shape\nred,round\n');
  const request = (id: number, file: string) => ({
    file,
    fileName: 'a.csv',
    shop: { id, currency: 'USD', minorDigits: 2 },
    answers: [],
    asOf: undefined,
  });
  const order: string[] = [];
  const first = examineFile(request(1, slow), 256).then(() => order.push('slow'));
  // Of the same shop, so it waits.
  const second = examineFile(request(1, usual), 256).then(() => order.push('after it'));
  await examineFile(request(2, usual), 256).then(() => order.push('beside it'));
  // The reader opens its end now, if it has not yet.
  appendFileSync(slow, 'colour,shape\nred,round\n');
  await Promise.all([first, second]);
  assert.deepEqual(order, ['beside it', 'slow', 'after it']);
});
