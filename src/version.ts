import { readFileSync } from 'node:fs';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('package.json')) as { version: string; gitHead?: string };

/** The version of this service, from package.json. */
export const { version } = manifest;

/** What it was built from: a release names its commit in package.json, and a checkout has it in .git. */
export const commit = manifest.gitHead ?? checkedOut() ?? 'unknown';

function checkedOut(): string | undefined {
  const head = find('HEAD', /.+/);
  const [, branch] = /^ref: (.+)$/.exec(head ?? '') ?? [];
  if (branch === undefined) return head;
  return (
    find(branch, /.+/) ??
    find('packed-refs', new RegExp(`^\\S+(?= ${RegExp.escape(branch)}$)`, 'm'))
  );
}

/** What a file of .git says; undefined if this is not a checkout, or it has no such file. */
function find(file: string, pattern: RegExp): string | undefined {
  try {
    return pattern.exec(read(`.git/${file}`))?.[0];
  } catch {
    return undefined;
  }
}
