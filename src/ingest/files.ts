import { createReadStream } from 'node:fs';
import { open, rm, stat, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type ZlibOptions, createGunzip } from 'node:zlib';
import { CommandError } from '../errors.ts';
import type { LineSource } from './import.ts';
import { type Line, readLines } from './lines.ts';

const standardInput = '-';

/** A file of records, `-` for standard input; a name that ends in .gz is unpacked on the way. */
export function openSource(file: string): LineSource {
  return { name: file, lines: readLines(openBytes(file)) };
}

/**
 * The bytes of such a file.
 * @throws CommandError where they end in an error: a broken archive, a disk that fails
 */
export function openBytes(file: string): AsyncGenerator<Buffer> {
  const bytes = file === standardInput ? process.stdin : createReadStream(file);
  return whole(file, file.endsWith('.gz') ? unpack(bytes) : bytes);
}

async function* whole(file: string, bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    throw new CommandError(
      `${file} cannot be read to its end: ${(error as Error).message}. Records from before the break may be stored; import the whole file again.`,
      { cause: error },
    );
  }
}

function unpack(bytes: Readable): Readable {
  // Without reading ahead: a stream that fails forgets what it holds, and the lines before the break
  // must still reach the reader.
  const unpacked = createGunzip({ readableHighWaterMark: 1 } as ZlibOptions);
  bytes.on('error', (error) => unpacked.destroy(error));
  unpacked.on('close', () => bytes.destroy());
  return bytes.pipe(unpacked);
}

/** @throws CommandError unless every file can be read, so that nothing is begun with a wrong name */
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

/** Keeps refused lines with their reasons, beside the file they came from or in one chosen file. */
export class RefusedLines {
  readonly #chosen: string | undefined;
  readonly #handles = new Map<string, FileHandle>();

  /** @param chosen one file for all sources; by default each has its own */
  constructor(chosen: string | undefined) {
    this.#chosen = chosen;
  }

  /** Where the refused lines of a source go. */
  #fileFor(source: string): string {
    return this.#chosen ?? `${source === standardInput ? 'stdin' : source}.refused.ndjson`;
  }

  /** The files that took some. */
  get written(): string[] {
    return [...this.#handles.keys()];
  }

  /** Takes away what an earlier run refused, so that the file only ever tells of the last one. */
  async forget(sources: readonly string[]): Promise<void> {
    for (const file of new Set(sources.map((source) => this.#fileFor(source)))) {
      if (sources.includes(file))
        throw new CommandError(`${file} is read and cannot also take the refused lines.`);
      await rm(file, { force: true });
    }
  }

  async add(source: string, line: Line, reason: string): Promise<void> {
    const file = this.#fileFor(source);
    let handle = this.#handles.get(file);
    if (!handle) {
      // Shop data. The mode only counts for a new file, so an existing one is tightened below.
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
