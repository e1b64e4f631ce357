import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The oldest Node.js on the PATH that published examples are for, which is 20 and newer: npm puts the project's own
 * before it, and that knows what readers' do not. Where the PATH has only newer ones, the names of files (`.cjs`,
 * `.mjs`) still decide whether code is a module, and it is never TypeScript.
 */
export function oldestNode(): string {
  const found = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'node'))
    .filter((program) => existsSync(program))
    .map((program) => {
      const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
      return { program, major: Number(/^v(\d+)/.exec(stdout ?? '')?.[1]) };
    });
  const [oldest] = found
    .filter(({ major }) => major >= 20)
    .toSorted((one, other) => one.major - other.major);
  return oldest?.program ?? process.execPath;
}
