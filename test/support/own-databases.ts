import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe } from 'node:test';
import { createClusterDatabase } from './citus.ts';
import { openClient } from './client.ts';
import { openEmbedded } from '../../src/store/embedded/open.ts';
import { distribute } from '../../src/store/cluster/distribute.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';

/** Migrated, and empty. */
export interface OwnDatabase {
  /** A value for DATABASE_URL, or the socket path of the embedded database. */
  readonly target: string;
  drop(): Promise<void>;
}

/**
 * On the server that test files share.
 * @param hasLogin whether it belongs to a login of its own, which is no superuser
 */
export async function createServerDatabase({ hasLogin = false } = {}): Promise<OwnDatabase> {
  const address = process.env['TEST_POSTGRES'] as string;
  const admin = openClient(address);
  const name = `webhooks_${randomUUID().replaceAll('-', '')}`;
  const target = new URL(address);
  target.pathname = `/${name}`;
  if (hasLogin) {
    target.username = name;
    await admin.unsafe(`create role ${name} login`);
    await admin.unsafe(`create database ${name} owner ${name}`);
    const { write, close } = connectAll(target.href);
    await migrate(write);
    await close();
  } else {
    await admin.unsafe(`create database ${name} template ${process.env['TEST_POSTGRES_TEMPLATE']}`);
  }
  return {
    target: target.href,
    async drop() {
      await admin.unsafe(`drop database ${name} with (force)`);
      if (hasLogin) await admin.unsafe(`drop role ${name}`);
      await admin.end();
    },
  };
}

const allKinds: Readonly<Record<string, () => Promise<OwnDatabase>>> = {
  embedded: async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'retention-test-'));
    const data = path.join(folder, 'data');
    cpSync(process.env['TEST_EMBEDDED_FOLDER'] as string, data, { recursive: true });
    const server = await openEmbedded(data, { role: 'serve' });
    return {
      target: server.socketPath,
      async drop() {
        await server.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
  PostgreSQL: () => createServerDatabase(),
  Citus: async () => {
    const database = await createClusterDatabase(`webhooks_${randomUUID().replaceAll('-', '')}`);
    const { write, close } = connectAll(database.target);
    await migrate(write);
    await database.addCitus();
    await distribute(write);
    await close();
    return database;
  },
};

/** As in test/support/databases.ts. */
const kinds = Object.entries(allKinds).filter(
  ([name]) => (name === 'Citus') === (process.env['TEST_CITUS_URL'] !== undefined),
);
const isMissing = (name: string) =>
  name === 'PostgreSQL' && process.env['TEST_POSTGRES'] === undefined;

type Suite = (open: () => Store, targetOf: () => string) => void;

/**
 * Runs a suite on every available database, in one that no other file uses, because workers take the
 * jobs of all shops.
 */
export function onOwnDatabases(title: string, suite: Suite): void {
  for (const kind of kinds) onOwn(kind, title, suite);
}

/** Runs a suite on one such database, the server if there is one, like `onOneDatabase`. */
export function onOneOwnDatabase(title: string, suite: Suite): void {
  onOwn(kinds.findLast(([name]) => !isMissing(name)) as (typeof kinds)[number], title, suite);
}

function onOwn([name, create]: (typeof kinds)[number], title: string, suite: Suite): void {
  const skip = isMissing(name) && `${name} is not available on this machine`;
  describe(`${title} (${name})`, { skip, timeout: 600_000 }, () => {
    let database: OwnDatabase;
    before(async () => {
      database = await create();
    });
    suite(
      () => connectAll(database.target),
      () => database.target,
    );
    // Last: hooks run in the order in which they are registered.
    after(() => database.drop());
  });
}
