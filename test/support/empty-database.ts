import { randomInt } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openClient } from './client.ts';
import { type EmbeddedServer, openEmbedded } from '../../src/store/embedded/open.ts';

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

/** One of them, the server if there is one: for migrations that have landed, whose SQL is the same everywhere. */
export const onePlace = places.filter((_, index) => index === (url === undefined ? 0 : 1));
