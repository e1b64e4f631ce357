import { lstat, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { UploadKey } from '../../store/push/uploads.ts';

/** How long a file is kept that is not touched. */
const keepMilliseconds = 3_600_000;
const gzip = Buffer.from([0x1f, 0x8b]);
const nameOf = ({ shopId, uploadId }: UploadKey) => `${shopId}-${uploadId}`;
const ours = /^\d+-[0-9a-f-]{36}(?:\.gz)?$/;

/** The uploaded files of all shops. Several processes may share it. */
export class UploadFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * The place for a new file.
   * @throws if others could write there, or have put a link there
   */
  async placeFor(key: UploadKey): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const found = await lstat(this.#folder);
    const isOurs = found.isDirectory() && found.uid === (process.getuid?.() ?? found.uid);
    if (!isOurs || (found.mode & 0o022) !== 0) {
      throw new Error(`${this.#folder} is not a folder that only this user can write to`);
    }
    return path.join(this.#folder, nameOf(key));
  }

  /** Names a new file so that it is unpacked when it is read, if it is an archive of gzip. */
  async settle(key: UploadKey): Promise<void> {
    const place = path.join(this.#folder, nameOf(key));
    const file = await open(place);
    try {
      const { buffer } = await file.read(Buffer.alloc(gzip.length), 0, gzip.length, 0);
      if (buffer.equals(gzip)) await rename(place, `${place}.gz`);
    } finally {
      await file.close();
    }
  }

  /** @returns the path of a file; undefined if it was removed, or another server has it */
  async find(key: UploadKey): Promise<string | undefined> {
    const place = path.join(this.#folder, nameOf(key));
    for (const each of [place, `${place}.gz`]) {
      if (await stat(each).catch(() => undefined)) return each;
    }
    return undefined;
  }

  /** Keeps a file for another hour. @param now epoch milliseconds */
  async touch(key: UploadKey, now: number): Promise<void> {
    const file = await this.find(key);
    if (file !== undefined) await utimes(file, now / 1000, now / 1000).catch(() => {});
  }

  async remove(key: UploadKey): Promise<void> {
    const place = path.join(this.#folder, nameOf(key));
    await Promise.all([rm(place, { force: true }), rm(`${place}.gz`, { force: true })]);
  }

  /** Removes all files of a shop. */
  async removeAll(shopId: number): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const theirs = names.filter((name) => ours.test(name) && name.startsWith(`${shopId}-`));
    for (const name of theirs) await rm(path.join(this.#folder, name), { force: true });
  }

  /** Removes files that nothing has touched for an hour: left over, or without an answer. */
  async sweep(now: number): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter((each) => ours.test(each))) {
      const file = path.join(this.#folder, name);
      const found = await stat(file).catch(() => undefined);
      if (found && now - found.mtimeMs > keepMilliseconds) await rm(file, { force: true });
    }
  }
}
