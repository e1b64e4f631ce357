import { readFileSync } from 'node:fs';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('package.json')) as { version: string; gitHead?: string };

/** The version of this service, from package.json. */
export const { version } = manifest;

/** What it was built from: a release names its commit in package.json, and a checkout has it in .git. */
export const commit = manifest.gitHead ?? checkedOut() ?? 'unknown';

function checkedOut(): string | undefined {
  try {
    const head = read('.git/HEAD').trim();
    const [, branch] = /^ref: (.+)$/.exec(head) ?? [];
    return branch === undefined ? head : read(`.git/${branch}`).trim();
  } catch {
    // Not a checkout, or one that keeps its branches elsewhere.
    return undefined;
  }
}
