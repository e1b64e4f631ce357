import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceError } from '../errors.ts';
import { decodeCursor, encodeCursor, pageOf } from './cursor.ts';

const listing = '7 subscriptions active';

const cursorAt = (createdAt: number, id: number, of = listing) =>
  encodeCursor(of, { createdAt, id });

function refuses(cursor: string, of = listing): void {
  const isRefusal = (error: unknown) => error instanceof ServiceError && error.kind === 'invalid';
  assert.throws(() => decodeCursor(of, cursor), isRefusal, JSON.stringify(cursor));
}

test('decodes to the encoded position', () => {
  for (const [createdAt, id] of [
    [0, 1],
    [1_793_880_000_123, 1001],
    [253_402_300_799_999, Number.MAX_SAFE_INTEGER],
  ] as const) {
    const cursor = cursorAt(createdAt, id);
    assert.match(cursor, /^[A-Za-z0-9_-]{30}$/);
    assert.deepEqual(decodeCursor(listing, cursor), { createdAt, id });
  }
});

test('refuses a cursor of another listing, filter or shop', () => {
  const cursor = cursorAt(1_793_880_000_123, 1001);
  for (const other of [
    '8 subscriptions active',
    '7 subscriptions ',
    '7 subscriptions paused',
    '7 cancellations active',
    '',
  ]) {
    refuses(cursor, other);
  }
});

test('refuses a cursor with any character changed, added or removed', () => {
  const cursor = cursorAt(1_793_880_000_123, 1001);
  for (let index = 0; index < cursor.length; index += 1) {
    for (const character of ['A', 'z', '-', '_']) {
      if (cursor[index] === character) continue;
      refuses(cursor.slice(0, index) + character + cursor.slice(index + 1));
    }
    refuses(cursor.slice(0, index) + cursor.slice(index + 1));
  }
  const altered = ['=', '==', ' ', '\n', '.', 'A', '%3D', '\0'].flatMap((each) => [
    cursor + each,
    each + cursor,
  ]);
  for (const each of altered) refuses(each);
});

test('refuses text that is not a cursor', () => {
  // Plain base64 decodes too, and must be refused.
  const plain = Buffer.from(cursorAt(1_793_880_000_123, 1001), 'base64url').toString('base64');
  const texts = ['', '0', 'null', '1001', 'AAAA', '/'.repeat(30), 'ä'.repeat(30), 'A'.repeat(5000)];
  for (const text of [...texts, 'A'.repeat(30), `${plain}=`]) refuses(text);
});

test('cuts a page and adds a cursor only if there are more rows', () => {
  const members = [5, 4, 3].map((id) => ({
    id,
    createdAt: '1970-01-01T00:00:00.010Z',
    // Looks like the beginning of a row.
    text: ',{"id":9,"createdAt":"1970-01-01T00:00:00.020Z"}',
  }));
  const rowsOf = (count: number) => ({
    rows: members
      .slice(0, count)
      .map((member) => JSON.stringify(member))
      .join(','),
    count: Math.min(count, members.length),
  });
  const cut = (limit: number) =>
    JSON.parse(pageOf('rows', listing, rowsOf(limit + 1), limit, 'id').text);

  const two = cut(2);
  assert.deepEqual(two.rows, members.slice(0, 2));
  assert.deepEqual(decodeCursor(listing, two.nextCursor), { createdAt: 10, id: 4 });
  assert.deepEqual(cut(3), { rows: members, nextCursor: null });
  assert.deepEqual(cut(50), { rows: members, nextCursor: null });
  assert.equal(
    pageOf('rows', listing, { rows: '', count: 0 }, 50, 'id').text,
    '{"rows":[],"nextCursor":null}',
  );
});

test('refuses an impossible position even with a valid checksum', () => {
  for (const [createdAt, id] of [
    [-1, 1],
    [253_402_300_800_000, 1],
    [Number.MAX_SAFE_INTEGER, 1],
    [0, 0],
    [0, -5],
    [0, 2 ** 53],
  ] as const) {
    refuses(cursorAt(createdAt, id));
  }
});
