import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { cases, type Run } from './cases.ts';
import { judge } from './judge.ts';
import { python, pythonEnv, pythonFolder, pythonMissing } from './python.ts';
import { runCase } from './virtual-time.ts';

describe('what is answered was true, no longer ago than stated, or is a typed error', () => {
  test('with the TypeScript client', async (t) => {
    for (const world of cases) judge(world, await runCase(t, world));
  });

  for (const kind of ['sync', 'async']) {
    test(`with the Python client (${kind})`, { skip: pythonMissing }, () => {
      const { status, stdout, stderr } = spawnSync(python, ['-m', 'tests.virtual_time', kind], {
        cwd: pythonFolder,
        env: pythonEnv,
        input: JSON.stringify(cases),
        maxBuffer: 2 ** 30,
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
      const runs: Run[] = JSON.parse(stdout);
      assert.equal(runs.length, cases.length);
      for (const [index, world] of cases.entries()) judge(world, runs[index] as Run);
    });
  }
});
