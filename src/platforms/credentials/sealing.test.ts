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
  assert.ok(both.isOld(old));
  const sealed = both.seal(text, 'shop 7');
  assert.ok(!both.isOld(sealed));
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
