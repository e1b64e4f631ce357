import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listCommands } from '../../src/commands/families.ts';

test('the help of every command names all of its options, and no others', async () => {
  const commands = await listCommands();
  assert.ok(commands.length > 40);
  for (const { name, synopsis, details = [], options } of commands) {
    const named = (text: string) => [...text.matchAll(/--([a-z][a-z-]*)/g)].map(([, word]) => word);
    const all = Object.keys(options);
    const help = named(`${synopsis} ${details.join(' ')}`);
    assert.deepEqual(
      all.filter((option) => !help.includes(option)),
      [],
      name,
    );
    assert.deepEqual(
      named(synopsis).filter((option) => !all.includes(String(option))),
      [],
      name,
    );
  }
});
