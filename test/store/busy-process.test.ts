import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectAll } from '../../src/store/open.ts';

const target = process.env['TEST_POSTGRES'];
const skip = target === undefined && 'PostgreSQL is not available on this machine';

/** Longer than connecting may take. */
const busyMilliseconds = 5_500;

test(
  'connecting does not time out while this process is too busy to read the answer',
  { skip },
  async (t) => {
    const { write, close } = connectAll(target as string);
    t.after(close);
    const answer = write<{ one: number }[]>`select 1 as one`.then(([row]) => row?.one);
    await turn();
    // As when it loads code on a busy machine.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMilliseconds);
    assert.equal(await answer, 1);
  },
);
