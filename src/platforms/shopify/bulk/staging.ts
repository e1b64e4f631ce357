import { closeSync, createReadStream, mkdtempSync, openSync, writeSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** What is kept of one line: nothing but what was read of its node. */
export type Row = readonly [
  /** Number of the contract, or of the group, that it belongs to or is. */
  family: number,
  /** Its kind, file and line, in the caller's terms. */
  kind: number,
  file: number,
  line: number,
  /** Key of its GID. */
  key: string,
  /** Null where the line was refused. */
  read: object | null,
];

/** The most bytes of rows that are read into memory at once. */
const maxBytesInMemory = 8 * 1024 * 1024;
const maxParts = 128;
const bufferedCharacters = 64 * 1024;
/** Read at once, where a file is cut into parts. */
const bytesAtOnce = 1024 * 1024;
const maxSampled = 8192;

/** Until there are more, nothing is written to disk. */
const maxRowsInMemory = 1000;

/**
 * Rows given back family by family, in the order of the families' numbers. A few are kept in memory; more go
 * to disk, so that memory does not grow with their number. Numbers grow with time, as those of most stored rows do; in any
 * other order the database would look for the place of each row all over its indexes.
 */
export class Staging {
  readonly #bytesInMemory: number;
  readonly #rows: Row[] = [];
  #onDisk: { readonly folder: string; readonly pile: Pile } | undefined;

  /** @param bytesInMemory the most bytes of rows that are read into memory at once */
  constructor(bytesInMemory = maxBytesInMemory) {
    this.#bytesInMemory = bytesInMemory;
  }

  add(row: Row): void {
    if (this.#onDisk) return this.#onDisk.pile.add(row[0], JSON.stringify(row));
    this.#rows.push(row);
    if (this.#rows.length > Math.min(maxRowsInMemory, this.#bytesInMemory / 1024)) this.#spill();
  }

  #spill(): void {
    const folder = mkdtempSync(path.join(tmpdir(), 'retention-import-'));
    this.#onDisk = { folder, pile: new Pile(path.join(folder, 'rows'), this.#bytesInMemory) };
    for (const row of this.#rows.splice(0)) this.add(row);
  }

  /** The rows of each family, in the order in which they were added; once nothing more is. */
  async *families(): AsyncGenerator<readonly Row[]> {
    if (this.#onDisk) yield* this.#onDisk.pile.families();
    else yield* familiesOf(this.#rows);
  }

  async dispose(): Promise<void> {
    if (!this.#onDisk) return;
    this.#onDisk.pile.close();
    await rm(this.#onDisk.folder, { recursive: true, force: true });
  }
}

/**
 * Rows in one file. Where it is too large for memory, it is cut into parts by the numbers of the
 * families, at places that a sample says are evenly apart.
 */
class Pile {
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
    // What is one family cannot be cut.
    if (bounds.length === 0) yield* await readFamilies(this.#file);
    else yield* this.#partsAt(bounds);
    await rm(this.#file);
  }

  /** @param bounds ascending; each is the least number of the part that begins there */
  async *#partsAt(bounds: readonly number[]): AsyncGenerator<readonly Row[]> {
    const parts = [Number.NEGATIVE_INFINITY, ...bounds].map(
      (_, index) => new Pile(`${this.#file}.${index}`, this.#bytesInMemory),
    );
    try {
      for await (const rows of readRows(this.#file)) {
        for (const json of rows) {
          const family = Number(json.slice(1, json.indexOf(',')));
          parts[countUpTo(bounds, family)]?.add(family, json);
        }
        // What waits to be written are pieces of these rows' text, and would keep all of it.
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

  /** Without waiting: rows come too quickly for a promise each, and go to the system's memory first. */
  flush(): void {
    const bytes = Buffer.from(this.#buffer);
    this.#buffer = '';
    this.#bytes += bytes.length;
    // A disk that is nearly full takes a part of it before it says so.
    for (let written = 0; written < bytes.length;) {
      written += writeSync(this.#descriptor as number, bytes, written);
    }
  }
}

/** An evenly spaced sample of many numbers. */
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

  /** Numbers between which as many lie each; none where all are the same. */
  bounds(parts: number): number[] {
    const sorted = this.#numbers.toSorted((a, b) => a - b);
    const places = Array.from({ length: parts - 1 }, (_, index) =>
      Math.floor(((index + 1) * sorted.length) / parts),
    );
    const bounds = new Set([...places.map((place) => sorted[place] ?? 0), sorted.at(-1) ?? 0]);
    // No number lies below the least.
    bounds.delete(sorted[0] ?? 0);
    return [...bounds];
  }
}

/** How many of ascending numbers are not above another one. */
function countUpTo(ascending: readonly number[], number: number): number {
  let [from, to] = [0, ascending.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ascending[middle] as number) <= number) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The rows of a file that a pile has written: each ends in a newline, so it is known to be sound. */
async function* readRows(file: string): AsyncGenerator<string[]> {
  let rest = '';
  for await (const chunk of createReadStream(file, {
    encoding: 'utf8',
    highWaterMark: bytesAtOnce,
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
