import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A file system in memory, on Linux. */
const memory = '/dev/shm';
/** More than twice what a run has there at once. */
const neededBytes = 4 * 2 ** 30;
const prefix = 'retention-';

/**
 * Has this run and all that it starts use a temporary folder of its own: in memory, if there is room. A copy of a
 * database has a thousand files, which cost a disk more time than all that tests do with the copy.
 * @returns removes the folder
 */
export function useTestFolder(): () => void {
  const place = existsSync(memory) && freeBytes(memory) > neededBytes ? memory : tmpdir();
  removeLeftovers(place);
  const folder = mkdtempSync(path.join(place, `${prefix}${process.pid}-`));
  // As open as any, since PostgreSQL runs as another user.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function freeBytes(place: string): number {
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize;
}

/** Of runs that were killed. */
function removeLeftovers(place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) {
      rmSync(path.join(place, name), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
