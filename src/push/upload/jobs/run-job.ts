import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
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
/** An owner's next job mostly comes within this time, and is faster in a process that has done one. */
const maxIdleMilliseconds = 60_000;
const maxIdle = 2;

interface JobProcess {
  readonly child: ChildProcess;
  readonly heapMegabytes: number;
  written: string;
  /** The timer that ends it, unless a job comes first. */
  idling?: NodeJS.Timeout;
}

const idle = new Set<JobProcess>();

function startProcess(heapMegabytes: number): JobProcess {
  const child = fork(new URL('./job-process.ts', import.meta.url), {
    execArgv: [`--max-old-space-size=${heapMegabytes}`],
    // A terminal's Ctrl-C is for the service, which stops its jobs in order.
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const started: JobProcess = { child, heapMegabytes, written: '' };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    started.written = (started.written + text).slice(-keptCharacters);
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  // Something else can end it while it is idle.
  child.once('disconnect', () => idle.delete(started));
  child.once('close', () => process.off('exit', kill));
  return started;
}

/** Whether a process keeps this one alive. */
function setHolding({ child }: JobProcess, isHolding: boolean): void {
  const act = isHolding ? 'ref' : 'unref';
  child[act]();
  child.channel?.[act]();
  (child.stderr as Socket | null)?.[act]();
}

function takeProcess(heapMegabytes: number): JobProcess {
  const found = [...idle].find(
    (each) => each.heapMegabytes === heapMegabytes && each.child.connected,
  );
  if (!found) return startProcess(heapMegabytes);
  clearTimeout(found.idling);
  idle.delete(found);
  found.written = '';
  setHolding(found, true);
  return found;
}

function keepProcess(done: JobProcess): void {
  if (!done.child.connected) return;
  const [oldest] = idle;
  if (oldest && idle.size >= maxIdle) endProcess(oldest);
  setHolding(done, false);
  done.idling = setTimeout(() => endProcess(done), maxIdleMilliseconds).unref();
  idle.add(done);
}

function endProcess(ended: JobProcess): void {
  clearTimeout(ended.idling);
  idle.delete(ended);
  // A process that has ended would emit an error.
  if (ended.child.connected) ended.child.disconnect();
}

/**
 * Does a job in another process, which waits a minute for the next. In a thread, V8 mostly ends the whole process if
 * memory runs out, whatever `resourceLimits` say, and `--max-old-space-size` overrides them.
 * @throws JobEnded
 */
export function runJob<Kind extends JobKind>(
  kind: Kind,
  request: Request<Kind>,
  { heapMegabytes, signal, receive }: JobOptions,
): Promise<Result<Kind>> {
  return new Promise((resolve, reject) => {
    const taken = takeProcess(heapMegabytes);
    const { child } = taken;
    let isSilent = false;
    const silence = setTimeout(() => {
      isSilent = true;
      child.kill('SIGKILL');
    }, maxSilenceMilliseconds);
    // A process that cannot be reached has ended, which `close` tells.
    const send = (message: object) => child.send(message, () => {});
    const stop = () => send({ kind: 'stop' });
    const settle = () => {
      clearTimeout(silence);
      signal?.removeEventListener('abort', stop);
      child.off('message', hear).off('error', fail).off('close', close);
    };
    const finish = (end: End) => {
      settle();
      if (end.kind === 'result') {
        keepProcess(taken);
        resolve(end.result as Result<Kind>);
      } else {
        endProcess(taken);
        reject(new Error(end.reason));
      }
    };
    const hear = (message: Report | End) => {
      silence.refresh();
      if (message.kind === 'result' || message.kind === 'failed') finish(message);
      else receive?.(message);
    };
    const fail = (error: unknown) => {
      settle();
      endProcess(taken);
      reject(error);
    };
    const close = (code: number | null, killedBy: NodeJS.Signals | null) => {
      settle();
      if (isSilent) reject(new JobEnded('time'));
      // V8 aborts the process, and a system without memory kills it.
      else if (killedBy === 'SIGABRT' || killedBy === 'SIGKILL') reject(new JobEnded('memory'));
      else
        reject(
          new Error(`the process of the job ended with ${killedBy ?? code}: ${taken.written}`),
        );
    };
    signal?.addEventListener('abort', stop, { once: true });
    child.on('message', hear).on('error', fail).on('close', close);
    try {
      send({ kind, request });
    } catch (error) {
      // What cannot be cloned cannot be sent.
      fail(error);
    }
  });
}
