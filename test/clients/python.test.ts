import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { python, pythonEnv, pythonFolder, pythonMissing } from './python.ts';

test("the Python client's own tests", { skip: pythonMissing }, async () => {
  await promisify(execFile)(python, ['-W', 'error', '-m', 'unittest'], {
    cwd: pythonFolder,
    env: pythonEnv,
  });
});
