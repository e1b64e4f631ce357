import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Running, type RunOptions, launch, runProcess } from '../test/cli/process.ts';

type Env = Readonly<Record<string, string>>;

/** Programs that are too large to be dependencies, in a folder of their own. */
export interface Tools {
  readonly folder: string;
  /**
   * Runs a program in that folder until it ends.
   * @param program its name, or the path of a script
   * @returns what it wrote to both outputs
   */
  run(program: string, args?: readonly string[], env?: Env): Promise<string>;
  start(program: string, args: readonly string[]): Running;
  /** The script of a program. */
  scriptOf(program: string): string;
}

/** Installs packages in these versions with npm, once: the folder stays for the next run. */
export async function installTools(packages: Readonly<Record<string, string>>): Promise<Tools> {
  const names = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const id = hash('sha256', names.join()).slice(0, 12);
  const folder = path.join(tmpdir(), `retention-tools-${id}`);
  const done = path.join(folder, 'installed');
  const runIn = async (options: RunOptions, args: readonly string[]) => {
    const { code, out, err } = await runProcess(args, { ...options, cwd: folder });
    assert.equal(code, 0, `${options.through?.join(' ')} ${args.join(' ')}\n${out}\n${err}`);
    return out + err;
  };
  if (!existsSync(done)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    await runIn(
      // npm keeps its cache, and reads its settings, in the home folder.
      { through: ['npm', 'install'], env: { HOME: process.env['HOME'] ?? folder } },
      ['--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', ...names],
    );
    writeFileSync(done, '');
  }
  const scriptOf = (program: string) =>
    path.join(folder, /\.\w+$/.test(program) ? program : `node_modules/.bin/${program}`);
  const through = (program: string) => [process.execPath, scriptOf(program)] as const;
  return {
    folder,
    run: (program, args = [], env = {}) => runIn({ through: through(program), env }, args),
    start: (program, args) => launch(args, { through: through(program), cwd: folder }),
    scriptOf,
  };
}
