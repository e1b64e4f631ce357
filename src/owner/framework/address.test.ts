import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePlace, encodePlace, positionSchema } from './cursor.ts';

const place = { createdAt: Date.parse('2026-11-20T12:00:00Z'), id: 7 };
const refused = /^This address continues another list/;

test('a place is read back in its list only', () => {
  const cursor = encodePlace('7 payments', place);
  assert.match(cursor, /^[\w-]+\.[\w-]+$/);
  assert.deepEqual(decodePlace('7 payments', cursor, positionSchema), place);
  for (const [identity, text] of [
    ['8 payments', cursor],
    ['7 payments', cursor.slice(0, -1)],
    ['7 payments', `x${cursor}`],
    ['7 payments', ''],
    ['7 payments', '.'],
  ] as const) {
    assert.throws(() => decodePlace(identity, text, positionSchema), { message: refused });
  }
});

test('a place that no row has is refused, whatever its checksum', () => {
  for (const impossible of [
    {},
    [],
    { ...place, id: 0 },
    { ...place, id: '7' },
    { ...place, createdAt: -1 },
    { ...place, createdAt: 1e15 },
    { createdAt: place.createdAt },
  ]) {
    const cursor = encodePlace('7 payments', impossible);
    assert.throws(() => decodePlace('7 payments', cursor, positionSchema), { message: refused });
  }
});
