import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PGlite } from '@electric-sql/pglite';

import { closeContents } from './folder.ts';
import type { Session } from './multiplexer.ts';

/**
 * What PostgreSQL prints when it cannot go on: a PANIC, for example because the write-ahead log cannot
 * be written, or an abort of the WebAssembly program. PGlite swallows both and calls the broken
 * database again, which then spins for ever.
 */
const fatalLine = /\bPANIC: |^Aborted\(/;

/**
 * Opens the database. Writes go to the operating system before a commit is acknowledged, so that they
 * survive the death of the process; they are not forced to the disk against a loss of power.
 * @param print called for each line that PostgreSQL prints
 * @param crash called inside the failing call, when the database cannot go on; must not return
 */
export async function openDatabase(
  folder: string,
  print: (line: string) => void,
  crash: (line: string) => void,
): Promise<PGlite> {
  const path = join(folder, 'db');
  // Present while a database is being created: what an interrupted creation left is worthless.
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

/** Through the streaming call: the plain one also parses every answer and keeps what it parsed. */
export function sessionOf(database: PGlite): Session {
  return {
    run: async (messages) => {
      const chunks: Buffer[] = [];
      // The bytes belong to the database's memory and are overwritten after the callback.
      const onRawData = (bytes: Uint8Array): void => void chunks.push(Buffer.from(bytes));
      await database.execProtocolRawStream(messages, { syncToFs: false, onRawData });
      return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    },
  };
}
