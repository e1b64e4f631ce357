import path from 'node:path';
import type { Config } from '../../config/config.ts';

/** The folder of this package. */
const home = path.join(import.meta.dirname, '../../..');

/** How a person in a folder starts this program: from a checkout, or installed there with npm. */
export function ownCommand(cwd: string, root = home): string {
  if (cwd === root) return 'bin/retention';
  const [project = '', ...installed] = root.split(/[/\\]node_modules[/\\]/);
  const isBelow = !path.relative(project, cwd).startsWith('..');
  return installed.length > 0 && isBelow
    ? 'npx retention'
    : quote(path.join(root, 'bin/retention'));
}

/** The variables that lead a command to the embedded database that this process uses. */
export function embeddedSettings({ databaseUrl, dataDir }: Config): string {
  return [
    ...(databaseUrl === undefined ? [] : ['DATABASE_URL=']),
    ...(dataDir === '.retention' ? [] : [`RETENTION_DATA_DIR=${quote(dataDir)}`]),
  ]
    .map((setting) => `${setting} `)
    .join('');
}

/** One word for a shell. */
function quote(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
