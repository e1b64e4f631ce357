import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { CommandError } from '../../errors.ts';
import { isDiskFull } from '../../store/temporary-folder.ts';

/** A file that is written line by line under another name, and goes on where an earlier run stopped. */
export class PartialFile {
  readonly #file: string;
  readonly #partial: string;

  /** @throws CommandError if there is such a file already */
  static async for(file: string): Promise<PartialFile> {
    const created = new PartialFile(file);
    if (await lstat(file).catch(() => undefined)) {
      throw new CommandError(`${file} exists already. Remove it, or choose another name.`);
    }
    const found = await lstat(created.#partial).catch(() => undefined);
    if (found && !found.isFile()) {
      throw new CommandError(`${created.#partial} is not a regular file. Choose another name.`);
    }
    return created;
  }

  private constructor(file: string) {
    this.#file = file;
    this.#partial = `${file}.partial`;
  }

  /** The whole lines of an earlier run, with the place where each ends; none if there was no such run. */
  async *lines(): AsyncGenerator<{ readonly line: string; readonly end: number }> {
    const found = await lstat(this.#partial).catch(() => undefined);
    if (!found) return;
    let end = 0;
    // As bytes: in UTF-8, readline also ends lines at separators (U+2028) that texts of records may have.
    const input = createReadStream(this.#partial, 'latin1');
    for await (const bytes of createInterface({ input })) {
      end += bytes.length + 1;
      if (end <= found.size) yield { line: Buffer.from(bytes, 'latin1').toString(), end };
    }
  }

  /**
   * Writes lines.
   * @param from the length of what stays of an earlier run
   * @throws CommandError if they cannot be written; what is written stays, to go on
   */
  async write(from: number, texts: AsyncIterable<string>): Promise<void> {
    await this.#explaining(async () => {
      const handle = await open(this.#partial, from > 0 ? 'r+' : 'w', 0o600);
      try {
        // Customers' ids and a key: readable by the owner only. An existing file would keep its mode.
        await handle.chmod(0o600);
        await handle.truncate(from);
        await this.#append(handle, from, texts);
        await handle.sync();
      } finally {
        await handle.close();
      }
    });
  }

  async #append(handle: FileHandle, from: number, texts: AsyncIterable<string>): Promise<void> {
    let end = from;
    for await (const text of texts) {
      const bytes = Buffer.from(text);
      for (let first = 0; first < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, first, undefined, end);
        first += bytesWritten;
        end += bytesWritten;
      }
    }
  }

  /** Gives the file its name, now that it is whole. */
  finish(): Promise<void> {
    return this.#explaining(() => rename(this.#partial, this.#file));
  }

  async #explaining(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isDiskFull(error)) {
        throw new CommandError(
          `No space is left in ${path.resolve(path.dirname(this.#file))}. Free some, and run the command again: it goes on where it stopped.`,
          { cause: error },
        );
      }
      // Errors of this file have a path; those of the database have none.
      if (error instanceof Error && 'path' in error && 'code' in error) {
        throw new CommandError(`${this.#file} cannot be written: ${error.message}.`, {
          cause: error,
        });
      }
      throw error;
    }
  }
}
