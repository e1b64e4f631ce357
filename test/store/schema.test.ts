import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { migrate } from '../../src/store/migrate.ts';
import { connectAll } from '../../src/store/open.ts';
import { root } from '../cli/process.ts';
import { places } from '../support/empty-database.ts';
import { dumpSchema, pgDumpMissing } from '../support/schema-dump.ts';

const schema = readFileSync(path.join(root, 'schema.sql'), 'utf8');

describe('schema.sql', () => {
  const createPlace = places[1][1];
  const skip =
    createPlace === undefined ? 'PostgreSQL is not available on this machine' : pgDumpMissing;

  /** The schema of an empty database once it is migrated. */
  async function dumpMigrated(): Promise<string> {
    const place = createPlace!();
    const url = await place.target();
    const { write, close } = connectAll(url);
    try {
      await migrate(write);
      return dumpSchema(url);
    } finally {
      await close();
      await place.remove();
    }
  }

  test('is what a new database has', { skip }, async () => {
    const isCurrent = (await dumpMigrated()) === schema;
    assert.ok(isCurrent, 'schema.sql differs from what the migrations make. Run: npm run schema');
  });
});
