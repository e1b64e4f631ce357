import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FixedClock } from '../clock.ts';
import { type SchemeName, schemes } from './schemes.ts';
import { mayBeSigned, readClaim, isSigned } from './signature.ts';

const secret = 'whsec_made_up_for_tests';
const body = '{"event":"session"}';
const time = 1_614_265_330;
const clockAt = (seconds: number) => new FixedClock(new Date(seconds * 1000).toISOString());

function verify(
  scheme: SchemeName,
  header: string,
  { text = body, now = time, key = secret } = {},
): boolean {
  const headers = { [schemes[scheme].header]: header };
  assert.equal(mayBeSigned(headers), true);
  const claim = readClaim(headers, clockAt(now), schemes[scheme]);
  if (!claim) return false;
  assert.equal(claim.id, undefined);
  return isSigned(claim, [key], Buffer.from(text));
}

// Computed with openssl: printf '%s' 'TEXT' | openssl dgst -sha256 -hmac whsec_made_up_for_tests
const timed = {
  stripe: 'e2c2e4d4e66c82e72767d2bdb6b3395fe96d265d1b16fc37e02e126ab09c7f52',
  paddle: '276300c8dc3964f6ec10e9d6922f40075a2d910ee9b831b44dfe137cad7d1918',
};
const untimed = {
  churnkey: '8dd507ebbf17662ea9b8ea10650e901374e999ca2045416f8d2606a8641f113c',
  'chargebee-retention': '3edf1f661dff84c843b18c8ec0ed9590726e17d5',
} as const;

test('the schemes of Stripe and Paddle sign time and body', () => {
  const cases = [
    ['stripe', `t=${time},v1=${timed.stripe}`],
    ['stripe', `t=${time},v1=${'0'.repeat(64)},v1=${timed.stripe},v0=00`],
    ['paddle', `ts=${time};h1=${timed.paddle}`],
  ] as const;
  for (const [scheme, header] of cases) {
    assert.equal(verify(scheme, header), true, header);
    assert.equal(verify(scheme, header, { now: time + 300 }), true);
    assert.equal(verify(scheme, header, { now: time + 301 }), false);
    assert.equal(verify(scheme, header, { text: `${body} ` }), false);
    assert.equal(verify(scheme, header, { key: 'another' }), false);
    assert.equal(verify(scheme, header.replace(String(time), String(time + 1))), false);
  }
  assert.equal(verify('stripe', `v1=${timed.stripe}`), false);
  assert.equal(verify('stripe', `t=${time},v1=`), false);
  assert.equal(verify('stripe', `t=${time}`), false);
});

test('the schemes of Churnkey and Chargebee Retention sign the body', () => {
  for (const [scheme, header] of Object.entries(untimed) as [SchemeName, string][]) {
    assert.equal(verify(scheme, header), true, scheme);
    assert.equal(verify(scheme, header, { text: `${body} ` }), false);
    assert.equal(verify(scheme, header, { key: 'another' }), false);
    assert.equal(verify(scheme, header.slice(1)), false);
    assert.equal(verify(scheme, `sha256=${header}`), false);
  }
});
