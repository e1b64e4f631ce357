/* Writes what is generated from the catalogue of operations; with --check, reports whether it is current. */
import { readFile, writeFile } from 'node:fs/promises';
import { restV1 } from '../operations/versions.ts';
import type { Contract } from './contract.ts';
import { buildOpenApi } from './openapi.ts';
import { writePython } from './python.ts';
import { writePythonShapes, writeTypeScriptShapes } from './shapes.ts';
import { writeTypeScript } from './typescript.ts';

const contract = buildOpenApi({ serverUrl: 'http://127.0.0.1:8787', version: restV1 });
const files: Readonly<Record<string, string>> = {
  'openapi.json': `${JSON.stringify(contract, undefined, 2)}\n`,
  'clients/typescript/src/types.ts': writeTypeScript(contract as Contract),
  'clients/typescript/src/shapes.ts': writeTypeScriptShapes(contract as Contract),
  'clients/python/src/retention/types.py': writePython(contract as Contract),
  'clients/python/src/retention/_shapes.py': writePythonShapes(contract as Contract),
};

for (const [name, text] of Object.entries(files)) {
  const file = new URL(`../../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    await writeFile(file, text);
    continue;
  }
  const found = await readFile(file, 'utf8').catch(() => undefined);
  if (found !== text) {
    const fault = found === undefined ? 'is missing' : 'differs from the catalogue of operations';
    process.stderr.write(`${name} ${fault}. Run: npm run openapi\n`);
    process.exitCode = 1;
  }
}
