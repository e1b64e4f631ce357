import { fork } from 'node:child_process';
import type { Report } from './import-file.ts';
import type { End, JobKind, Request, Result } from './job.ts';
import { tooMuchMemory, tooMuchTime } from './limits.ts';

/** A process ended without a result: it needed more memory than it may have, or was silent for too long. */
export class JobEnded extends Error {
  readonly lack: 'memory' | 'time';

  constructor(lack: JobEnded['lack']) {
    super(`the process ended for lack of ${lack}`);
    this.lack = lack;
  }

  problemFor(fileName: string): string {
    return this.lack === 'time' ? tooMuchTime(fileName) : tooMuchMemory(fileName);
  }
}

interface JobOptions {
  /** How large the heap may be. */
  readonly heapMegabytes: number;
  /** Asks the job to end early. */
  readonly signal?: AbortSignal;
  receive?(report: Report): void;
}

/** An import reports every second; an examination that takes longer is given up. */
const maxSilenceMilliseconds = 60_000;
/** The last of what a process writes, for the log if it dies. */
const keptCharacters = 2000;

/**
 * Does a job in a process of its own. In a thread, V8 mostly ends the whole process if memory runs out, whatever
 * `resourceLimits` say, and `--max-old-space-size` overrides them.
 * @throws JobEnded
 */
export function runJob<Kind extends JobKind>(
  kind: Kind,
  request: Request<Kind>,
  { heapMegabytes, signal, receive }: JobOptions,
): Promise<Result<Kind>> {
  return new Promise((resolve, reject) => {
    const child = fork(new URL('./job-process.ts', import.meta.url), {
      execArgv: [`--max-old-space-size=${heapMegabytes}`],
      // A terminal's Ctrl-C is for the service, which stops its jobs in order.
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let end: End | undefined;
    let isSilent = false;
    let written = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      written = (written + text).slice(-keptCharacters);
    });
    const kill = () => void child.kill('SIGKILL');
    process.once('exit', kill);
    const silence = setTimeout(() => {
      isSilent = true;
      kill();
    }, maxSilenceMilliseconds);
    // A process that cannot be reached has ended, which `close` tells.
    const send = (message: object) => child.send(message, () => {});
    const stop = () => send({ kind: 'stop' });
    signal?.addEventListener('abort', stop, { once: true });
    child.on('message', (message: Report | End) => {
      silence.refresh();
      if (message.kind === 'result' || message.kind === 'failed') end = message;
      else receive?.(message);
    });
    const settle = () => {
      clearTimeout(silence);
      process.off('exit', kill);
      signal?.removeEventListener('abort', stop);
    };
    child.once('error', (error) => {
      settle();
      reject(error);
    });
    child.once('close', (code, killedBy) => {
      settle();
      if (end?.kind === 'result') resolve(end.result as Result<Kind>);
      else if (end) reject(new Error(end.reason));
      else if (isSilent) reject(new JobEnded('time'));
      // V8 aborts the process, and a system without memory kills it.
      else if (killedBy === 'SIGABRT' || killedBy === 'SIGKILL') reject(new JobEnded('memory'));
      else reject(new Error(`the process of the job ended with ${killedBy ?? code}: ${written}`));
    });
    send({ kind, request });
  });
}
