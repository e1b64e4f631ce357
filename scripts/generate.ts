/*
 * Writes what is generated from the catalogues of operations, records, figures, commands, settings and
 * metrics; with --check, reports whether it is current.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { listCommands } from '../src/commands/main.ts';
import { restV1 } from '../src/operations/versions.ts';
import type { Contract } from '../src/reference/contract.ts';
import { buildOpenApi } from '../src/reference/openapi.ts';
import { writePython } from '../src/reference/python.ts';
import { writePythonShapes, writeTypeScriptShapes } from '../src/reference/shapes.ts';
import { writeTypeScript } from '../src/reference/typescript.ts';
import { writeCommands } from './commands-page.ts';
import { writeSettings } from './settings-page.ts';
import { pagesWithTables, writeTables } from './tables.ts';

const root = new URL('../', import.meta.url);
const contract = buildOpenApi({ serverUrl: 'http://127.0.0.1:8787', version: restV1 });
const files: Readonly<Record<string, string>> = {
  'openapi.json': `${JSON.stringify(contract, undefined, 2)}\n`,
  'clients/typescript/src/types.ts': writeTypeScript(contract as Contract),
  'clients/typescript/src/shapes.ts': writeTypeScriptShapes(contract as Contract),
  'clients/python/src/retention/types.py': writePython(contract as Contract),
  'clients/python/src/retention/_shapes.py': writePythonShapes(contract as Contract),
  'docs/commands.md': formatted('docs/commands.md', writeCommands(await listCommands())),
  'docs/settings.md': formatted('docs/settings.md', writeSettings()),
  ...Object.fromEntries(
    pagesWithTables.map((name) => [
      name,
      formatted(name, writeTables(readFileSync(new URL(name, root), 'utf8'))),
    ]),
  ),
};

for (const [name, text] of Object.entries(files)) {
  const file = new URL(name, root);
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
    continue;
  }
  const found = await readFile(file, 'utf8').catch(() => undefined);
  if (found !== text) {
    const fault = found === undefined ? 'is missing' : 'differs from what it is generated from';
    process.stderr.write(`${name} ${fault}. Run: npm run generate\n`);
    process.exitCode = 1;
  }
}

/** As "npm run format" leaves it. */
function formatted(name: string, text: string): string {
  return execFileSync('node_modules/.bin/oxfmt', [`--stdin-filepath=${name}`], {
    cwd: root,
    encoding: 'utf8',
    input: text,
  });
}
