import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hash } from 'node:crypto';
import type { Entry } from './batch.ts';
import { type Line, readLines } from './lines.ts';

/**
 * Records that wait for another one (a payment for its subscription), in order of arrival. They are
 * kept on disk, so that memory use does not grow with their number.
 */
export class DeferredEntries {
  /** Both are set when the first entry is added. */
  #folder: string | undefined;
  #out: WriteStream | undefined;
  readonly #keys = new KeyFilter();
  count = 0;

  /** Whether a record with this key may be waiting; later ones must then wait behind it. */
  mayContain(key: string): boolean {
    return this.count > 0 && this.#keys.mayContain(key);
  }

  async add(entries: readonly Entry[]): Promise<void> {
    for (const { source, line, key } of entries) {
      this.#keys.add(key);
      this.count += 1;
      const text = JSON.stringify([source, line.number, line.text]);
      const out = (this.#out ??= await this.#open());
      if (!out.write(`${text}\n`)) await once(out, 'drain');
    }
  }

  async #open(): Promise<WriteStream> {
    this.#folder = await mkdtemp(path.join(tmpdir(), 'retention-import-'));
    return createWriteStream(path.join(this.#folder, 'deferred.ndjson'), { mode: 0o600 });
  }

  /** Reads all entries. None may be added afterwards. */
  async *read(): AsyncGenerator<{ source: string; line: Line }[]> {
    if (!this.#out) return;
    this.#out.end();
    if (!this.#out.closed) await once(this.#out, 'close');
    for await (const lines of readLines(createReadStream(this.#out.path))) {
      yield lines.map(({ text: json }) => {
        const [source, number, text] = JSON.parse(json) as [string, number, string];
        return { source, line: { number, text } };
      });
    }
  }

  async dispose(): Promise<void> {
    if (this.#out && !this.#out.closed) {
      // The file may still be opening, which needs its folder.
      this.#out.destroy();
      await once(this.#out, 'close');
    }
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
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
