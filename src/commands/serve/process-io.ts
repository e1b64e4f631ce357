import { readdirSync } from 'node:fs';
import os from 'node:os';
import { withEnvFile } from '../../config/env-file.ts';
import { createLog } from '../../log/log.ts';
import type { Io } from '../framework/io.ts';

/** The streams, signals and priority of this process. */
export const processIo: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  environment: () => withEnvFile(process.env),
  openLog: (level) => createLog(level),
  stopSignal,
  giveWay,
};

const repeatMilliseconds = 500;

/**
 * The first signal requests an orderly shutdown; a later one ends the process at once. A second one
 * right after the first is a duplicate: the terminal signals all its processes, and npm also
 * forwards the signal.
 */
function stopSignal(): Promise<NodeJS.Signals> {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      resolve(signal);
      setTimeout(() => {
        for (const each of signals) process.removeListener(each, stop);
      }, repeatMilliseconds).unref();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}

/** The machine may also serve requests, which cannot wait. */
function giveWay(): void {
  const usual = os.constants.priority.PRIORITY_BELOW_NORMAL;
  try {
    // Linux has a priority for each thread, and collecting garbage takes several.
    const threads = process.platform === 'linux' ? readdirSync('/proc/self/task') : [process.pid];
    for (const thread of threads.map(Number)) {
      // It may have been started with a lower one, which has the higher number.
      if (os.getPriority(thread) < usual) os.setPriority(thread, usual);
    }
  } catch {
    // Some sandboxes refuse it; the import works as well.
  }
}
