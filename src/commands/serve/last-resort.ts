import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log/log.ts';
import { explain } from '../framework/command.ts';
import { processIo } from './process-io.ts';

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
/** How long what a command left open may keep the process alive. */
const lingerMilliseconds = 200;

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

/** For commands that run until stopped: reports the error as one log line, where the log has errors. */
export function logLastResort(log: Log, save?: () => Promise<unknown>): LastResort {
  return {
    report: (err) =>
      log.isLevelEnabled('error')
        ? log.error({ err }, 'uncaught error; the process ends')
        : void explain(err, processIo),
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

/**
 * Sets the status of a command whose result or error has been printed. The process exits by itself; if the command runs
 * until stopped, also while something hangs: a connection to a frozen database, or traces on their way to a collector
 * that does not answer.
 */
export function endCommand(status: number): void {
  process.exitCode = status;
  const { flush } = current as LastResort;
  if (!flush) return;
  setTimeout(async () => {
    await attempt(flush, flushMilliseconds);
    // An uncaught error has its own end.
    if (exitDeadline === undefined) exit(status);
  }, lingerMilliseconds).unref();
}

/** Exits once the log is written, or after half a second. */
export async function flushLogAndExit(log: Log, status: number): Promise<void> {
  const { flush } = logLastResort(log);
  if (flush) await attempt(flush, flushMilliseconds);
  exit(status);
}

/** Always with a status: Node.js takes `process.exit(undefined)` for 0, whatever `process.exitCode` says. */
function exit(status: number): void {
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
