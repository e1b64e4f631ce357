import { spawn, type StdioOptions } from 'node:child_process';
import type { Readable } from 'node:stream';
import { cpuMicroseconds, residentMegabytes } from './cpu.ts';
import { retention } from './processes.ts';

const sampleMilliseconds = 250;

interface Measured {
  readonly seconds: number;
  /** Max resident memory. */
  readonly megabytes: number;
  readonly cpuMicroseconds: number;
  /** PostgreSQL's. */
  readonly serverCpuMicroseconds: number;
  /** By type of record. */
  readonly stored: Readonly<Record<string, number>>;
}

/**
 * Runs `retention import` and measures its memory, and its CPU and that of PostgreSQL.
 * @param serverPid PostgreSQL's process
 * @param input its standard input, if it reads that
 */
export async function measureImport(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  serverPid: number,
  input?: Readable,
): Promise<Measured> {
  const from = performance.now();
  const serverCpuBefore = cpuMicroseconds(serverPid);
  const stdio: StdioOptions = [input ?? 'ignore', 'pipe', 'inherit'];
  const importer = spawn(retention, ['import', '--json', ...args], { env, stdio });
  let megabytes = 0;
  let cpu = 0;
  const sampling = setInterval(() => {
    megabytes = Math.max(megabytes, residentMegabytes(importer.pid as number));
    cpu = cpuMicroseconds(importer.pid as number) || cpu;
  }, sampleMilliseconds);
  let text = '';
  importer.stdout?.on('data', (chunk: Buffer) => (text += chunk));
  const status = await new Promise((resolve) => importer.once('close', resolve));
  clearInterval(sampling);
  if (status !== 0) throw new Error(`The import ended with status ${status}.`);
  const seconds = (performance.now() - from) / 1000;
  const { counts } = JSON.parse(text) as { counts: Record<string, { stored: number }> };
  const stored = Object.fromEntries(
    Object.entries(counts).map(([type, each]) => [type, each.stored]),
  );
  const serverCpuMicroseconds = cpuMicroseconds(serverPid) - serverCpuBefore;
  return { seconds, megabytes, cpuMicroseconds: cpu, serverCpuMicroseconds, stored };
}
