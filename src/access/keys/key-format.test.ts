import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { runs } from '../../../test/support/seed.ts';
import { generateKey, hashKey, isWellFormedKey } from './key-format.ts';

// Their last six characters are a CRC-32 that another program computed.
const pinned = 'rtn_0123456789abcdefghijklmnopqrstuvwxyz_CWSW8A';
const otherPinned = 'rtn_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAlZZfdg';
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

// Requirements: rest.auth.key-format.
test('a key is rtn_ and 43 URL-safe characters, and unique', () => {
  const keys = Array.from({ length: 1000 }, generateKey);
  for (const key of keys) {
    assert.match(key, /^rtn_[A-Za-z0-9_-]{43}$/);
    assert.equal(isWellFormedKey(key), true);
  }
  assert.equal(new Set(keys).size, 1000);
  // Each of the 37 random positions uses the whole alphabet.
  for (let place = 4; place < 41; place += 1) {
    assert.ok(new Set(keys.map((key) => key[place])).size > 50, `place ${place} hardly varies`);
  }
});

test('existing keys stay well formed: the checksum never changes', () => {
  assert.equal(isWellFormedKey(pinned), true);
  assert.equal(isWellFormedKey(otherPinned), true);
});

test('hashes keys as SHA-256 in base64', () => {
  assert.equal(hashKey(pinned), 'CKdQZ0gWECao44bEZH09h9C+nExYqefByYVneXz0Ctg=');
});

test('detects any changed character', () => {
  const change = fc.record({
    key: fc.noShrink(fc.constant(undefined).map(generateKey)),
    place: fc.nat(46),
    character: fc.constantFrom(...alphabet, ...' .=+/\n\0é'),
  });
  const property = fc.property(change, ({ key, place, character }) => {
    fc.pre(key[place] !== character);
    assert.equal(isWellFormedKey(key.slice(0, place) + character + key.slice(place + 1)), false);
  });
  fc.assert(property, runs(3000));
});

test('detects missing, added and swapped characters', () => {
  for (let place = 0; place < pinned.length; place += 1) {
    const [before, after] = [pinned.slice(0, place), pinned.slice(place)];
    assert.equal(isWellFormedKey(before + after.slice(1)), false);
    assert.equal(isWellFormedKey(`${before}A${after}`), false);
    const swapped = before + after.slice(0, 2).split('').toReversed().join('') + after.slice(2);
    assert.equal(isWellFormedKey(swapped), swapped === pinned);
  }
  for (const text of ['', 'rtn_', ` ${pinned}`, `${pinned} `, `${pinned}\n`, pinned.toUpperCase()])
    assert.equal(isWellFormedKey(text), false);
});
