import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { CommandError } from '../../errors.ts';
import { Sealing } from './sealing.ts';

const [key, other] = [randomBytes(32), randomBytes(32)];
const text = '{"accessToken":"shpat_0123456789"}';

test('opens what it has sealed, and never seals the same way twice', () => {
  const sealing = new Sealing([key]);
  const [one, two] = [sealing.seal(text, 'shop 7'), sealing.seal(text, 'shop 7')];
  assert.equal(sealing.open(one, 'shop 7'), text);
  assert.equal(sealing.open(two, 'shop 7'), text);
  assert.notEqual(one, two);
  assert.ok(!Buffer.from(one, 'base64').includes('shpat_'));
});

test('opens with an older key, and seals with the newest', () => {
  const old = new Sealing([other]).seal(text, 'shop 7');
  const both = new Sealing([key, other]);
  assert.equal(both.open(old, 'shop 7'), text);
  const sealed = both.reseal(old, 'shop 7');
  assert.notEqual(sealed, old);
  assert.equal(both.reseal(sealed, 'shop 7'), sealed);
  assert.equal(new Sealing([key]).open(sealed, 'shop 7'), text);
});

test('opens nothing without its key, in another context, or changed in any byte', () => {
  const sealed = new Sealing([key]).seal(text, 'shop 7');
  const bytes = Buffer.from(sealed, 'base64');
  assert.throws(() => new Sealing([other]).open(sealed, 'shop 7'), /CREDENTIALS_KEY lacks the key/);
  assert.throws(() => new Sealing([key]).open(sealed, 'shop 8'), /cannot be decrypted/);
  const open = (changed: Buffer) => new Sealing([key]).open(changed.toString('base64'), 'shop 7');
  for (let byte = 0; byte < bytes.length; byte += 1) {
    const changed = Buffer.from(bytes);
    changed[byte] = (changed[byte] as number) ^ 1;
    assert.throws(() => open(changed), CommandError, `byte ${byte}`);
  }
  for (const length of [0, 10, 20, 30]) {
    assert.throws(() => open(bytes.subarray(0, length)), CommandError);
  }
});

test('stores texts plainly without a key, where that is allowed, and seals them once there is one', () => {
  const options = { allowsPlain: true };
  const keyless = new Sealing([], options);
  const plain = keyless.seal(text, 'shop 7');
  assert.equal(plain, `plain:${text}`);
  assert.equal(keyless.open(plain, 'shop 7'), text);
  assert.equal(keyless.reseal(plain, 'shop 7'), plain);
  const keyed = new Sealing([key], options);
  assert.equal(keyed.open(plain, 'shop 7'), text);
  const sealed = keyed.reseal(plain, 'shop 7');
  assert.ok(keyed.isPlain(plain) && !keyed.isPlain(sealed));
  assert.equal(new Sealing([key]).open(sealed, 'shop 7'), text);
  assert.equal(keyless.reseal(sealed, 'shop 7'), sealed);
  assert.throws(() => keyless.open(sealed, 'shop 7'), /CREDENTIALS_KEY is not set/);

  assert.throws(() => new Sealing([]).seal(text, 'shop 7'), /CREDENTIALS_KEY is not set/);
  assert.ok(!new Sealing([key]).canOpen(plain, 'shop 7'));
});
