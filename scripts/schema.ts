/*
 * Writes schema.sql, the schema of a new database as pg_dump writes it: `npm run schema`. Needs PostgreSQL's programs;
 * starts a server of its own in a temporary folder.
 */
import { writeFile } from 'node:fs/promises';
import { migrate } from '../src/store/migrate.ts';
import { connectAll } from '../src/store/open.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { dumpSchema } from '../test/support/schema-dump.ts';

const server = await startPostgres(['fsync=off'], { isNew: true });
if (!server) throw new Error('PostgreSQL is not installed.');
try {
  const { write, close } = connectAll(server.url);
  await migrate(write);
  await close();
  await writeFile(new URL('../schema.sql', import.meta.url), dumpSchema(server.url));
} finally {
  await server.destroy();
}
