import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../log/log.ts';
import { noteProcesses } from '../../../test/support/started-processes.ts';
import { until } from '../../../test/support/until.ts';
import type { ImportRequest } from './jobs/import-file.ts';
import { Rehearsals } from './rehearsals.ts';

test('a rehearsal that cannot begin is logged, ends its process, and leaves only the figures out', async (t) => {
  const started = noteProcesses(t);
  const logged: string[] = [];
  const log = createLog('info', { write: (line) => void logged.push(JSON.parse(line).msg) });
  const rehearsals = new Rehearsals(256, log);
  const request = {
    shop: { id: 1, currency: 'USD', minorDigits: 2 },
    file: 'a.csv',
    fileName: 'a.csv',
    bytes: 1,
    answers: [],
    // No message to a process can have a function.
    database: () => {},
  } as unknown as ImportRequest;
  assert.deepEqual(rehearsals.find(request), { kind: 'running' });
  await until(() => rehearsals.find(request).kind === 'none');
  await rehearsals.close();
  assert.deepEqual(logged, ['import not rehearsed']);
  const [child] = started;
  assert.ok(child);
  await until(() => child.exitCode !== null);
});
