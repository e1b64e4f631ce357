import cluster from 'node:cluster';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { type Config, limitsHeap } from '../../config.ts';

interface Share {
  /** What the container may take; 0 or undefined where the system cannot say. */
  readonly limitBytes: number | undefined;
  /** Of the machine. */
  readonly totalBytes: number;
  /** How many share the limit, besides a supervisor if there are several. */
  readonly processes: number;
  /** Whether the embedded database runs in the process. */
  readonly isEmbedded: boolean;
}

const megabyte = 2 ** 20;
/** Less, and nothing starts. */
const minMegabytes = 128;
/** What Node.js takes at most on machines of ordinary size; more was never needed. */
const maxMegabytes = 2048;
/** Below twice its own least heap, Node.js no longer takes half of the limit. */
const defaultFromMegabytes = 512;
const supervisorMegabytes = 64;
/** Of the embedded database's memory, which is outside of the heap: measured with the demo shop. */
const embeddedMegabytes = 768;

/**
 * Megabytes that the heap of each process may take (old space), so that all of them stay within the
 * container's limit: half of their share. The other half is for code, buffers and what a command takes.
 * @returns undefined where there is no limit, or what Node.js chooses by itself fits
 */
export function heapMegabytes(share: Share): number | undefined {
  const { limitBytes = 0, totalBytes, processes, isEmbedded } = share;
  // Without a limit systems give a number beyond all memory.
  if (limitBytes <= 0 || limitBytes >= totalBytes) return undefined;
  const limit = limitBytes / megabyte;
  if (processes === 1 && !isEmbedded && limit >= defaultFromMegabytes) return undefined;
  const others = (processes > 1 ? supervisorMegabytes : 0) + (isEmbedded ? embeddedMegabytes : 0);
  const half = Math.floor((limit - others) / processes / 2);
  return Math.min(maxMegabytes, Math.max(minMegabytes, half));
}

/** Empty without a memory limit, and when the heap limit was set explicitly. */
function heapFlags(config: Config, processes: number): string[] {
  const isChosen = config.setsHeapLimit || limitsHeap(process.execArgv.join(' '));
  const megabytes = heapMegabytes({
    limitBytes: process.constrainedMemory(),
    totalBytes: totalmem(),
    processes,
    isEmbedded: config.databaseUrl === undefined,
  });
  return isChosen || megabytes === undefined ? [] : [`--max-old-space-size=${megabytes}`];
}

/**
 * Limits the heap of this process where Node.js would let it outgrow the container. The limit is fixed
 * when a process starts, so this one is replaced by itself, with the same id, before it does anything.
 */
export function limitHeap(config: Config): void {
  const flags = heapFlags(config, 1);
  if (flags.length === 0) return;
  const { execPath, execArgv, argv } = process;
  process.execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)]);
}

/** The same for workers that are still to be started. */
export function limitWorkerHeaps(config: Config, workers: number): void {
  cluster.setupPrimary({ execArgv: [...process.execArgv, ...heapFlags(config, workers)] });
}

/** What the heap of this process may take, all of it. */
export function heapLimitMegabytes(): number {
  return Math.round(getHeapStatistics().heap_size_limit / megabyte);
}

/** Of the container; undefined where there is none. */
export function memoryLimitMegabytes(): number | undefined {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? Math.round(limit / megabyte) : undefined;
}
