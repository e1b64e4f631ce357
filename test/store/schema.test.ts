import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { migrate } from '../../src/store/migrate.ts';
import { connectAll } from '../../src/store/open.ts';
import { root } from '../cli/process.ts';
import { places } from '../support/empty-database.ts';
import { createReleasedSchema } from '../support/migrations.ts';
import { dumpSchema, pgDumpMissing, sortedStatements } from '../support/schema-dump.ts';

const read = (...names: string[]) => readFileSync(path.join(root, ...names), 'utf8');
const schema = read('schema.sql');
const migrations = path.join(root, 'migrations');

describe('schema.sql', () => {
  const createPlace = places[1][1];
  const skip =
    createPlace === undefined ? 'PostgreSQL is not available on this machine' : pgDumpMissing;

  /** The schema of an empty database once it is migrated. */
  async function dumpMigrated(before?: typeof createReleasedSchema): Promise<string> {
    const place = createPlace!();
    const url = await place.target();
    const { write, close } = connectAll(url);
    try {
      await before?.(write);
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

  test('is what a database of version 1.0.0 has after the upgrade', { skip }, async () => {
    const upgraded = await dumpMigrated(createReleasedSchema);
    assert.deepEqual(sortedStatements(upgraded), sortedStatements(schema));
  });
});

test('the first version and the last change of functions include each file once', () => {
  const including = globSync('*.sql', { cwd: migrations }).map((name) => read('migrations', name));
  const included = [...including.join('').matchAll(/^\\ir (\S+)$/gm)];
  assert.deepEqual(
    included.map(([, name]) => name).toSorted(),
    globSync(['*.sql', '{tables,facts}/*.sql'], { cwd: migrations })
      .filter((name) => !/^\d/.test(name))
      .toSorted(),
  );
});

test('the comment of each index names what it serves', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).filter(
    (name) => !name.endsWith('.test.ts'),
  );
  const code = [...sources, ...globSync('migrations/**/*.sql', { cwd: root })]
    .map((name) => read(name))
    .join('\n');
  const names = new Set(
    [...code.matchAll(/\b(?:function|const|create function) (\w+)/g)].map(([, name]) => name),
  );
  const indexes = globSync('{*.sql,{tables,facts}/*.sql}', { cwd: migrations }).flatMap((name) => [
    ...read('migrations', name).matchAll(/((?:^--.*\n)*)^create (?:unique )?index (\w+)/gm),
  ]);
  assert.ok(indexes.length > 30);
  for (const [, comment = '', index] of indexes) {
    const served = comment.match(/\b[a-z]+(?:[A-Z]\w*|_\w+)/g) ?? [];
    assert.notDeepEqual([index, served], [index, []]);
    assert.deepEqual([index, served.filter((name) => !names.has(name))], [index, []]);
  }
});
