import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { root } from '../cli/process.ts';

const run = promisify(execFile);
const skip = spawnSync('python3', ['--version']).status !== 0 && 'python3 is not available';
if (skip !== false && process.env['CI']) throw new Error(`${skip}, and in CI nothing is skipped.`);

const program = [
  process.execPath,
  '--input-type=module',
  '--eval',
  `import { createLog } from '${root}/src/log/log.ts';
   const log = createLog('info');
   log.warn({ url: 'postgres://u:sesame@h/d' }, 'not rtn_0123456789abcdefghijklmnopqrstuvwxyz_CWSW8A');
   log.request({ requestId: 'r1', method: 'GET', route: '/docs', status: 200, durationMs: 1.5 });`,
];

test('the log is for people on a terminal, without secrets', { skip }, async () => {
  const terminal = 'import pty, sys; pty.spawn(sys.argv[1:])';
  const { stdout } = await run('python3', ['-c', terminal, ...program]);
  assert.match(
    stdout,
    /^\d\d:\d\d:\d\d warn {2}not rtn_\[redacted\] url=postgres:\/\/u:\[redacted\]@h\/d\r\n\d\d:\d\d:\d\d info {2}request requestId=r1 method=GET route=\/docs status=200 durationMs=1\.5\r\n$/,
  );
});

test('the log is JSON in a pipe', async () => {
  const [file = '', ...args] = program;
  const { stderr } = await run(file, args);
  const [warning, request] = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(warning.url, 'postgres://u:[redacted]@h/d');
  assert.equal(request.requestId, 'r1');
});
