import { cpSync, existsSync, globSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Commit } from './commit.ts';
import { type Outcome, canRun, pack, run } from './run.ts';
import { readManifest } from './server.ts';

/** Without isolation, since the tools that pip would download then are not pinned. */
const wheelTools = ['-c', 'import setuptools, wheel, pip'];

/** @throws Error if the tools are missing that build the Python client */
export async function requirePython(): Promise<void> {
  if (await canRun('python3', wheelTools)) return;
  throw new Error(
    'The Python client needs python3 with pip, setuptools and wheel. Install them, or leave it out with --no-python.',
  );
}

/** Builds the package of each folder in clients/. */
export async function packClients(
  folder: string,
  output: string,
  commit: Commit,
  { withPython }: { withPython: boolean },
): Promise<Outcome[]> {
  const clients = path.join(folder, 'clients');
  const outcomes: Outcome[] = [];
  for (const name of readdirSync(clients).toSorted()) {
    const client = path.join(clients, name);
    if (existsSync(path.join(client, 'package.json'))) {
      outcomes.push(await buildPackage(client, output));
    } else if (withPython) {
      outcomes.push(await buildWheel(client, output, commit));
    } else {
      outcomes.push({ leftOut: `clients/${name}: --no-python` });
    }
  }
  return outcomes;
}

async function buildPackage(client: string, output: string): Promise<Outcome> {
  const { scripts = {} } = readManifest(client);
  if ('build' in (scripts as object)) await run('npm', ['run', 'build'], { cwd: client });
  return { file: (await pack(client, output)).filename };
}

async function buildWheel(client: string, output: string, { seconds }: Commit): Promise<Outcome> {
  const built = path.join(client, 'built');
  mkdirSync(built);
  const args = ['wheel', '--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', built, '.'];
  await run('python3', ['-m', 'pip', ...args], {
    cwd: client,
    env: { SOURCE_DATE_EPOCH: String(seconds) },
  });
  const [file = ''] = readdirSync(built);
  const listed = await run('python3', ['-m', 'zipfile', '--list', path.join(built, file)], {
    cwd: client,
  });
  const missing = globSync('**/*.{py,typed}', { cwd: path.join(client, 'src') }).filter(
    (source) => !listed.includes(source),
  );
  if (missing.length > 0) throw new Error(`The wheel ${file} lacks ${missing.join(', ')}.`);
  cpSync(path.join(built, file), path.join(output, file));
  return { file };
}
