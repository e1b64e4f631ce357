import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root, run } from './run.ts';

/** What decides how the service behaves on a cluster. */
const examined = ['migrations', 'src/store'];
/** What examines that. */
export const examinations = ['test:citus', 'cluster'];

/** Written by `npm run cluster-record`. */
export interface ClusterRecord {
  readonly commit: string;
  /** Git's ids of the examined folders in that commit. */
  readonly trees: Readonly<Record<string, string>>;
  /** The closing line of each examination. */
  readonly closing: Readonly<Record<string, string>>;
}

export const recordFile = path.join(root, 'release', 'cluster-record.json');

export async function treesOf(commit: string, folder = root): Promise<Record<string, string>> {
  const of = (tree: string) => run('git', ['rev-parse', `${commit}:${tree}`], { cwd: folder });
  return Object.fromEntries(
    await Promise.all(examined.map(async (tree) => [tree, (await of(tree)).trim()] as const)),
  );
}

/** Whether a closing line counts something, and neither failures nor skipped tests. */
const isPassed = (line = '') => /[1-9]/.test(line) && !/\b(?:fail|skipped) [1-9]/.test(line);

/** Why a commit has not been examined on a cluster, one sentence each. */
export async function listClusterProblems(
  commit: string,
  { folder = root, file = recordFile } = {},
): Promise<string[]> {
  const { trees, closing, ...record }: ClusterRecord = JSON.parse(readFileSync(file, 'utf8'));
  const changed = Object.entries(await treesOf(commit, folder))
    .filter(([tree, id]) => trees[tree] !== id)
    .map(([tree]) => `${tree} has changed since it was examined on a cluster (${record.commit}).`);
  const missing = examinations
    .filter((each) => !isPassed(closing[each]))
    .map((each) => `npm run ${each} was not run whole: ${closing[each] ?? 'no closing line'}.`);
  const problems = [...changed, ...missing];
  return problems.length === 0
    ? []
    : [...problems, 'Run "npm run cluster-record", which needs Citus, and commit what it writes.'];
}
