import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryFolder } from '../../../store/temporary-folder.ts';

/** What is kept of one line: only what was read from its node. */
export type Row = readonly [
  /** The number of the contract or group that the node is, or belongs to. */
  family: number,
  /** Indexes of its kind and file, and its line number; defined by the caller. */
  kind: number,
  file: number,
  line: number,
  /** The key of its GID. */
  key: string,
  /** Null if the line was refused. */
  read: object | null,
];

/** How many bytes of rows may be in memory at once, approximately. */
const maxBytesInMemory = 8 * 1024 * 1024;
const minChunkBytes = 4096;
const maxChunkBytes = 256 * 1024;
const newline = 0x0a;

/**
 * Groups rows by family, and returns the families by ascending number. Shopify's numbers grow with time, as do
 * those of most stored rows; in any other order, inserts would hit random index pages. Whenever memory is full,
 * its rows are sorted and written to disk; at the end, these runs are merged.
 */
export class Staging {
  readonly #bytesInMemory: number;
  #run = new Run();
  #disk: Disk | undefined;

  /** @param bytesInMemory how many bytes of rows may be in memory at once, approximately */
  constructor(bytesInMemory = maxBytesInMemory) {
    this.#bytesInMemory = bytesInMemory;
  }

  add(row: Row): void {
    this.#run.add(row);
    if (this.#run.characters < this.#bytesInMemory) return;
    this.#disk ??= new Disk();
    this.#disk.write(this.#run);
    this.#run = new Run();
  }

  /** The rows of each family, in the order they were added. Call it after the last `add`. */
  *families(): Generator<readonly Row[]> {
    const runs = [...(this.#disk?.read(this.#bytesInMemory) ?? []), this.#run.sorted()];
    yield* merge(runs.map((rows) => new Cursor(rows)).filter(({ row }) => row !== undefined));
  }

  async dispose(): Promise<void> {
    await this.#disk?.dispose();
  }
}

/** Rows in memory, as JSON: it takes less space than objects. */
class Run {
  characters = 0;
  readonly #families: number[] = [];
  readonly #texts: string[] = [];

  add(row: Row): void {
    const text = JSON.stringify(row);
    this.#families.push(row[0]);
    this.#texts.push(text);
    this.characters += text.length;
  }

  /** By family; those of one family in the order they were added. */
  *sorted(): Generator<string> {
    const families = this.#families;
    const order = Array.from(families.keys());
    order.sort((a, b) => (families[a] as number) - (families[b] as number));
    for (const at of order) yield this.#texts[at] as string;
  }
}

/** Sorted runs, one after the other in a file of its own. */
class Disk {
  readonly #folder = createTemporaryFolder('import');
  readonly #descriptor = openSync(path.join(this.#folder.path, 'rows'), 'w+', 0o600);
  /** Where each run ends, in bytes. */
  readonly #ends: number[] = [];

  /** Synchronous, so that adding a row needs no promise. The system buffers the writes. */
  write(run: Run): void {
    let end = this.#ends.at(-1) ?? 0;
    let text = '';
    const flush = () => {
      const bytes = Buffer.from(text);
      text = '';
      // If the disk is almost full, only part of it may be written before the error.
      for (let written = 0; written < bytes.length;) {
        written += writeSync(this.#descriptor, bytes, written);
      }
      end += bytes.length;
    };
    for (const row of run.sorted()) {
      text += `${row}\n`;
      if (text.length >= maxChunkBytes) flush();
    }
    flush();
    this.#ends.push(end);
  }

  /** @param bytesInMemory for all runs together */
  read(bytesInMemory: number): Generator<string>[] {
    const share = Math.floor(bytesInMemory / this.#ends.length);
    const chunkBytes = Math.min(Math.max(share, minChunkBytes), maxChunkBytes);
    return this.#ends.map((end, at) => this.#readRun(this.#ends[at - 1] ?? 0, end, chunkBytes));
  }

  *#readRun(start: number, end: number, chunkBytes: number): Generator<string> {
    let bytes = Buffer.allocUnsafe(chunkBytes);
    let kept = 0;
    for (let position = start; position < end;) {
      const length = Math.min(bytes.length - kept, end - position);
      const read = readSync(this.#descriptor, bytes, kept, length, position);
      if (read === 0) throw new Error('the file of staged rows is shorter than it was written');
      position += read;
      const filled = kept + read;
      const complete = bytes.lastIndexOf(newline, filled - 1) + 1;
      if (complete > 0) yield* bytes.toString('utf8', 0, complete - 1).split('\n');
      kept = filled - complete;
      // A row may be longer than a chunk.
      const next = kept === bytes.length ? Buffer.allocUnsafe(2 * kept) : bytes;
      bytes.copy(next, 0, complete, filled);
      bytes = next;
    }
  }

  async dispose(): Promise<void> {
    closeSync(this.#descriptor);
    this.#folder.remove();
  }
}

/** A run that is read row by row. */
class Cursor {
  /** The next row; undefined at the end. */
  row: Row | undefined;
  readonly #rows: Iterator<string>;

  constructor(rows: Iterator<string>) {
    this.#rows = rows;
    this.advance();
  }

  get family(): number {
    return this.row?.[0] ?? Number.POSITIVE_INFINITY;
  }

  advance(): void {
    const { value, done } = this.#rows.next();
    this.row = done ? undefined : JSON.parse(value);
  }
}

/** @param cursors in the order in which their runs were added */
function* merge(cursors: readonly Cursor[]): Generator<readonly Row[]> {
  for (;;) {
    let family = Number.POSITIVE_INFINITY;
    for (const cursor of cursors) family = Math.min(family, cursor.family);
    if (family === Number.POSITIVE_INFINITY) return;
    const rows: Row[] = [];
    for (const cursor of cursors) {
      for (; cursor.row && cursor.family === family; cursor.advance()) rows.push(cursor.row);
    }
    yield rows;
  }
}
