import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import { heapOfJob } from './limits.ts';

const megabytes = (count: number) => count * 2 ** 20;

test('the heap of a job is an eighth of the memory, from 96 to 512 MB', () => {
  assert.equal(heapOfJob(megabytes(256)), 96);
  assert.equal(heapOfJob(megabytes(1024)), 128);
  assert.equal(heapOfJob(megabytes(1536)), 192);
  // Without a limit, systems report 0, or more than there is.
  const ofMachine = Math.min(512, Math.max(96, Math.floor(totalmem() / megabytes(8))));
  assert.equal(heapOfJob(0), ofMachine);
  assert.equal(heapOfJob(2 ** 63), ofMachine);
});
