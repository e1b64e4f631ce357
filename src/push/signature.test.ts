import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FixedClock } from '../clock.ts';
import { readClaim, isSigned } from './signature.ts';

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
