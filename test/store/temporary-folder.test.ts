import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const module = new URL('../../src/store/temporary-folder.ts', import.meta.url).href;
const program = `
  import { existsSync } from 'node:fs';
  import { createTemporaryFolder } from ${JSON.stringify(module)};
  for (let time = 0; time < 150; time += 1) {
    const folder = createTemporaryFolder('sync');
    if (!existsSync(folder.path)) throw new Error('another process removed ' + folder.path);
    folder.remove();
  }`;

test('temporary folders of processes that begin at the same time are not taken for leftovers', async () => {
  const run = () =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  const results = await Promise.all([run(), run(), run(), run()]);
  assert.deepEqual(
    results.map(({ stderr }) => stderr),
    ['', '', '', ''],
  );
});
