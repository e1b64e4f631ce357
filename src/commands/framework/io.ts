import type { Readable, Writable } from 'node:stream';
import { CommandError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import { visible } from '../../log/visible.ts';

/** What commands use of their process. Tests run commands with another one, in their own process. */
export interface Io {
  readonly stdin: Readable;
  /** Holds only results. */
  readonly stdout: Writable & { readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** @throws UsageError if `.env` cannot be used */
  environment(): NodeJS.ProcessEnv;
  openLog(level: string): Log;
  /** Resolves with the first signal that asks the process to stop. */
  stopSignal(): Promise<NodeJS.Signals>;
  /** Lowers the priority of this process. */
  giveWay(): void;
}

/** Prints a result for people. */
export function print({ stdout }: Io, text: string): void {
  stdout.write(`${visibleLines(text)}\n`);
}

/** Prints a result for programs, with all characters as they are. */
export function printJson({ stdout }: Io, value: unknown): void {
  stdout.write(`${JSON.stringify(value)}\n`);
}

/** Prints a notice or an error to standard error. */
export function tell({ stderr }: Io, text: string): void {
  stderr.write(`${visibleLines(text)}\n`);
}

function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** Failures of standard output that a command deals with itself. */
const expected = new WeakSet<Error>();

/** Whether nothing deals with a failure of standard output. A command finishes even if its reader is gone (EPIPE). */
export function isUnexpected(error: Error): boolean {
  return !isReaderGone(error) && !expected.has(error);
}

/** Whether writing failed because the reader closed our output (EPIPE). */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

/**
 * Prints a secret, which is shown only once, and waits until it is written.
 * @throws CommandError if it cannot be
 */
export async function printSecret({ stdout }: Io, text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<Error | null | undefined>();
  stdout.write(`${text}\n`, (error) => {
    if (error) expected.add(error);
    resolve(error);
  });
  const error = await promise;
  if (!error) return;
  throw new CommandError(
    `Standard output cannot be written, so the secret would be lost, and nothing was changed: ${error.message}.`,
    { cause: error },
  );
}
