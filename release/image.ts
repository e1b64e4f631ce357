import path from 'node:path';
import type { Commit } from './commit.ts';
import { type Outcome, canRun, run } from './run.ts';
import type { Manifest } from './server.ts';

const builders = ['docker', 'podman'];

/** Builds the image, and saves it as a file that "docker load" reads. */
export async function saveImage(
  folder: string,
  output: string,
  { version }: Manifest,
  { hash, seconds }: Commit,
): Promise<Outcome> {
  const usable = await Promise.all(builders.map((each) => canRun(each, ['info'])));
  const program = builders.find((_, index) => usable[index]);
  if (program === undefined) {
    return { leftOut: `the image: neither ${builders.join(' nor ')} can build here` };
  }
  const tag = `retention:${version}`;
  const labels = { version, revision: hash };
  const args = [
    ...Object.entries(labels).flatMap(([name, value]) => [
      '--label',
      `org.opencontainers.image.${name}=${value}`,
    ]),
    // The folder has no .git to read the commit from.
    '--build-arg',
    `COMMIT=${hash}`,
  ];
  const env = { SOURCE_DATE_EPOCH: String(seconds) };
  await run(program, ['build', '--tag', tag, ...args, '.'], { cwd: folder, env });
  const file = `retention-${version}-image.tar`;
  await run(program, ['save', '--output', path.join(output, file), tag], { cwd: folder });
  return { file };
}
