import { fork } from 'node:child_process';
import type { Report, ImportEnd, ImportRequest } from './import-file.ts';
import { tooMuchMemory, tooMuchTime } from './limits.ts';
import type { Examination, ExamineRequest, Unusable } from './examine.ts';

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

/** The work on uploaded files that is done in processes of its own. */
interface Jobs {
  readonly examine: { readonly request: ExamineRequest; readonly result: Examination | Unusable };
  readonly import: { readonly request: ImportRequest; readonly result: ImportEnd };
}

export type JobKind = keyof Jobs;
export type Request<Kind extends JobKind> = Jobs[Kind]['request'];
export type Result<Kind extends JobKind> = Jobs[Kind]['result'];

/** What the process is sent first. Any later message asks it to stop. */
export type Job = {
  [Kind in JobKind]: { readonly kind: Kind; readonly request: Request<Kind> };
}[JobKind];

/** What it sends in the end: the result, or an error of ours. */
export type End =
  | { readonly kind: 'result'; readonly result: Result<JobKind> }
  | { readonly kind: 'failed'; readonly reason: string };
