import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FixedClock } from '../clock.ts';
import { type SchemeName, readClaim, isSigned, schemes, mayBeSigned } from './signature.ts';

// The example that Standard Webhooks and its libraries publish.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const body = '{"test": 2432232314}';
const published = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
const other = 'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=';
const sentAt = 1_614_265_330;
const headers = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': String(sentAt),
  'webhook-signature': published,
};
const clockAt = (seconds: number) => new FixedClock(new Date(seconds * 1000).toISOString());

function verify(
  changed: Record<string, string | undefined> = {},
  { text = body, secrets = [secret], now = sentAt } = {},
): boolean {
  const claim = readClaim({ ...headers, ...changed }, clockAt(now));
  if (!claim) return false;
  return isSigned(claim, secrets, Buffer.from(text));
}

describe('signatures of Standard Webhooks', () => {
  test('match the published example', () => {
    assert.equal(verify(), true);
    assert.equal(verify({}, { secrets: [secret.replace('whsec_', '')] }), true);
  });

  test('may be several, of any version, for several secrets', () => {
    const list = `v1a,${published.slice(3)} ${other} ${published}`;
    assert.equal(verify({ 'webhook-signature': list }), true);
    assert.equal(verify({ 'webhook-signature': other }), false);
    assert.equal(verify({ 'webhook-signature': published.replace('v1,', 'v2,') }), false);
    assert.equal(verify({}, { secrets: ['whsec_AAAA', secret] }), true);
    assert.equal(verify({}, { secrets: ['whsec_AAAA'] }), false);
  });

  test('cover body, id and time', () => {
    assert.equal(verify({}, { text: `${body} ` }), false);
    assert.equal(verify({ 'webhook-id': 'msg_other' }), false);
    assert.equal(verify({ 'webhook-timestamp': String(sentAt + 1) }), false);
  });

  test('are accepted for five minutes before and after their time', () => {
    assert.equal(verify({}, { now: sentAt + 300 }), true);
    assert.equal(verify({}, { now: sentAt + 301 }), false);
    assert.equal(verify({}, { now: sentAt - 300 }), true);
    assert.equal(verify({}, { now: sentAt - 301 }), false);
  });

  test('need all three headers', () => {
    for (const name of Object.keys(headers)) assert.equal(verify({ [name]: undefined }), false);
    for (const time of ['', '-1', '1e9', ' 1614265330', '1614265330.5', 'now']) {
      assert.equal(verify({ 'webhook-timestamp': time }), false, time);
    }
    for (const list of ['', 'v1', 'v1,', published.slice(3)]) {
      assert.equal(verify({ 'webhook-signature': list }), false, list);
    }
  });
});

const vendorSecret = 'whsec_made_up_for_tests';
const vendorBody = '{"event":"session"}';

function verifyVendor(
  scheme: SchemeName,
  header: string,
  { text = vendorBody, now = sentAt, key = vendorSecret } = {},
): boolean {
  const signed = { [schemes[scheme].header]: header };
  assert.equal(mayBeSigned(signed), true);
  const claim = readClaim(signed, clockAt(now), schemes[scheme]);
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
    ['stripe', `t=${sentAt},v1=${timed.stripe}`],
    ['stripe', `t=${sentAt},v1=${'0'.repeat(64)},v1=${timed.stripe},v0=00`],
    ['paddle', `ts=${sentAt};h1=${timed.paddle}`],
  ] as const;
  for (const [scheme, header] of cases) {
    assert.equal(verifyVendor(scheme, header), true, header);
    assert.equal(verifyVendor(scheme, header, { now: sentAt + 300 }), true);
    assert.equal(verifyVendor(scheme, header, { now: sentAt + 301 }), false);
    assert.equal(verifyVendor(scheme, header, { text: `${vendorBody} ` }), false);
    assert.equal(verifyVendor(scheme, header, { key: 'another' }), false);
    assert.equal(verifyVendor(scheme, header.replace(String(sentAt), String(sentAt + 1))), false);
  }
  assert.equal(verifyVendor('stripe', `v1=${timed.stripe}`), false);
  assert.equal(verifyVendor('stripe', `t=${sentAt},v1=`), false);
  assert.equal(verifyVendor('stripe', `t=${sentAt}`), false);
});

test('the schemes of Churnkey and Chargebee Retention sign the body', () => {
  for (const [scheme, header] of Object.entries(untimed) as [SchemeName, string][]) {
    assert.equal(verifyVendor(scheme, header), true, scheme);
    assert.equal(verifyVendor(scheme, header, { text: `${vendorBody} ` }), false);
    assert.equal(verifyVendor(scheme, header, { key: 'another' }), false);
    assert.equal(verifyVendor(scheme, header.slice(1)), false);
    assert.equal(verifyVendor(scheme, `sha256=${header}`), false);
  }
});
