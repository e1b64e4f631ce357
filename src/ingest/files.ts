import { createReadStream } from 'node:fs';
import { open, rm, stat, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type ZlibOptions, createGunzip } from 'node:zlib';
import { CommandError } from '../errors.ts';
import type { LineSource } from './import.ts';
import { type Line, readLines } from './lines.ts';

const standardInput = '-';

/** Opens a file of records; `-` is standard input, and files named *.gz are decompressed. */
export function openSource(file: string): LineSource {
  return { name: file, lines: readLines(openBytes(file)) };
}

/**
 * Reads the bytes of such a file.
 * @throws CommandError if reading fails midway: a corrupt archive, a disk error
 */
export function openBytes(file: string): AsyncGenerator<Buffer> {
  const bytes = file === standardInput ? process.stdin : createReadStream(file);
  return withCommandErrors(file, file.endsWith('.gz') ? decompress(bytes) : bytes);
}

async function* withCommandErrors(file: string, bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    throw new CommandError(
      `${file} could not be read to the end: ${(error as Error).message}. Earlier records may have been stored; import the whole file again.`,
      { cause: error },
    );
  }
}

function decompress(bytes: Readable): Readable {
  // No read-ahead: a failing stream drops its buffer, and the lines before the error must still
  // reach the reader.
  const decompressed = createGunzip({ readableHighWaterMark: 1 } as ZlibOptions);
  bytes.on('error', (error) => decompressed.destroy(error));
  decompressed.on('close', () => bytes.destroy());
  return bytes.pipe(decompressed);
}

/**
 * Checks all files before anything is imported, so that a wrong name does not stop a run midway.
 * @throws CommandError if a file cannot be read
 */
export async function checkFiles(files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (file === standardInput) continue;
    const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(
        `${file} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}.`,
      );
    });
    if (found.isDirectory()) throw new CommandError(`${file} is a folder; name the files in it.`);
    // Opening and closing a pipe would end it.
    if (!found.isFile()) continue;
    const handle = await open(file, 'r').catch((error: Error) => {
      throw new CommandError(`${file} cannot be read: ${error.message}.`);
    });
    await handle.close();
  }
}

/** Writes refused lines and their reasons to a file beside their source, or to one chosen file. */
export class RefusedLines {
  readonly #chosen: string | undefined;
  readonly #handles = new Map<string, FileHandle>();

  /** @param chosen one file for all sources; by default, each source has its own */
  constructor(chosen: string | undefined) {
    this.#chosen = chosen;
  }

  /** The file for the refused lines of a source. */
  #fileFor(source: string): string {
    return this.#chosen ?? `${source === standardInput ? 'stdin' : source}.refused.ndjson`;
  }

  /** The files that refused lines were written to. */
  get written(): string[] {
    return [...this.#handles.keys()];
  }

  /** Deletes the files of an earlier run, so that only lines of this run remain. */
  async clear(sources: readonly string[]): Promise<void> {
    for (const file of new Set(sources.map((source) => this.#fileFor(source)))) {
      if (sources.includes(file))
        throw new CommandError(
          `${file} is to be imported; choose another file for the refused lines.`,
        );
      await rm(file, { force: true });
    }
  }

  async add(source: string, line: Line, reason: string): Promise<void> {
    const file = this.#fileFor(source);
    let handle = this.#handles.get(file);
    if (!handle) {
      // Shop data, so readable by the owner only. An existing file would keep its mode.
      handle = await open(file, 'w', 0o600);
      this.#handles.set(file, handle);
      await handle.chmod(0o600);
    }
    const entry = { file: source, line: line.number, reason, text: line.text };
    await handle.write(`${JSON.stringify(entry)}\n`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#handles.values()].map((handle) => handle.close()));
  }
}
