import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PGlite } from '@electric-sql/pglite';

import { closeContents } from './folder.ts';
import type { EmbeddedSession } from './multiplexer.ts';

/**
 * What PostgreSQL prints before it fails for good: a PANIC, for example when the write-ahead log cannot be
 * written, or an abort of the WebAssembly program. PGlite ignores both and calls the broken database again,
 * which then loops forever.
 */
const fatalLine = /\bPANIC: |^Aborted\(/;

/**
 * Opens the database. Commits are written to the operating system before they are acknowledged, so they
 * survive a crash of the process; they are not flushed to disk, so they may not survive a power failure.
 * @param print called for each line that PostgreSQL prints
 * @param crash called from inside the failing call when the database is broken; must not return
 */
export async function openDatabase(
  folder: string,
  print: (line: string) => void,
  crash: (line: string) => void,
): Promise<PGlite> {
  const path = join(folder, 'db');
  // Exists while a database is being created; the result of an interrupted creation is discarded.
  const unfinished = join(folder, 'db.unfinished');
  if (existsSync(unfinished)) rmSync(path, { recursive: true, force: true });
  const creating = !existsSync(path);
  if (creating) writeFileSync(unfinished, '');
  const onLine = (line: string): boolean => {
    print(line);
    if (fatalLine.test(line)) crash(line);
    return false;
  };
  const database = await PGlite.create(path, { onStdout: onLine, onStderr: onLine });
  if (creating) {
    closeContents(folder);
    rmSync(unfinished);
  }
  return database;
}

/** Uses the raw streaming call; the plain one also parses and keeps all output. */
export function sessionOf(database: PGlite): EmbeddedSession {
  return {
    run: async (messages) => {
      const chunks: Buffer[] = [];
      // The bytes live in the database's memory and are overwritten after the callback.
      const onRawData = (bytes: Uint8Array): void => void chunks.push(Buffer.from(bytes));
      await database.execProtocolRawStream(messages, { syncToFs: false, onRawData });
      return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    },
  };
}
