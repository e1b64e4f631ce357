/* Writes openapi.json in the root of the repository; with --check, reports whether it is current. */
import { readFile, writeFile } from 'node:fs/promises';
import { restV1 } from '../operations/versions.ts';
import { buildOpenApi } from './openapi.ts';

const file = new URL('../../openapi.json', import.meta.url);
const text = `${JSON.stringify(buildOpenApi({ serverUrl: 'http://127.0.0.1:8787', version: restV1 }), undefined, 2)}\n`;

if (process.argv.includes('--check')) {
  const found = await readFile(file, 'utf8').catch(() => undefined);
  if (found !== text) {
    const fault = found === undefined ? 'is missing' : 'differs from the catalogue of operations';
    process.stderr.write(`openapi.json ${fault}. Run: npm run openapi\n`);
    process.exitCode = 1;
  }
} else {
  await writeFile(file, text);
}
