import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listCommands } from '../../src/commands/main.ts';
import { optionName } from '../../src/commands/framework/parser.ts';
import { run } from './process.ts';

test('the help of every command explains each of its options and arguments, and no others', async () => {
  const commands = await listCommands();
  assert.ok(commands.length > 40);
  for (const { name, options, arguments: positional } of commands) {
    const { out } = await run([...name.split(' '), '--help']);
    const explained = [...out.matchAll(/^ {2}(--[a-z-]+|[A-Z_]+)(?: \S+)? {2,}\S/gm)];
    assert.deepEqual(
      explained.map(([, word]) => word).toSorted(),
      [
        ...Object.keys(options).map(optionName),
        ...Object.values(positional).map(({ value }) => value?.hint),
      ].toSorted(),
      name,
    );
  }
});

test('the help is shown wherever it is asked for, and nothing else is done', async () => {
  const { out } = await run(['shops', 'create', '--help']);
  for (const args of [
    ['help', 'shops', 'create'],
    ['--help', 'shops', 'create'],
    ['shops', 'create', '--id', '1', '--currency', 'USD', '--name', '--help'],
    ['shops', 'create', '-h', '--nothing'],
  ]) {
    assert.deepEqual(await run(args), { code: 0, out, err: '' }, args.join(' '));
  }
});

test('no help mentions an option that the command does not have', async () => {
  for (const { name, about, notes, options } of await listCommands()) {
    const told = [about, ...notes, ...Object.values(options).map((each) => each.about)].join(' ');
    const known = new Set(Object.keys(options).map(optionName));
    const mentioned = [...told.matchAll(/--[a-z][a-z-]*/g)].map(([word]) => word);
    assert.deepEqual(
      mentioned.filter((word) => !known.has(word)),
      [],
      name,
    );
  }
});
