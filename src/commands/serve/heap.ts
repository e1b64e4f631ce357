import cluster from 'node:cluster';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { type Config, limitsHeap } from '../../config/config.ts';

interface Share {
  /** The container's memory limit; 0 or undefined if the system cannot tell. */
  readonly limitBytes: number | undefined;
  /** The machine's memory. */
  readonly totalBytes: number;
  /** Processes that share the limit; if there are several, a supervisor is added. */
  readonly processes: number;
  /** Whether the embedded database runs in the process. */
  readonly isEmbedded: boolean;
}

const megabyte = 2 ** 20;
/** The service cannot start with less. */
const minMegabytes = 128;
/** Node.js's own maximum on machines of ordinary size; more was never needed. */
const maxMegabytes = 2048;
/** Below this limit, Node.js no longer sizes the heap at half of it. */
const defaultFromMegabytes = 512;
const supervisorMegabytes = 64;
/** The embedded database's memory outside the heap, measured with the demo shop. */
const embeddedMegabytes = 768;

/**
 * The heap limit (old space) of each process that keeps all of them within the container's limit:
 * half of each share. The other half is for code, buffers, and commands run beside the service.
 * @returns undefined if there is no limit, or Node.js's default fits
 */
export function heapMegabytes(share: Share): number | undefined {
  const { limitBytes = 0, totalBytes, processes, isEmbedded } = share;
  // Without a limit, systems report a number larger than the memory.
  if (limitBytes <= 0 || limitBytes >= totalBytes) return undefined;
  const limit = limitBytes / megabyte;
  if (processes === 1 && !isEmbedded && limit >= defaultFromMegabytes) return undefined;
  const others = (processes > 1 ? supervisorMegabytes : 0) + (isEmbedded ? embeddedMegabytes : 0);
  const half = Math.floor((limit - others) / processes / 2);
  return Math.min(maxMegabytes, Math.max(minMegabytes, half));
}

/** Empty without a memory limit, and when the heap limit was set explicitly. */
function heapFlags(config: Config, processes: number): string[] {
  const isSetExplicitly = config.setsHeapLimit || limitsHeap(process.execArgv.join(' '));
  const megabytes = heapMegabytes({
    limitBytes: process.constrainedMemory(),
    totalBytes: totalmem(),
    processes,
    isEmbedded: config.databaseUrl === undefined,
  });
  return isSetExplicitly || megabytes === undefined ? [] : [`--max-old-space-size=${megabytes}`];
}

/**
 * Limits the heap of this process if Node.js would let it outgrow the container. The limit is fixed
 * when a process starts, so this one re-executes itself, with the same process id, first.
 */
export function limitHeap(config: Config): void {
  const flags = heapFlags(config, 1);
  if (flags.length === 0) return;
  const { execPath, execArgv, argv } = process;
  process.execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)]);
}

/** The same for workers that are started later. */
export function limitWorkerHeaps(config: Config, workers: number): void {
  cluster.setupPrimary({ execArgv: [...process.execArgv, ...heapFlags(config, workers)] });
}

/** The heap limit of this process, all spaces included. */
export function heapLimitMegabytes(): number {
  return Math.round(getHeapStatistics().heap_size_limit / megabyte);
}

/** The container's memory limit; undefined if there is none. */
export function memoryLimitMegabytes(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? Math.round(limit / megabyte) : undefined;
}
