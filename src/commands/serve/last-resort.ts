import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';

/** What is done about an error that nothing caught, before the process ends with status 1. */
export interface LastResort {
  report(error: Error): void;
  /** Saves what would be lost; given up after a second. */
  save?(): Promise<unknown>;
  /** Waits until what was reported is written; given up after half a second. */
  flush?(): Promise<unknown>;
}

const saveMilliseconds = 1_000;
const flushMilliseconds = 500;

let current: LastResort | undefined;
/** Of the monotonic clock; set once the process is ending. */
let endsBy: number | undefined;

/**
 * From now on an uncaught exception or unhandled rejection ends the process in this way. Node.js would
 * print it, which no log reader expects, and forget what is not saved.
 */
export function setLastResort(resort: LastResort): void {
  if (current === undefined) process.on('uncaughtException', (error) => void end(error));
  current = resort;
}

/** For what runs until it is told to stop: one line in the log. */
export function logLastResort(log: Log, save?: () => Promise<unknown>): LastResort {
  return {
    report: (err) => log.error({ err }, 'uncaught error; the process ends'),
    flush: () => new Promise<void>((resolve) => log.flush(() => resolve())),
    ...(save && { save }),
  };
}

async function end(error: unknown): Promise<void> {
  if (endsBy !== undefined) {
    // A consequence of the first, most likely. If such errors keep the timers below from running, this
    // is where the process ends.
    if (systemClock.monotonic() >= endsBy) process.exit(1);
    return;
  }
  endsBy = systemClock.monotonic() + saveMilliseconds + flushMilliseconds;
  const { report, save, flush } = current as LastResort;
  await attempt(async () => report(asError(error)), flushMilliseconds);
  if (save) await attempt(save, saveMilliseconds);
  if (flush) await attempt(flush, flushMilliseconds);
  exit(1);
}

/** Ends the process once the log is written, or cannot be written for half a second. */
export async function exitFlushed(log: Log, status?: number): Promise<void> {
  const { flush } = logLastResort(log);
  if (flush) await attempt(flush, flushMilliseconds);
  exit(status);
}

/** @param status the one that was set before, if nothing is said */
function exit(status?: number): void {
  // What is thrown while the process exits would otherwise keep it alive.
  endsBy = -Infinity;
  process.exit(status);
}

/** Does what it can in the time; that it fails changes nothing any more. */
async function attempt(work: () => Promise<unknown>, milliseconds: number): Promise<void> {
  try {
    await Promise.race([work(), sleep(milliseconds)]);
  } catch {
    // The error that began it was reported; this one would hide it.
  }
}

/** Anything can be thrown. An object that is no error is only named, as it may hold secrets. */
function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const text = Object(thrown) === thrown ? Object.prototype.toString.call(thrown) : String(thrown);
  return new Error(`${text} was thrown, which is not an error.`);
}
