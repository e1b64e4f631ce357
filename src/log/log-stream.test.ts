import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogStream } from './log-stream.ts';

type Done = (error?: Error | null) => void;

/** A destination whose writes complete when the test says so. */
function slowSink() {
  const written: string[] = [];
  const open: Done[] = [];
  const stream = new LogStream((text, done) => {
    written.push(text);
    open.push(done);
  });
  return { stream, written, finish: (error?: Error) => open.shift()?.(error) };
}

const line = `${'x'.repeat(99)}\n`;

test('writes lines in batches, in order', () => {
  const { stream, written, finish } = slowSink();
  for (let each = 0; each < 159; each += 1) stream.write(line);
  assert.deepEqual(written, []);
  stream.write('last\n'.padStart(100, 'y'));
  assert.equal(written.join('').length, 16_000);
  stream.write('next\n');
  finish();
  assert.equal(written.length, 1);
  stream.flush();
  assert.deepEqual(written.slice(1), ['next\n']);
});

test('buffers at most a million characters for a stalled destination', () => {
  const { stream, written, finish } = slowSink();
  for (let each = 0; each < 50_000; each += 1) stream.write(line);
  assert.equal(written.length, 1);
  finish();
  const [, second = ''] = written;
  assert.ok(second.length <= 1_000_200, String(second.length));
  finish();
  stream.flush();
  const all = written.join('');
  const kept = all.split('\n').filter((each) => each === line.trimEnd()).length;
  const report = all.split('\n').find((each) => each.startsWith('{')) ?? '{}';
  const { level, lines, msg } = JSON.parse(report);
  assert.deepEqual([level, lines + kept, msg], ['warn', 50_000, 'log lines dropped']);
});

test('drops the lines of a failed write, reports them later, and continues', () => {
  const { stream, written, finish } = slowSink();
  stream.write('one\ntwo\n');
  stream.flush();
  finish(new Error('ENOSPC'));
  stream.write('three\n');
  stream.flush();
  finish();
  stream.flush();
  assert.deepEqual(written.slice(0, 2), ['one\ntwo\n', 'three\n']);
  assert.match(written[2] ?? '', /"lines":2,"msg":"log lines dropped"/);
});

test('calls back from a flush once everything before it is written or lost', () => {
  const { stream, finish } = slowSink();
  const told: string[] = [];
  stream.flush(() => told.push('nothing to write'));
  stream.write('one\n');
  stream.flush(() => told.push('one'));
  assert.deepEqual(told, ['nothing to write']);
  finish(new Error('EPIPE'));
  assert.deepEqual(told, ['nothing to write', 'one']);
});
