import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';

/** The error message for an invalid environment. */
function problemsOf(env: Record<string, string>): string {
  try {
    parseConfig(env);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  throw new assert.AssertionError({ message: 'accepted' });
}

test('needs all that an issuer needs, and one before passwords are off', () => {
  assert.match(problemsOf({ LOCAL_PASSWORDS: 'off' }), /needs OIDC_ISSUER/);
  const client = { OIDC_CLIENT_ID: 'retention', OIDC_CLIENT_SECRET: 'hush' };
  const problem = /needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and BASE_URL/;
  const issuer = { OIDC_ISSUER: 'https://login.example' };
  assert.match(problemsOf({ ...issuer, ...client }), problem);
  assert.match(problemsOf({ ...issuer, BASE_URL: 'https://retention.example' }), problem);
  for (const OIDC_ISSUER of ['http://login.example', 'login', 'https://a:b@login.example']) {
    const text = problemsOf({ OIDC_ISSUER, BASE_URL: 'https://retention.example', ...client });
    assert.match(text, /OIDC_ISSUER must be an https/);
    assert.doesNotMatch(text, /a:b|hush/);
  }
  const sso = { OIDC_ISSUER: 'http://127.0.0.1:9000', OIDC_NAME: 'Lumen', BASE_URL: 'http://x' };
  assert.equal(parseConfig({ ...sso, ...client }).sso?.name, 'Lumen');
});
