import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Check } from './check.ts';

/** Where files that owners upload are kept, and how large they may be. */
export interface UploadConfig {
  readonly folder: string;
  readonly maxBytes: number;
}

const megabyte = 1024 * 1024;

export const defaultUploads: UploadConfig = {
  // Other users' folders there are not ours.
  folder: path.join(tmpdir(), `retention-uploads-${process.getuid?.() ?? 0}`),
  maxBytes: 1024 * megabyte,
};

export function parseUploads(
  check: Check,
  read: (name: string) => string | undefined,
): UploadConfig {
  return {
    folder: read('UPLOAD_DIR') ?? defaultUploads.folder,
    maxBytes: check(
      'UPLOAD_MAX_MEGABYTES',
      defaultUploads.maxBytes,
      parseMegabytes,
      'a whole number of megabytes from 1 to 1000000',
    ),
  };
}

/** @returns bytes */
function parseMegabytes(text: string): number | undefined {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= 1_000_000 ? count * megabyte : undefined;
}
