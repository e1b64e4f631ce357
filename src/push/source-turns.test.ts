import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SourceTurns } from './source-turns.ts';

const batch = (sourceId: string, bytes: number) => ({
  shopId: 1,
  sourceId,
  batchId: '00000000-0000-4000-8000-000000000001',
  attempts: 0,
  bytes,
  dueAt: null,
});

/** Stores the batches of queues, one after the other. @returns their sources in order */
function store(turns: SourceTurns, queues: Record<string, number[]>, batches = Infinity): string {
  const order: string[] = [];
  for (; order.length < batches;) {
    const heads = Object.entries(queues).flatMap(([sourceId, [bytes]]) =>
      bytes === undefined ? [] : [batch(sourceId, bytes)],
    );
    const next = turns.choose(heads, 0);
    if (!next) break;
    turns.charge(next);
    queues[next.sourceId]?.shift();
    order.push(next.sourceId);
  }
  return order.join(' ');
}

test('sources take turns, by bytes', () => {
  const queues = { a: [100, 100, 100], b: [100, 100, 100], c: [300] };
  assert.equal(store(new SourceTurns(), queues), 'a b a b a b c');
});

test('small batches that arrive later pass large ones, until their source has had as much', () => {
  const turns = new SourceTurns();
  const queues: Record<string, number[]> = { a: [100, 100, 100], b: [100, 100, 100] };
  assert.equal(store(turns, queues, 3), 'a b a');
  queues['session'] = [1];
  assert.equal(store(turns, queues, 1), 'session');
  queues['session'] = [60, 60, 60];
  assert.equal(store(turns, queues), 'session b session session a b');
});

test('a source that was idle has saved nothing up', () => {
  const turns = new SourceTurns();
  store(turns, { a: [100, 100, 100, 100, 100] });
  assert.equal(store(turns, { a: [100, 100], b: [100, 100, 100] }), 'b a b a b');
});

test('a paused source is left out until its time, and does not hold up the others', () => {
  const turns = new SourceTurns();
  const [a, b] = [batch('a', 1), batch('b', 9)];
  turns.pause(a, 1000);
  assert.equal(turns.choose([a, b], 999), b);
  assert.equal(turns.choose([a], 999), undefined);
  assert.equal(turns.choose([a, b], 1000), a);
});
