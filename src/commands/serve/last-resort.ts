import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';

/** How to handle an uncaught error before the process exits with status 1. */
export interface LastResort {
  report(error: Error): void;
  /** Saves what would be lost; abandoned after a second. */
  save?(): Promise<unknown>;
  /** Waits until the report is written; abandoned after half a second. */
  flush?(): Promise<unknown>;
}

const saveMilliseconds = 1_000;
const flushMilliseconds = 500;

let current: LastResort | undefined;
/** Deadline on the monotonic clock; set once the process is exiting. */
let exitDeadline: number | undefined;

/**
 * Handles uncaught exceptions and unhandled rejections from now on. By default, Node.js would print
 * them outside the log's format, and unsaved data would be lost.
 */
export function setLastResort(resort: LastResort): void {
  if (current === undefined) process.on('uncaughtException', (error) => void end(error));
  current = resort;
}

/** For commands that run until stopped: reports the error as one log line. */
export function logLastResort(log: Log, save?: () => Promise<unknown>): LastResort {
  return {
    report: (err) => log.error({ err }, 'uncaught error; the process ends'),
    flush: () => new Promise<void>((resolve) => log.flush(() => resolve())),
    ...(save && { save }),
  };
}

async function end(error: unknown): Promise<void> {
  if (exitDeadline !== undefined) {
    // Most likely a consequence of the first error. If such errors keep the timers below from
    // running, the process exits here.
    if (systemClock.monotonic() >= exitDeadline) process.exit(1);
    return;
  }
  exitDeadline = systemClock.monotonic() + saveMilliseconds + flushMilliseconds;
  const { report, save, flush } = current as LastResort;
  await attempt(async () => report(asError(error)), flushMilliseconds);
  if (save) await attempt(save, saveMilliseconds);
  if (flush) await attempt(flush, flushMilliseconds);
  exit(1);
}

/** Exits once the log is written, or after half a second. */
export async function flushLogAndExit(log: Log, status?: number): Promise<void> {
  const { flush } = logLastResort(log);
  if (flush) await attempt(flush, flushMilliseconds);
  exit(status);
}

/** @param status by default, the one that was set before */
function exit(status?: number): void {
  // An error thrown during the exit would otherwise keep the process alive.
  exitDeadline = -Infinity;
  process.exit(status);
}

/** Runs the work for a limited time, and ignores its errors. */
async function attempt(work: () => Promise<unknown>, milliseconds: number): Promise<void> {
  try {
    await Promise.race([work(), sleep(milliseconds)]);
  } catch {
    // The first error was reported; this one would only distract from it.
  }
}

/** Anything can be thrown. For objects, names only the type, since they may hold secrets. */
function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const text = Object(thrown) === thrown ? Object.prototype.toString.call(thrown) : String(thrown);
  return new Error(`${text} was thrown, which is not an error.`);
}
