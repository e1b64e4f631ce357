import { createHash } from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  globSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOfMigrations, migrate } from './migrate.ts';
import { type Store, openStore } from './open.ts';

/**
 * Opens a new embedded database with the whole schema. Creating one takes a processor six seconds, so the first is kept
 * beside compiled code, and the next are copies of it.
 * @param dataDir does not exist yet
 * @param cache where it is kept; undefined for nowhere
 */
export async function openEmptyStore(
  dataDir: string,
  cache = getCompileCacheDir(),
): Promise<Store> {
  const kept = cache && path.join(cache, `database-${await digest()}`);
  if (kept && existsSync(kept)) {
    cpSync(kept, dataDir, { recursive: true });
    return open(dataDir);
  }
  const created = await open(dataDir);
  try {
    await migrate(created.write);
  } catch (error) {
    await created.close();
    throw error;
  }
  if (!kept) return created;
  await created.close();
  keep(dataDir, kept);
  return open(dataDir);
}

const open = (dataDir: string) => openStore({ databaseUrl: undefined, dataDir, role: 'command' });

/** Of all that the contents of an empty database depend on. */
async function digest(): Promise<string> {
  const program = await readFile(
    fileURLToPath(import.meta.resolve('@electric-sql/pglite/pglite.wasm')),
  );
  const hash = createHash('sha256')
    .update(program)
    .update(await digestOfMigrations());
  return hash.digest('hex').slice(0, 16);
}

function keep(dataDir: string, kept: string): void {
  let unfinished: string | undefined;
  try {
    unfinished = mkdtempSync(`${kept}-`);
    cpSync(dataDir, unfinished, { recursive: true });
    // Otherwise a power failure could leave a folder of this name with empty files.
    for (const entry of globSync('**', { cwd: unfinished })) flush(path.join(unfinished, entry));
    // Fails if another process was faster.
    renameSync(unfinished, kept);
  } catch {
    // The folder is full, or may not be written to. Then the next database is created as well.
    if (unfinished) rmSync(unfinished, { recursive: true, force: true });
  }
}

function flush(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
