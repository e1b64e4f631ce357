import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runProcess } from './process.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';

test('doctor reports a database that is down, and hides its password', async () => {
  for (const address of [
    'postgres://user:sesame@127.0.0.1:1/x',
    'postgres://user@127.0.0.1:1/x?password=sesame',
  ]) {
    const { code, out, err } = await run(['doctor', '--json'], { env: { DATABASE_URL: address } });
    assert.equal(code, 1);
    assert.doesNotMatch(out + err, /sesame/);
    const { ok, findings } = JSON.parse(out);
    assert.equal(ok, false);
    assert.deepEqual(findings[1], {
      check: 'database',
      ok: false,
      detail:
        'DATABASE_URL: PostgreSQL at 127.0.0.1:1/x cannot be used: connect ECONNREFUSED 127.0.0.1:1. ' +
        'Check that PostgreSQL is running there, and that the host and port are correct.',
    });
  }
});

for (const [command, start] of [
  [['serve'], runProcess],
  [['migrate'], run],
  [['shops', 'list'], run],
] as const) {
  test(`${command.join(' ')} names the variable of a database that is down, and hides its password`, async () => {
    const address = 'postgres://user:sesame@127.0.0.1:1/x?password=sesame';
    const { code, out, err } = await start(command, { env: { DATABASE_URL: address } });
    assert.deepEqual([code, out], [1, '']);
    assert.equal(
      err,
      'retention: DATABASE_URL: PostgreSQL at 127.0.0.1:1/x cannot be used: connect ECONNREFUSED 127.0.0.1:1. ' +
        'Check that PostgreSQL is running there, and that the host and port are correct.\n',
    );
  });
}

test('names a database that does not exist, and says what to do', { skip }, async () => {
  const address = new URL(DATABASE_URL);
  address.pathname = '/nowhere';
  const { code, out, err } = await run(['migrate'], { env: { DATABASE_URL: address.href } });
  assert.deepEqual([code, out], [1, '']);
  assert.equal(
    err,
    `retention: DATABASE_URL: PostgreSQL at ${address.host}/nowhere cannot be used: ` +
      'database "nowhere" does not exist. Create the database, or correct its name.\n',
  );
});
