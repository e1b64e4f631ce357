import type { ChildProcess } from 'node:child_process';
import diagnostics from 'node:diagnostics_channel';
import type { TestContext } from 'node:test';

/** The processes that this one starts until the test ends. */
export function noteProcesses(t: TestContext): readonly ChildProcess[] {
  const started: ChildProcess[] = [];
  const note = (message: unknown) => started.push((message as { process: ChildProcess }).process);
  diagnostics.subscribe('child_process', note);
  t.after(() => diagnostics.unsubscribe('child_process', note));
  return started;
}
