import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { root, run } from './run.ts';

/** What a release is made from. */
export interface Commit {
  readonly hash: string;
  /** When it was committed, in seconds since 1970: the time of everything in the release. */
  readonly seconds: number;
}

/** @throws Error if files that belong to it have been changed since */
export async function findCommit(): Promise<Commit> {
  const changed = await git('status', '--porcelain', '--untracked-files=no');
  if (changed !== '') {
    throw new Error(`A release is made from a commit. Commit or stash first:\n${changed}`);
  }
  const [hash = '', seconds] = (await git('show', '-s', '--format=%H %ct', 'HEAD')).split(' ');
  return { hash, seconds: Number(seconds) };
}

function git(...args: string[]): Promise<string> {
  return run('git', args, { cwd: root });
}

/** Writes the files of a commit to a new folder, where they find the installed packages. */
export async function checkOut({ hash }: Commit, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const archive = path.join(folder, 'commit.tar');
  await git('archive', '--format=tar', `--output=${archive}`, hash);
  await run('tar', ['-xf', archive], { cwd: folder });
  rmSync(archive);
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
}
