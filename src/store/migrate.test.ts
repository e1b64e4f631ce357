import assert from 'node:assert/strict';
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readScript, statementsOf } from './migrate.ts';

test('cuts a script at the semicolons between its statements', () => {
  const script = `
    -- Not here; nor 'there.
    select 1; /* nor; here */ select ';', 'it''s; one', "a;b";
    create function f() returns void language plpgsql as $$ begin perform 1; end $$;
    do $do$ begin execute $$ select ';' $$; end $do$`;
  assert.deepEqual(statementsOf(script), [
    'select 1',
    `select ';', 'it''s; one', "a;b"`,
    'create function f() returns void language plpgsql as $$ begin perform 1; end $$',
    `do $do$ begin execute $$ select ';' $$; end $do$`,
  ]);
});

test('finds no statement in blanks and comments', () => {
  assert.deepEqual(statementsOf(' -- nothing\n;;\n'), []);
});

test('loses nothing but comments of any migration', async () => {
  const folder = new URL('../../migrations/', import.meta.url);
  for (const name of globSync('**/[0-9]*.sql', { cwd: folder })) {
    const script = await readScript(new URL(name, folder));
    const statements = statementsOf(script);
    // A migration whose functions moved to a later one has comments only.
    assert.equal(statements.length > 0, /^(?!--|$)/m.test(script), name);
    for (const statement of statements) assert.match(statement, /^[a-z]/, name);
  }
});

test('reads a script with those that it includes', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-scripts-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, 'more'));
  writeFileSync(path.join(folder, 'all.sql'), 'select 1;\n\\ir more/two.sql\nselect 4;\n');
  writeFileSync(path.join(folder, 'more', 'two.sql'), 'select 2;\n\\ir three.sql\n');
  writeFileSync(path.join(folder, 'more', 'three.sql'), 'select 3;');
  const script = await readScript(pathToFileURL(path.join(folder, 'all.sql')));
  assert.deepEqual(statementsOf(script), ['select 1', 'select 2', 'select 3', 'select 4']);
});
