import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { readFileSync } from 'node:fs';
import { requireComplete } from './complete.ts';

const execute = promisify(execFile);

export const root = path.join(import.meta.dirname, '..');

/** A file of the release, or why there is none. */
export type Outcome = { readonly file: string } | { readonly leftOut: string };

/**
 * Runs a program to its end.
 * @returns what it printed
 * @throws Error with the program's own words if it fails
 */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> },
): Promise<string> {
  try {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 2 ** 28 };
    return (await execute(program, [...args], options)).stdout;
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    const said = (stderr || stdout).trim();
    throw new Error(`"${program} ${args.join(' ')}" failed: ${said || (error as Error).message}`, {
      cause: error,
    });
  }
}

/** Whether a program is there and does this. */
export function canRun(program: string, args: readonly string[]): Promise<boolean> {
  return run(program, args, { cwd: root }).then(
    () => true,
    () => false,
  );
}

/**
 * Packs the npm package in a folder, without running its scripts.
 * @throws Error if it lacks what its package.json names
 */
export async function pack(
  folder: string,
  output: string,
  { dryRun = false } = {},
): Promise<Packed> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', output];
  if (dryRun) args.push('--dry-run');
  // npm 12 names the package, earlier versions list it.
  const [packed] = Object.values<Packed>(JSON.parse(await run('npm', args, { cwd: folder })));
  if (!packed) throw new Error(`npm packed nothing in ${folder}.`);
  requireComplete(
    JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')),
    packed.files.map((file) => file.path),
  );
  return packed;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}
