import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readLines } from '../../ingest/lines.ts';

/** What is kept of one line: nothing but what was read of its node. */
export type Row = readonly [
  /** Number of the contract, or of the group, that it belongs to or is. */
  family: number,
  /** What it is, and where it stands, in the terms of whoever adds it. */
  kind: number,
  file: number,
  line: number,
  /** Key of its GID. */
  key: string,
  /** Null where the line was refused. */
  read: object | null,
];

/** The most bytes of a partition that are read into memory. */
const mostPartitionBytes = 16 * 1024 * 1024;
const bitsPerLevel = 7;
/** After that, what is still too large is one family, or a few. */
const levels = 4;
const bufferedCharacters = 64 * 1024;

/**
 * Rows on disk, so that memory does not grow with their number, given back family by family. They
 * are partitioned by a hash of the family; a partition that is too large for memory is partitioned
 * again. The order of families is that of their hashes, so it does not depend on the partitions.
 */
export class Staging {
  readonly #folder: string;
  readonly #root: Level;

  /** @param partitionBytes the most of a partition that is read into memory */
  static async create(partitionBytes = mostPartitionBytes): Promise<Staging> {
    return new Staging(await mkdtemp(path.join(tmpdir(), 'retention-import-')), partitionBytes);
  }

  private constructor(folder: string, partitionBytes: number) {
    this.#folder = folder;
    this.#root = new Level(path.join(folder, 'rows'), 0, partitionBytes);
  }

  add(row: Row): void {
    this.#root.add(row[0], JSON.stringify(row));
  }

  /** The rows of each family, in the order in which they were added; once nothing more is. */
  families(): AsyncGenerator<readonly Row[]> {
    return this.#root.families();
  }

  async dispose(): Promise<void> {
    this.#root.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

class Level {
  readonly #prefix: string;
  readonly #level: number;
  readonly #partitionBytes: number;
  readonly #partitions = new Map<number, Partition>();

  constructor(prefix: string, level: number, partitionBytes: number) {
    this.#prefix = prefix;
    this.#level = level;
    this.#partitionBytes = partitionBytes;
  }

  add(family: number, json: string): void {
    const index = (hashOf(family) << (bitsPerLevel * this.#level)) >>> (32 - bitsPerLevel);
    let partition = this.#partitions.get(index);
    if (!partition) {
      partition = new Partition(`${this.#prefix}.${index}`);
      this.#partitions.set(index, partition);
    }
    partition.add(json);
  }

  async *families(): AsyncGenerator<readonly Row[]> {
    for (const [, partition] of [...this.#partitions].toSorted(([a], [b]) => a - b)) {
      partition.close();
      const isSmall = partition.bytes <= this.#partitionBytes;
      if (isSmall || this.#level === levels - 1) yield* await readFamilies(partition.file);
      else yield* this.#splitUp(partition);
      await rm(partition.file);
    }
  }

  async *#splitUp({ file }: Partition): AsyncGenerator<readonly Row[]> {
    const below = new Level(file, this.#level + 1, this.#partitionBytes);
    try {
      for await (const lines of readLines(createReadStream(file))) {
        for (const { text } of lines) below.add((JSON.parse(text) as Row)[0], text);
      }
      yield* below.families();
    } finally {
      below.close();
    }
  }

  close(): void {
    for (const partition of this.#partitions.values()) partition.close();
  }
}

/**
 * A file that is appended to. Written without waiting: rows come too quickly for a promise each, and
 * what is written goes to the system's memory first.
 */
class Partition {
  readonly file: string;
  bytes = 0;
  #descriptor: number | undefined;
  #buffer = '';

  constructor(file: string) {
    this.file = file;
    this.#descriptor = openSync(file, 'w', 0o600);
  }

  add(json: string): void {
    this.#buffer += `${json}\n`;
    if (this.#buffer.length >= bufferedCharacters) this.#flush();
  }

  close(): void {
    if (this.#descriptor === undefined) return;
    this.#flush();
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #flush(): void {
    const bytes = Buffer.from(this.#buffer);
    this.#buffer = '';
    this.bytes += bytes.length;
    // A disk that is nearly full takes a part of it before it says so.
    for (let written = 0; written < bytes.length;) {
      written += writeSync(this.#descriptor as number, bytes, written);
    }
  }
}

async function readFamilies(file: string): Promise<Iterable<readonly Row[]>> {
  const families = new Map<number, Row[]>();
  for (const json of (await readFile(file, 'utf8')).split('\n')) {
    if (json === '') continue;
    const row = JSON.parse(json) as Row;
    const rows = families.get(row[0]);
    if (rows) rows.push(row);
    else families.set(row[0], [row]);
  }
  return [...families]
    .map(([family, rows]) => ({ family, rows, hash: hashOf(family) }))
    .toSorted((a, b) => a.hash - b.hash || a.family - b.family)
    .map(({ rows }) => rows);
}

/** 32 bits in which numbers that follow each other lie far apart. */
function hashOf(family: number): number {
  let bits = (family ^ Math.imul(Math.floor(family / 2 ** 32), 0x9e3779b1)) | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
