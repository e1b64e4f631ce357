/*
 * Records the checksums of the pinned Node.js in release/node-checksums.json, by which a release and CI recognise it:
 * others than the Node.js project make the packages, so they are compared with its programs. Needs nodejs.org and npm's
 * registry. First verify the signature of the checksums, with the keys of Node.js' releasers:
 *
 * curl -fsLO https://github.com/nodejs/release-keys/raw/HEAD/gpg/pubring.kbx
 * curl -fsO https://nodejs.org/dist/v26.10.0/SHASUMS256.txt.asc
 * gpgv --keyring=./pubring.kbx --output SHASUMS256.txt < SHASUMS256.txt.asc
 * npm run node-checksums -- --shasums SHASUMS256.txt
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
