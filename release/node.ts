import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

/** What is known of npm's packages of the pinned Node.js, which others make than the Node.js project. */
export interface NodeChecksums {
  readonly version: string;
  /** Where the sums of the archives and of the programs in them come from. */
  readonly source: string;
  /** By the name of npm's package. */
  readonly packages: Readonly<Record<string, NodePackage>>;
}

export interface NodePackage {
  /** The Node.js project's, which has the same program. */
  readonly archive: string;
  readonly archiveSha256: string;
  /** Of `bin/node`, in both. */
  readonly nodeSha256: string;
  /** Of the package, as package-lock.json has it. */
  readonly integrity: string;
}

export const checksumsFile = path.join('release', 'node-checksums.json');

/** The packages of the pinned Node.js, by name. */
export function readPinned(folder: string): Readonly<Record<string, string>> {
  return readJson(folder, 'package.json').optionalDependencies;
}

export function lockedIntegrity(folder: string, name: string): string {
  return readJson(folder, 'package-lock.json').packages[`node_modules/${name}`]?.integrity;
}

/**
 * Compares the pinned Node.js with the recorded checksums: the program that is installed here, and what
 * package-lock.json installs elsewhere.
 * @returns sentences; none if everything is as recorded
 */
export async function listNodeProblems(folder: string): Promise<string[]> {
  const { version, packages }: NodeChecksums = readJson(folder, checksumsFile);
  const again = `run "npm run node-checksums", and see what changed.`;
  const problems: string[] = [];
  let installed = 0;
  for (const [name, pinned] of Object.entries(readPinned(folder))) {
    const known = packages[name];
    if (pinned !== version || known === undefined) {
      problems.push(`${checksumsFile} does not have ${name} ${pinned}: ${again}`);
      continue;
    }
    if (lockedIntegrity(folder, name) !== known.integrity) {
      problems.push(`package-lock.json has another ${name} than ${checksumsFile}: ${again}`);
    }
    const program = path.join(folder, 'node_modules', name, 'bin', 'node');
    if (!existsSync(program)) continue;
    installed += 1;
    if ((await sha256(program)) !== known.nodeSha256) {
      problems.push(
        `${program} is not the Node.js of ${checksumsFile}: run "npm ci". If it stays so, do not run it.`,
      );
    }
  }
  if (installed === 0) problems.push('No pinned Node.js is installed: run "npm ci".');
  return problems;
}

export async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

// oxlint-disable-next-line typescript/no-explicit-any -- files of this project
function readJson(folder: string, file: string): any {
  return JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
}
