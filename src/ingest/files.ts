import { type Stats, createReadStream, fstatSync } from 'node:fs';
import { access, constants, lstat, open, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { type Readable, addAbortSignal } from 'node:stream';
import { type ZlibOptions, createGunzip } from 'node:zlib';
import { CommandError } from '../errors.ts';
import { isDiskFull } from '../store/temporary-folder.ts';
import type { LineSource } from './import.ts';
import { type Line, readLines } from './lines.ts';

const standardInput = '-';

export interface ReadOptions {
  /** Stops reading; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Keeps track of how much has been read. */
  readonly progress?: ReadProgress | undefined;
  /** The most that an archive may unpack to; any number of bytes by default. */
  readonly maxUnpackedBytes?: number | undefined;
  /** Standard input; that of the process by default. */
  readonly stdin?: Readable;
}

/** Opens a file of records; `-` is standard input, and files named *.gz are decompressed. */
export function openSource(file: string, options?: ReadOptions): LineSource {
  return { name: file, lines: readLines(openBytes(file, options)) };
}

/**
 * Reads the bytes of such a file.
 * @throws CommandError if reading fails midway: a corrupt archive, a disk error
 */
export async function* openBytes(
  file: string,
  { signal, progress, maxUnpackedBytes = Infinity, stdin = process.stdin }: ReadOptions = {},
): AsyncGenerator<Buffer> {
  const bytes = file === standardInput ? stdin : createReadStream(file);
  progress?.add(bytes);
  if (signal) addAbortSignal(signal, bytes);
  try {
    if (!/\.gz$/i.test(file)) return yield* bytes as AsyncIterable<Buffer>;
    let left = maxUnpackedBytes;
    for await (const chunk of decompress(bytes)) {
      left -= chunk.length;
      if (left < 0)
        throw new CommandError(
          `${file} unpacks to more than ${maxUnpackedBytes} bytes. Split it into smaller files.`,
        );
      yield chunk;
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      `${file} could not be read to the end: ${(error as Error).message}. Earlier records may have been stored; import the whole file again.`,
      { cause: error },
    );
  }
}

/** How much of some files has been read, by their size on disk. */
export class ReadProgress {
  readonly #totalBytes: number | undefined;
  readonly #streams: { readonly bytesRead?: number }[] = [];

  /** @param totalBytes undefined if the size of an input, such as a pipe, is not known */
  constructor(totalBytes: number | undefined) {
    this.#totalBytes = totalBytes;
  }

  /** Between 0 and 1; undefined if the total is not known. */
  get share(): number | undefined {
    if (!this.#totalBytes) return undefined;
    const read = this.#streams.reduce((sum, { bytesRead = 0 }) => sum + bytesRead, 0);
    return Math.min(read / this.#totalBytes, 1);
  }

  add(stream: object): void {
    this.#streams.push(stream);
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
 * @returns their size in bytes; undefined if it is not known
 * @throws CommandError if a file cannot be read
 */
export async function checkFiles(files: readonly string[]): Promise<number | undefined> {
  let total: number | undefined = 0;
  for (const file of files) {
    const size = file === standardInput ? sizeOfStandardInput() : await checkFile(file);
    total = total === undefined || size === undefined ? undefined : total + size;
  }
  return total;
}

function sizeOfStandardInput(): number | undefined {
  const found = fstatSync(0);
  return found.isFile() ? found.size : undefined;
}

async function checkFile(file: string): Promise<number | undefined> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      `${file} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}.`,
    );
  });
  if (found.isDirectory()) throw new CommandError(`${file} is a folder; name the files in it.`);
  // Opening and closing a pipe would end it.
  if (!found.isFile()) return undefined;
  const handle = await open(file, 'r').catch((error: Error) => {
    throw new CommandError(`${file} cannot be read: ${error.message}.`);
  });
  await handle.close();
  return found.size;
}

async function isSame(file: string, other: Stats | undefined): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && found.dev === other?.dev && found.ino === other.ino;
}

function unwritable(file: string, cause: unknown): CommandError {
  return new CommandError(
    `${file}, the file for refused lines, cannot be written: ${cause instanceof Error ? cause.message : String(cause)}. Choose a file in another folder with --refused, and run the command again: what is stored comes out as unchanged.`,
    { cause },
  );
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

  /**
   * Deletes the files of an earlier run, so that only lines of this run remain.
   * @throws CommandError if one of them is no file that could be deleted, or cannot be written later
   */
  async clear(sources: readonly string[]): Promise<void> {
    for (const file of new Set(sources.map((source) => this.#fileFor(source)))) {
      const found = await lstat(file).catch(() => undefined);
      // It may have another name there, such as ./a.ndjson.
      const same = await Promise.all(sources.map((source) => isSame(source, found)));
      if (sources.includes(file) || same.includes(true))
        throw new CommandError(
          `${file} is to be imported; choose another file for the refused lines.`,
        );
      // A device, a pipe or a link is not what an earlier run wrote.
      if (found && !found.isFile()) {
        throw new CommandError(
          `${file} is not a regular file; choose another file for the refused lines with --refused.`,
        );
      }
      try {
        await rm(file, { force: true });
        if (this.#chosen !== undefined) await access(path.dirname(file), constants.W_OK);
      } catch (error) {
        throw unwritable(file, error);
      }
    }
  }

  /** @throws CommandError if the file cannot be written */
  async add(source: string, line: Line, reason: string, record?: string): Promise<void> {
    const file = this.#fileFor(source);
    try {
      await this.#append(file, {
        file: source,
        line: line.number,
        reason,
        record,
        text: line.text,
      });
    } catch (error) {
      if (!isDiskFull(error)) throw unwritable(file, error);
      throw new CommandError(
        `No space is left in ${path.resolve(path.dirname(file))}, where ${file} keeps the refused lines. Free some, or choose a file on another disk with --refused.`,
        { cause: error },
      );
    }
  }

  async #append(file: string, entry: object): Promise<void> {
    let handle = this.#handles.get(file);
    if (!handle) {
      // Shop data, so readable by the owner only. An existing file would keep its mode.
      handle = await open(file, 'w', 0o600);
      this.#handles.set(file, handle);
      await handle.chmod(0o600);
    }
    await handle.appendFile(`${JSON.stringify(entry)}\n`);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#handles.values()].map((handle) => handle.close()));
  }
}
