import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** Whether this system reports what its processes use. */
export const hasProcessFigures = existsSync('/proc/self/stat');

/** Every Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100;

/**
 * Processor time of a process and its children, those that have ended too, in microseconds, by the
 * operating system's own accounting; 0 if there is no /proc.
 */
export function cpuMicroseconds(pid: number): number {
  try {
    const ticks = [pid, ...childrenOf(pid)].reduce((sum, id) => sum + ticksOf(id), 0);
    return (ticks / ticksPerSecond) * 1e6;
  } catch {
    return 0;
  }
}

/** Resident memory of a process in megabytes; 0 if there is no /proc. */
export function residentMegabytes(pid: number): number {
  try {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(line?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program's name is in parentheses and may contain spaces.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function ticksOf(pid: number): number {
  try {
    const fields = statOf(pid);
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number);
    return (user ?? 0) + (system ?? 0) + (childrenUser ?? 0) + (childrenSystem ?? 0);
  } catch {
    return 0;
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return Number(statOf(pid)[1]) === parent;
      } catch {
        return false;
      }
    });
}
