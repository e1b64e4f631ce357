import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Commit } from './commit.ts';
import { type Outcome, canRun, pack, run } from './run.ts';
import { readManifest } from './server.ts';

/** Builds the package of each folder in clients/. */
export async function packClients(
  folder: string,
  output: string,
  commit: Commit,
): Promise<Outcome[]> {
  const clients = path.join(folder, 'clients');
  if (!existsSync(clients)) return [];
  const outcomes: Outcome[] = [];
  for (const name of readdirSync(clients).toSorted()) {
    const client = path.join(clients, name);
    const isNpm = existsSync(path.join(client, 'package.json'));
    outcomes.push(await (isNpm ? buildPackage : buildWheel)(client, output, commit));
  }
  return outcomes;
}

async function buildPackage(client: string, output: string): Promise<Outcome> {
  const { scripts = {} } = readManifest(client);
  if ('build' in (scripts as object)) await run('npm', ['run', 'build'], { cwd: client });
  return { file: await pack(client, output) };
}

/** Without isolation, since the tools that pip would download then are not pinned. */
async function buildWheel(client: string, output: string, { seconds }: Commit): Promise<Outcome> {
  if (!(await canRun('python3', ['-c', 'import setuptools, wheel, pip']))) {
    const name = path.basename(client);
    return { leftOut: `clients/${name}: python3 with pip, setuptools and wheel is not available` };
  }
  const built = path.join(client, 'built');
  mkdirSync(built);
  const args = ['wheel', '--quiet', '--no-deps', '--no-build-isolation', '--wheel-dir', built, '.'];
  await run('python3', ['-m', 'pip', ...args], {
    cwd: client,
    env: { SOURCE_DATE_EPOCH: String(seconds) },
  });
  const [file = ''] = readdirSync(built);
  cpSync(path.join(built, file), path.join(output, file));
  return { file };
}
