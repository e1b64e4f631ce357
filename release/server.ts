import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Commit } from './commit.ts';
import { compile } from './compile.ts';
import { removeDeadLinks } from './links.ts';
import { pack } from './run.ts';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly [field: string]: unknown;
}

/** What users of the package need of package.json. */
const published = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'homepage',
  'bugs',
  'repository',
  'bin',
  'files',
  'type',
  'dependencies',
  'optionalDependencies',
  'engines',
];

export function readManifest(folder: string): Manifest {
  return readJson(path.join(folder, 'package.json')) as Manifest;
}

/**
 * Turns the files of a commit into those of the package: JavaScript, without what only developers need.
 * Beside them, where npm does not pack it, is a lock file of what the package needs.
 */
export function prepareServer(folder: string, { hash }: Commit): Manifest {
  const all = readManifest(folder);
  const manifest = {
    ...Object.fromEntries(published.filter((name) => name in all).map((name) => [name, all[name]])),
    gitHead: hash,
  } as unknown as Manifest;
  compile(path.join(folder, 'src'));
  const bin = path.join(folder, 'bin', 'retention');
  writeFileSync(bin, readFileSync(bin, 'utf8').replaceAll('src/cli.ts', 'src/cli.js'));
  writeJson(path.join(folder, 'package.json'), manifest);
  const lock = readJson(path.join(folder, 'package-lock.json')) as Lock;
  writeLock(folder, manifest, { '': manifest, ...neededBy(lock) });
  return manifest;
}

/**
 * Packs the server, and writes the package.json and package-lock.json by which "npm ci" installs it with
 * exactly the libraries that it was tested with.
 * @param folder as `prepareServer` left it
 */
export async function packServer(folder: string, output: string): Promise<string> {
  const { files } = await pack(folder, output, { dryRun: true });
  removeDeadLinks(
    folder,
    files.map((each) => each.path),
  );
  const { filename: file } = await pack(folder, output);
  const manifest = readManifest(folder);
  const { name, version, dependencies, optionalDependencies, bin, engines } = manifest;
  const integrity = createHash('sha512').update(readFileSync(path.join(output, file)));
  const project = { name: 'retention', private: true, dependencies: { [name]: `file:${file}` } };
  writeJson(path.join(output, 'package.json'), project);
  const lock = readJson(path.join(folder, 'package-lock.json')) as Lock;
  writeLock(output, project, {
    '': project,
    [`node_modules/${name}`]: {
      version,
      resolved: `file:${file}`,
      integrity: `sha512-${integrity.digest('base64')}`,
      dependencies,
      optionalDependencies,
      bin,
      engines,
    },
    ...neededBy(lock),
  });
  return file;
}

/** The packages that are not for developers, by their place. */
function neededBy({ packages }: Lock): Lock['packages'] {
  return Object.fromEntries(
    Object.entries(packages).filter(
      ([place, { dev, link }]) =>
        place.startsWith('node_modules/') && dev !== true && link !== true,
    ),
  );
}

function writeLock(folder: string, { name }: { name: string }, packages: Lock['packages']): void {
  writeJson(path.join(folder, 'package-lock.json'), {
    name,
    lockfileVersion: 3,
    requires: true,
    packages,
  });
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
