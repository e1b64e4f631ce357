import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hash } from 'node:crypto';
import type { Entry } from './batch.ts';
import { type Line, readLines } from './lines.ts';

/**
 * Records that wait for another one (a payment for its subscription), kept on disk so that memory
 * does not grow with their number, in the order in which they came.
 */
export class DeferredEntries {
  /** Both once there is anything to keep. */
  #folder: string | undefined;
  #out: WriteStream | undefined;
  readonly #keys = new KeyFilter();
  count = 0;

  /** Whether a record with this key may be waiting; then later ones must wait behind it. */
  mayHave(key: string): boolean {
    return this.count > 0 && this.#keys.mayHave(key);
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

  /** All of them, once nothing more is added. */
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
      // A file that is still being opened must not find its folder gone.
      this.#out.destroy();
      await once(this.#out, 'close');
    }
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }
}

/**
 * A set of keys in a fixed amount of memory that may take a key for known which is not (a Bloom
 * filter): then a record waits needlessly, which changes nothing but its turn.
 */
class KeyFilter {
  static readonly #bits = 2 ** 26;
  #words: Uint32Array | undefined;

  add(key: string): void {
    this.#words ??= new Uint32Array(KeyFilter.#bits / 32);
    for (const bit of this.#bitsOf(key)) this.#words[bit >>> 5]! |= 1 << (bit & 31);
  }

  mayHave(key: string): boolean {
    const words = this.#words;
    return (
      words !== undefined && this.#bitsOf(key).every((bit) => words[bit >>> 5]! & (1 << (bit & 31)))
    );
  }

  /** Four places, so that three million keys are mistaken about once in 1,500. */
  #bitsOf(key: string): number[] {
    const digest = hash('sha256', key, 'buffer');
    return [0, 4, 8, 12].map((offset) => digest.readUInt32LE(offset) % KeyFilter.#bits);
  }
}
