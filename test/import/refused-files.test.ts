import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { RefusedLines } from '../../src/ingest/files.ts';
import { throwawayFolder } from '../cli/process.ts';

const line = { number: 1, text: '{}' };

test('a pipe or a link is left as it is, and refused as the file for refused lines', async () => {
  const folder = throwawayFolder();
  const [pipe, link] = ['pipe', 'link'].map((name) => path.join(folder, name)) as [string, string];
  execFileSync('mkfifo', [pipe]);
  symlinkSync(path.join(folder, 'elsewhere'), link);
  for (const file of [pipe, link]) {
    await assert.rejects(new RefusedLines(file).clear(['a.ndjson']), {
      name: 'CommandError',
      message: `${file} is not a regular file; choose another file for the refused lines with --refused.`,
    });
  }
  assert.ok(lstatSync(pipe).isFIFO());
  assert.ok(lstatSync(link).isSymbolicLink());
});

test('a chosen file in a folder that does not exist is refused before the import', async () => {
  const file = path.join(throwawayFolder(), 'none', 'refused');
  await assert.rejects(new RefusedLines(file).clear(['a.ndjson']), {
    name: 'CommandError',
    message: /cannot be written: ENOENT.*Choose a file in another folder with --refused/,
  });
});

test('a file that cannot be written later is named, with how to go on', async () => {
  const source = path.join(throwawayFolder(), 'none', 'a.ndjson');
  await assert.rejects(new RefusedLines(undefined).add(source, line, 'why'), {
    name: 'CommandError',
    message: /a\.ndjson\.refused\.ndjson, .* cannot be written: ENOENT.* run the command again/,
  });
});

test('a file that is to be imported is not deleted, whatever its name is', async () => {
  const folder = throwawayFolder();
  const file = path.join(folder, 'a.ndjson');
  writeFileSync(file, 'records');
  mkdirSync(path.join(folder, 'sub'));
  linkSync(file, path.join(folder, 'linked'));
  symlinkSync(folder, path.join(folder, 'same'));
  for (const name of ['a.ndjson', './a.ndjson', 'sub/../a.ndjson', 'linked', 'same/a.ndjson']) {
    const chosen = `${folder}/${name}`;
    await assert.rejects(new RefusedLines(chosen).clear([file]), {
      name: 'CommandError',
      message: `${chosen} is to be imported; choose another file for the refused lines.`,
    });
  }
  // Refused lines of an earlier import, which are imported together with its file.
  const lines = `${folder}/./a.ndjson.refused.ndjson`;
  writeFileSync(lines, 'refused');
  await assert.rejects(new RefusedLines(undefined).clear([file, lines]), /is to be imported/);
  assert.deepEqual(
    [file, lines].map((each) => readFileSync(each, 'utf8')),
    ['records', 'refused'],
  );
});

test('an earlier file is replaced', async () => {
  const file = path.join(throwawayFolder(), 'refused');
  writeFileSync(file, 'earlier');
  const refused = new RefusedLines(file);
  await refused.clear(['a.ndjson']);
  await refused.add('a.ndjson', line, 'why');
  await refused.close();
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    file: 'a.ndjson',
    line: 1,
    reason: 'why',
    text: '{}',
  });
});
