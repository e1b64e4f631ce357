import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overlapUntil } from './sources.ts';

test('the secret before a rotation is accepted until its time, and no longer at that instant', () => {
  const previousUntil = new Date('2026-11-20T12:00:00.000Z');
  const at = (time: string) => overlapUntil({ previousUntil }, Date.parse(time));
  assert.equal(at('2026-11-20T11:59:59.999Z'), previousUntil);
  assert.equal(at('2026-11-20T12:00:00.000Z'), undefined);
  assert.equal(overlapUntil({ previousUntil: null }, 0), undefined);
});
