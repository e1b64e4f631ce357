import { closeSync, createReadStream, mkdtempSync, openSync, writeSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

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

/** How many bytes of rows may be read into memory at once. */
const maxBytesInMemory = 8 * 1024 * 1024;
const maxParts = 128;
const bufferedCharacters = 64 * 1024;
/** When a file is split into parts. */
const chunkBytes = 1024 * 1024;
const maxSampled = 8192;

/** With more rows than this, all go to disk. */
const maxRowsInMemory = 1000;

/**
 * Groups rows by family, and returns the families by ascending number. A few rows stay in memory;
 * more go to disk, so that memory use stays bounded. Shopify's numbers grow with time, as do those
 * of most stored rows. In any other order, inserts would hit random index pages.
 */
export class Staging {
  readonly #bytesInMemory: number;
  readonly #rows: Row[] = [];
  #onDisk: { readonly folder: string; readonly rows: RowFile } | undefined;

  /** @param bytesInMemory how many bytes of rows may be read into memory at once */
  constructor(bytesInMemory = maxBytesInMemory) {
    this.#bytesInMemory = bytesInMemory;
  }

  add(row: Row): void {
    if (this.#onDisk) return this.#onDisk.rows.add(row[0], JSON.stringify(row));
    this.#rows.push(row);
    if (this.#rows.length > Math.min(maxRowsInMemory, this.#bytesInMemory / 1024)) this.#spill();
  }

  #spill(): void {
    const folder = mkdtempSync(path.join(tmpdir(), 'retention-import-'));
    this.#onDisk = { folder, rows: new RowFile(path.join(folder, 'rows'), this.#bytesInMemory) };
    for (const row of this.#rows.splice(0)) this.add(row);
  }

  /** The rows of each family, in the order they were added. Call it after the last `add`. */
  async *families(): AsyncGenerator<readonly Row[]> {
    if (this.#onDisk) yield* this.#onDisk.rows.families();
    else yield* familiesOf(this.#rows);
  }

  async dispose(): Promise<void> {
    if (!this.#onDisk) return;
    this.#onDisk.rows.close();
    await rm(this.#onDisk.folder, { recursive: true, force: true });
  }
}

/**
 * Rows in one file. If it is too large for memory, it is split into parts by family number, of
 * about the same size according to a sample.
 */
class RowFile {
  readonly #file: string;
  readonly #bytesInMemory: number;
  readonly #sample = new Sample();
  #descriptor: number | undefined;
  #buffer = '';
  #bytes = 0;

  constructor(file: string, bytesInMemory: number) {
    this.#file = file;
    this.#bytesInMemory = bytesInMemory;
    this.#descriptor = openSync(file, 'w', 0o600);
  }

  add(family: number, json: string): void {
    this.#sample.add(family);
    this.#buffer += `${json}\n`;
    if (this.#buffer.length >= bufferedCharacters) this.flush();
  }

  async *families(): AsyncGenerator<readonly Row[]> {
    this.close();
    const parts = Math.min(Math.ceil((2 * this.#bytes) / this.#bytesInMemory), maxParts);
    const bounds = this.#bytes > this.#bytesInMemory ? this.#sample.bounds(parts) : [];
    // A single family cannot be split.
    if (bounds.length === 0) yield* await readFamilies(this.#file);
    else yield* this.#partsAt(bounds);
    await rm(this.#file);
  }

  /** @param bounds ascending; each is the smallest number of a part */
  async *#partsAt(bounds: readonly number[]): AsyncGenerator<readonly Row[]> {
    const parts = [Number.NEGATIVE_INFINITY, ...bounds].map(
      (_, index) => new RowFile(`${this.#file}.${index}`, this.#bytesInMemory),
    );
    try {
      for await (const rows of readRows(this.#file)) {
        for (const json of rows) {
          const family = Number(json.slice(1, json.indexOf(',')));
          parts[countUpTo(bounds, family)]?.add(family, json);
        }
        // Buffered rows are slices of the chunk's text, and would keep all of it in memory.
        for (const part of parts) part.flush();
      }
      for (const part of parts) part.close();
      for (const part of parts) yield* part.families();
    } finally {
      for (const part of parts) part.close();
    }
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    this.flush();
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Synchronous, so that adding a row needs no promise. The system buffers the writes. */
  flush(): void {
    const bytes = Buffer.from(this.#buffer);
    this.#buffer = '';
    this.#bytes += bytes.length;
    // If the disk is almost full, only part of the buffer may be written before the error.
    for (let written = 0; written < bytes.length;) {
      written += writeSync(this.#descriptor as number, bytes, written);
    }
  }
}

/** An evenly spaced sample of many numbers, in constant memory. */
class Sample {
  #numbers: number[] = [];
  #every = 1;
  #seen = 0;

  add(number: number): void {
    if (this.#seen % this.#every === 0) this.#numbers.push(number);
    this.#seen += 1;
    if (this.#numbers.length < maxSampled) return;
    this.#numbers = this.#numbers.filter((_, index) => index % 2 === 0);
    this.#every *= 2;
  }

  /** Numbers that divide the sample into parts of equal size; none if all are the same. */
  bounds(parts: number): number[] {
    const sorted = this.#numbers.toSorted((a, b) => a - b);
    const places = Array.from({ length: parts - 1 }, (_, index) =>
      Math.floor(((index + 1) * sorted.length) / parts),
    );
    const bounds = new Set([...places.map((place) => sorted[place] ?? 0), sorted.at(-1) ?? 0]);
    // No number lies below the smallest one.
    bounds.delete(sorted[0] ?? 0);
    return [...bounds];
  }
}

/** How many of the ascending numbers are at most `number`. */
function countUpTo(ascending: readonly number[], number: number): number {
  let [from, to] = [0, ascending.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ascending[middle] as number) <= number) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Reads the rows that a `RowFile` wrote, so each ends in a newline. */
async function* readRows(file: string): AsyncGenerator<string[]> {
  let rest = '';
  for await (const chunk of createReadStream(file, {
    encoding: 'utf8',
    highWaterMark: chunkBytes,
  })) {
    const rows = (rest + chunk).split('\n');
    rest = rows.pop() ?? '';
    yield rows;
  }
}

async function readFamilies(file: string): Promise<Iterable<readonly Row[]>> {
  const rows = (await readFile(file, 'utf8')).split('\n').filter((json) => json !== '');
  return familiesOf(rows.map((json) => JSON.parse(json) as Row));
}

function familiesOf(rows: readonly Row[]): Iterable<readonly Row[]> {
  const families = Map.groupBy(rows, ([family]) => family);
  return [...families].toSorted(([a], [b]) => a - b).map(([, members]) => members);
}
