import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../log/log.ts';
import { StopDeadline } from './stop-deadline.ts';

const log = createLog('silent', { write() {} });

test('closes connections three seconds before the deadline', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const deadline = new StopDeadline(20, log);
  t.mock.timers.tick(16_999);
  assert.equal(deadline.signal.aborted, false);
  t.mock.timers.tick(1);
  assert.equal(deadline.signal.aborted, true);
});

test('closes connections halfway to a short deadline', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const deadline = new StopDeadline(1, log);
  t.mock.timers.tick(499);
  assert.equal(deadline.signal.aborted, false);
  t.mock.timers.tick(1);
  assert.equal(deadline.signal.aborted, true);
});
