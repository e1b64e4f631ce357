import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Commit } from './commit.ts';
import { run } from './run.ts';
import type { Manifest } from './server.ts';

/**
 * Writes what the server consists of, in CycloneDX.
 * @param folder as `prepareServer` left it
 */
export async function writeSbom(
  folder: string,
  output: string,
  { name, version }: Manifest,
  { hash, seconds }: Commit,
): Promise<string> {
  const args = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const sbom = JSON.parse(await run('npm', ['sbom', ...args], { cwd: folder }));
  // npm takes the time of day and a random number, and the name of the folder.
  sbom.serialNumber = `urn:uuid:${uuidOf(`${name} ${hash}`)}`;
  sbom.metadata.timestamp = new Date(seconds * 1000).toISOString();
  sbom.metadata.component.name = name;
  const file = `${name}-${version}.cdx.json`;
  writeFileSync(path.join(output, file), `${JSON.stringify(sbom, null, 2)}\n`);
  return file;
}

/** A UUID of version 8 (RFC 9562): its bits come from a hash. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
