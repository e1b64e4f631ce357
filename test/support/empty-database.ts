import { randomInt } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe } from 'node:test';
import { type EmbeddedServer, openEmbedded } from '../../src/store/embedded/open.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { openClient } from './client.ts';
import { readWhileMigrating } from './migrations.ts';

/** A database without a schema, and a way to delete it. */
export interface Place {
  target(): Promise<string>;
  remove(): Promise<void>;
}

function inPostgres(url: string): Place {
  const name = `migrate_${randomInt(2 ** 40)}`;
  const admin = openClient(url);
  return {
    async target() {
      await admin.unsafe(`create database ${name}`);
      return Object.assign(new URL(url), { pathname: `/${name}` }).href;
    },
    async remove() {
      await admin.unsafe(`drop database ${name}`);
      await admin.end();
    },
  };
}

function inEmbedded(): Place {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-migrate-'));
  const data = path.join(folder, 'data');
  let server: EmbeddedServer | undefined;
  return {
    async target() {
      // Creating one takes seconds.
      cpSync(process.env['TEST_EMBEDDED_EMPTY_FOLDER'] as string, data, { recursive: true });
      server = await openEmbedded(data, { role: 'command' });
      return server.socketPath;
    },
    async remove() {
      await server?.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const url = process.env['TEST_POSTGRES'];
/** How to create one of each kind; undefined if it is not available. */
export const places = [
  ['embedded', inEmbedded],
  ['PostgreSQL', url === undefined ? undefined : () => inPostgres(url)],
] as const;

/** Reads while a migration runs, except in the embedded database, whose one session readers would share with it. */
type WhileMigrating = (migration: string, read: () => Promise<unknown>) => Promise<void>;

/**
 * Tests a migration that has landed on one of them, the server if there is one: its SQL is the same everywhere.
 * @param define the tests; the store is open while they run
 */
export function onEmptyDatabase(
  title: string,
  define: (open: () => Store, whileMigrating: WhileMigrating) => void,
): void {
  const [database, createPlace] = url === undefined ? places[0] : places[1];
  const skip = createPlace === undefined && `${database} is not available on this machine`;
  describe(`${title} (${database})`, { skip }, () => {
    let place: Place;
    let store: Store;
    before(async () => {
      place = createPlace!();
      store = connectAll(await place.target());
    });
    after(async () => {
      await store.close();
      await place.remove();
    });
    define(
      () => store,
      async (migration, read) => {
        if (database !== 'embedded') await readWhileMigrating(store.write, migration, read);
      },
    );
  });
}
