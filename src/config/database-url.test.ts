import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';
import { addressOf, nameOf, withoutPassword } from './database-url.ts';
import { UsageError } from '../errors.ts';

/** The error message for an invalid environment. */
function problemsOf(env: Record<string, string>): string {
  let message = '';
  assert.throws(
    () => parseConfig(env),
    (error) => {
      assert.ok(error instanceof UsageError);
      message = error.message;
      return true;
    },
  );
  return message;
}

test('DATABASE_SERVE_URL must be the address of DATABASE_URL with another user', () => {
  const server = 'postgres://owner:sesame@db.example/retention?sslmode=require';
  const alone = problemsOf({ DATABASE_SERVE_URL: server });
  assert.match(
    alone,
    / {2}DATABASE_SERVE_URL is a second login for the database of DATABASE_URL, which is not set\.$/,
  );
  for (const wrong of [
    server,
    'postgres://owner:open@db.example/retention',
    'postgres://db.example/retention',
    'postgres://reader:sesame@db.example/other',
    'postgres://reader:sesame@db.example',
    'postgres://reader:sesame@standby.example/retention',
    'postgres://reader:sesame@db.example:5433/retention',
  ]) {
    const message = problemsOf({ DATABASE_URL: server, DATABASE_SERVE_URL: wrong });
    assert.match(
      message,
      / {2}DATABASE_SERVE_URL must name the server and database of DATABASE_URL, with a different user\.$/,
      wrong,
    );
    assert.doesNotMatch(message, /sesame/);
  }
  const right = 'postgres://reader:sesame@db.example:5432/retention?sslmode=require';
  assert.doesNotThrow(() => parseConfig({ DATABASE_URL: server, DATABASE_SERVE_URL: right }));
});

const modes = 'disable, allow, prefer, require, verify-ca, verify-full';
const wrongTls: [parameters: string, says: string][] = [
  ['sslmode=verify', `has an unknown sslmode; it must be one of ${modes}.`],
  ['sslmode=REQUIRE', `has an unknown sslmode; it must be one of ${modes}.`],
  ['sslmode=', `has an unknown sslmode; it must be one of ${modes}.`],
  [
    'ssl=true',
    'has the parameter ssl, which is not supported; TLS is set by sslmode and sslrootcert.',
  ],
  [
    'sslmode=verify-full&sslcert=me.pem',
    'has the parameter sslcert, which is not supported; TLS is set by sslmode and sslrootcert.',
  ],
  [
    'sslmode=require&channel_binding=require',
    'has the parameter channel_binding, which is not supported; TLS is set by sslmode and sslrootcert.',
  ],
  ['sslrootcert=a.pem', 'has sslrootcert, which needs sslmode=verify-full, verify-ca or require.'],
  [
    'sslmode=prefer&sslrootcert=a.pem',
    'has sslrootcert, which needs sslmode=verify-full, verify-ca or require.',
  ],
  [
    'sslmode=require&sslrootcert=system',
    'has sslrootcert=system, which needs sslmode=verify-full.',
  ],
  [
    'sslmode=verify-ca',
    'has sslmode=verify-ca, which needs sslrootcert=FILE: without it, any certificate from any public authority would be accepted. Or use sslmode=verify-full.',
  ],
];
for (const [parameters, says] of wrongTls) {
  test(`rejects an address with ${parameters}`, () => {
    const url = `postgres://user:sesame@db.example/retention?${parameters}`;
    const prefix = 'The configuration is invalid:\n  ';
    assert.equal(problemsOf({ DATABASE_URL: url }), `${prefix}DATABASE_URL ${says}`);
    const server = 'postgres://user:sesame@db.example/retention';
    assert.equal(
      problemsOf({ DATABASE_URL: server, DATABASE_READ_URL: url }),
      `${prefix}DATABASE_READ_URL ${says}`,
    );
    assert.equal(
      problemsOf({ DATABASE_URL: server, DATABASE_SERVE_URL: url.replace('user', 'reader') }),
      `${prefix}DATABASE_SERVE_URL ${says}`,
    );
  });
}

test('each host has its own port and shares everything else', () => {
  const text =
    'postgres://me:s%20same@one.example,two.example:5433,[::1]:5434/shop?target_session_attrs=read-write&search_path=x';
  assert.deepEqual(addressOf(text), {
    servers: [
      { host: 'one.example', port: 5432 },
      { host: 'two.example', port: 5433 },
      { host: '::1', port: 5434 },
    ],
    user: 'me',
    password: 's same',
    database: 'shop',
    tls: { mode: 'disable', rootFile: undefined },
    settings: { search_path: 'x' },
  });
  assert.equal(nameOf(text), 'one.example:5432,two.example:5433,[::1]:5434');
  assert.equal(
    withoutPassword(text),
    'postgres://me:redacted@one.example,two.example:5433,[::1]:5434/shop?target_session_attrs=read-write&search_path=x',
  );
});

for (const wrong of ['one,', 'one:x', 'one,two:99999', ',', 'one two']) {
  test(`rejects the hosts ${JSON.stringify(wrong)}`, () => {
    assert.match(
      problemsOf({ DATABASE_URL: `postgres://u:sesame@${wrong}/d` }),
      / {2}DATABASE_URL must be an address such as postgres:\/\/user@host:5432\/database\.$/,
    );
  });
}

test('rejects a user or password with an invalid percent-encoding', () => {
  assert.match(problemsOf({ DATABASE_URL: 'postgres://u:50%@one/d' }), /DATABASE_URL must be/);
});

test('target_session_attrs accepts only read-write', () => {
  const message = problemsOf({ DATABASE_URL: 'postgres://u@one,two/d?target_session_attrs=any' });
  assert.match(message, /DATABASE_URL has a target_session_attrs that is not supported;/);
});
