/* Makes the files of a release from the commit that is checked out. The same commit gives the same bytes. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { listClusterProblems } from './cluster.ts';
import { packClients, requirePython } from './clients.ts';
import { checkOut, findCommit } from './commit.ts';
import { saveImage } from './image.ts';
import { listNodeProblems } from './node.ts';
import { notesOf } from './notes.ts';
import { type Outcome, root } from './run.ts';
import { writeSbom } from './sbom.ts';
import { packServer, prepareServer, readManifest } from './server.ts';

const options = {
  output: { type: 'string' },
  'no-image': { type: 'boolean' },
  'no-python': { type: 'boolean' },
} as const;

// Packages keep the permissions of files.
process.umask(0o022);
const say = (text: string) => process.stdout.write(`${text}\n`);
const work = mkdtempSync(path.join(tmpdir(), 'retention-release-'));
try {
  await release();
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true });
}

async function release(): Promise<void> {
  const { values } = parseArgs({ options });
  if (values.output !== undefined && existsSync(values.output)) {
    throw new Error(`${values.output} exists already. Name a folder that does not.`);
  }
  const withPython = !values['no-python'];
  if (withPython) await requirePython();
  const commit = await findCommit();
  const problems = [...(await listNodeProblems(root)), ...(await listClusterProblems(commit.hash))];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const { version } = readManifest(root);
  const notes = notesOf(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), version);
  const output = path.resolve(values.output ?? path.join(root, 'dist', version));
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  say(`Release ${version} of commit ${commit.hash} in ${output}`);

  const server = path.join(work, 'server');
  await checkOut(commit, server);
  const manifest = prepareServer(server, commit);
  report('the server', { file: await packServer(server, output) });
  report('its parts', { file: await writeSbom(server, output, manifest, commit) });

  const sources = path.join(work, 'sources');
  await checkOut(commit, sources);
  for (const outcome of await packClients(sources, output, commit, { withPython })) {
    report('a client', outcome);
  }

  writeFileSync(path.join(output, 'RELEASE_NOTES.md'), notes);
  report('what is new', { file: 'RELEASE_NOTES.md' });

  const image: Outcome = values['no-image']
    ? { leftOut: 'the image: --no-image' }
    : await saveImage(sources, output, manifest, commit);
  report('the image', image);

  const sums = readdirSync(output)
    .toSorted()
    .map((file) => `${sha256(path.join(output, file))}  ${file}\n`);
  writeFileSync(path.join(output, 'SHA256SUMS'), sums.join(''));
  report('checksums of all', { file: 'SHA256SUMS' });
}

function report(what: string, outcome: Outcome): void {
  say(
    'file' in outcome ? `  ${what.padEnd(17)} ${outcome.file}` : `  LEFT OUT: ${outcome.leftOut}`,
  );
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
