import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { statementsOf } from './statements.ts';

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

test('loses nothing but comments of any migration', () => {
  const folder = new URL('../../migrations/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const statements = statementsOf(text);
    assert.ok(statements.length > 0, name);
    for (const statement of statements) assert.match(statement, /^[a-z]/, name);
  }
});
