import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './process.ts';

const DATABASE_URL = process.env['TEST_POSTGRES'] ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL could not be had on this machine';

test('doctor: a database that is down is a finding, and no password is shown', async () => {
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

for (const command of [['serve'], ['migrate'], ['shops', 'list']]) {
  test(`${command.join(' ')}: a database that is down is named by its variable, without the password`, async () => {
    const address = 'postgres://user:sesame@127.0.0.1:1/x?password=sesame';
    const { code, out, err } = await run(command, { env: { DATABASE_URL: address } });
    assert.deepEqual([code, out], [1, '']);
    assert.equal(
      err,
      'retention: DATABASE_URL: PostgreSQL at 127.0.0.1:1/x cannot be used: connect ECONNREFUSED 127.0.0.1:1. ' +
        'Check that PostgreSQL is running there, and that the host and port are correct.\n',
    );
  });
}

test('a database that does not exist is named, and what to do', { skip }, async () => {
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
