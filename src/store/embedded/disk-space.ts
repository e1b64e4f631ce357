import { statfsSync } from 'node:fs';

import { errorMessage } from './wire.ts';

const megabyte = 1024 * 1024;

/**
 * Nothing is written below this much free space. PostgreSQL crashes if it cannot extend its write-ahead
 * log, which grows in steps of 16 MB, and work that passed the check may need several.
 */
export const reserveBytes = 64 * megabyte;

/** Initial size of a new database; not created without this much free space. */
export const newDatabaseBytes = 48 * megabyte;

const readOnlyTransaction = '25006';
const diskFull = '53100';

/**
 * @returns why nothing may be written to the folder now; undefined if there is enough space, or if the file
 * system does not report any
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

/** Rounded down, so that a shortage never looks sufficient. */
function inMegabytes(bytes: number): number {
  return Math.floor(bytes / megabyte);
}

/** Replaces the error of writes that failed because the transaction was made read-only. */
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
