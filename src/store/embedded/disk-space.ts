import { statfsSync } from 'node:fs';

import { errorMessage } from './wire.ts';

const megabyte = 1024 * 1024;

/**
 * Free space below which nothing is written. PostgreSQL cannot survive a write-ahead log that it cannot
 * extend, which it does by 16 MB; what runs after a check may need several of these.
 */
export const reserveBytes = 64 * megabyte;

/** What a new database takes at once; without that much room, none is begun. */
export const newDatabaseBytes = 48 * megabyte;

const readOnlyTransaction = '25006';
const diskFull = '53100';

/**
 * @returns why nothing may be written in the folder now; undefined while there is room, and where the
 * file system does not say how much it has
 */
export function findShortage(folder: string, reserve: number): string | undefined {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (blocks === 0 || free >= reserve) return undefined;
  return (
    `The disk is almost full: ${inMegabytes(free)} MB are free in ${folder}, and the embedded ` +
    `database needs ${inMegabytes(reserve)} MB to write. Free some space.`
  );
}

/** Rounded down, so that a shortage never looks like enough. */
function inMegabytes(bytes: number): number {
  return Math.floor(bytes / megabyte);
}

/** What the database refused because its transaction may not write is refused for the given reason. */
export function explainRefusals(answer: Buffer, reason: string): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < answer.length;) {
    const end = at + 1 + answer.readInt32BE(at + 1);
    const part = answer.subarray(at, end);
    parts.push(isReadOnlyRefusal(part) ? errorMessage('ERROR', diskFull, reason) : part);
    at = end;
  }
  return Buffer.concat(parts);
}

function isReadOnlyRefusal(part: Buffer): boolean {
  return part.toString('latin1', 0, 1) === 'E' && part.includes(`\0C${readOnlyTransaction}\0`);
}
