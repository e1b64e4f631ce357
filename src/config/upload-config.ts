import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Settings } from './setting.ts';

/** Where files that owners upload are kept, and how large they may be. */
export interface UploadConfig {
  readonly folder: string;
  readonly maxBytes: number;
  /** How large the heap of a process may be that reads one. By default the machine decides; tests set it. */
  readonly heapMegabytes?: number;
}

const megabyte = 1024 * 1024;

export const defaultUploads: UploadConfig = {
  // Other users' folders there are not ours.
  folder: path.join(tmpdir(), `retention-uploads-${process.getuid?.() ?? 0}`),
  maxBytes: 1024 * megabyte,
};

export const uploadSettings = {
  UPLOAD_DIR: {
    about:
      'the folder for [files that owners upload](import.md#on-the-page-sources), until they are imported; instances behind one address share it',
    unset: "a folder in the system's temporary one",
    fallback: defaultUploads.folder,
  },
  UPLOAD_MAX_MEGABYTES: {
    about: 'how large such a file may be, 1 to 1000000',
    unset: '`1024`',
    fallback: defaultUploads.maxBytes,
    parse: parseMegabytes,
    expected: 'a whole number of megabytes from 1 to 1000000',
  },
} as const satisfies Settings;

/** @returns bytes */
function parseMegabytes(text: string): number | undefined {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= 1_000_000 ? count * megabyte : undefined;
}
