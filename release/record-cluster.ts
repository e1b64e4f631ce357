/*
 * Runs what examines the service on a Citus cluster, and records the closing lines, without which the commit cannot be
 * released. Needs TEST_CITUS_URL, and Citus on this machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type ClusterRecord, examinations, recordFile, treesOf } from './cluster.ts';
import { findCommit } from './commit.ts';
import { root } from './run.ts';

try {
  if (process.env['TEST_CITUS_URL'] === undefined) throw new Error('TEST_CITUS_URL is not set.');
  const { hash } = await findCommit();
  const closing: Record<string, string> = {};
  for (const name of examinations) closing[name] = await examine(name);
  const record: ClusterRecord = { commit: hash, trees: await treesOf(hash), closing };
  writeFileSync(recordFile, `${JSON.stringify(record, undefined, 2)}\n`);
} catch (error) {
  process.stderr.write(`cluster-record: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

/** @returns the last line, or the counts of tests */
async function examine(name: string): Promise<string> {
  const child = spawn('npm', ['run', '--silent', name], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (part: Buffer) => {
    process.stdout.write(part);
    text += part.toString();
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`npm run ${name} failed.`);
  const counts = text.match(/\b(?:tests|pass|fail|skipped) \d+$/gm);
  return counts?.join(', ') ?? text.trim().split('\n').at(-1) ?? '';
}
