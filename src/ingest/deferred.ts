import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { hash } from 'node:crypto';
import {
  type TemporaryFolder,
  createTemporaryFolder,
  inTemporaryFolder,
} from '../store/temporary-folder.ts';
import { type Entry, keyOf } from './batch.ts';
import { type Line, readLines } from './lines.ts';

const bufferedCharacters = 64 * 1024;

/**
 * Records that wait for another one (a payment for its subscription), in order of arrival. They are
 * kept on disk, so that memory use does not grow with their number.
 */
export class DeferredEntries {
  /** Both are set when the first entries are written. */
  #folder: TemporaryFolder | undefined;
  #out: FileHandle | undefined;
  #unwritten = '';
  readonly #keys = new KeyFilter();
  readonly #earlierKeys: ReadonlySet<string>;
  count = 0;

  /** @param earlierKeys of records that wait from earlier runs */
  constructor(earlierKeys: ReadonlySet<string> = new Set()) {
    this.#earlierKeys = earlierKeys;
  }

  get isAnyWaiting(): boolean {
    return this.#earlierKeys.size > 0 || this.count > 0;
  }

  /** Whether a record with this key may be waiting; later ones must then wait behind it. */
  mayContain(key: string): boolean {
    return this.#earlierKeys.has(key) || (this.count > 0 && this.#keys.mayContain(key));
  }

  /** @throws CommandError if the disk is full */
  async add(entries: readonly Entry[]): Promise<void> {
    for (const { source, line, record } of entries) {
      this.#keys.add(keyOf(record));
      this.count += 1;
      this.#unwritten += `${JSON.stringify([source, line.number, line.text])}\n`;
      if (this.#unwritten.length >= bufferedCharacters) await this.#write();
    }
  }

  async #write(): Promise<void> {
    await inTemporaryFolder(async () => {
      const out = (this.#out ??= await this.#open());
      await out.appendFile(this.#unwritten);
    });
    this.#unwritten = '';
  }

  async #open(): Promise<FileHandle> {
    this.#folder = createTemporaryFolder('import');
    return open(path.join(this.#folder.path, 'deferred.ndjson'), 'w+', 0o600);
  }

  /** Reads all entries. None may be added afterwards. */
  async *read(): AsyncGenerator<{ source: string; line: Line }[]> {
    if (this.count === 0) return;
    await this.#write();
    const bytes = this.#out?.createReadStream({ start: 0, autoClose: false });
    for await (const lines of readLines(bytes as AsyncIterable<Uint8Array>)) {
      yield lines.map(({ text: json }) => {
        const [source, number, text] = JSON.parse(json) as [string, number, string];
        return { source, line: { number, text } };
      });
    }
  }

  async dispose(): Promise<void> {
    await this.#out?.close();
    this.#folder?.remove();
  }
}

/**
 * A Bloom filter: a set of keys in a fixed amount of memory. A false positive makes a record wait
 * needlessly, which does no harm.
 */
class KeyFilter {
  static readonly #bits = 2 ** 26;
  #words: Uint32Array | undefined;

  add(key: string): void {
    this.#words ??= new Uint32Array(KeyFilter.#bits / 32);
    for (const bit of this.#bitsOf(key)) this.#words[bit >>> 5]! |= 1 << (bit & 31);
  }

  mayContain(key: string): boolean {
    const words = this.#words;
    return (
      words !== undefined && this.#bitsOf(key).every((bit) => words[bit >>> 5]! & (1 << (bit & 31)))
    );
  }

  /** Four bits a key: with three million keys, about one lookup in 1,500 is a false positive. */
  #bitsOf(key: string): number[] {
    const digest = hash('sha256', key, 'buffer');
    return [0, 4, 8, 12].map((offset) => digest.readUInt32LE(offset) % KeyFilter.#bits);
  }
}
