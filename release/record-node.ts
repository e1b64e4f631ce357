/*
 * Records the checksums of the pinned Node.js, by which a release and CI recognise it. Needs nodejs.org and npm's registry.
 * CONTRIBUTING.md says how to check the signature of SHASUMS256.txt first.
 */
import { parseArgs } from 'node:util';
import { recordNode } from './node-record.ts';
import { root } from './run.ts';

const { values } = parseArgs({ options: { shasums: { type: 'string' } } });
try {
  const { version, source, packages } = await recordNode({ folder: root, shasums: values.shasums });
  process.stdout.write(`Node.js ${version}, by ${source}\n`);
  for (const [name, { nodeSha256 }] of Object.entries(packages)) {
    process.stdout.write(`  ${name.padEnd(22)} ${nodeSha256}\n`);
  }
} catch (error) {
  process.stderr.write(`node-checksums: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
