import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { root } from '../cli/process.ts';
import { all, read } from './variables.ts';

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly strategy?: { readonly matrix: { readonly run: readonly string[] } };
  readonly steps: readonly Step[];
}

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
}

const { scripts } = JSON.parse(read('package.json'));
const container = JSON.parse(read('.devcontainer/devcontainer.json'));
const workflows = ['ci', 'release'].map((name) => parse(read(`.github/workflows/${name}.yml`)));
const jobs: Job[] = workflows.flatMap((workflow) => Object.values(workflow.jobs));

test('workflows and the dev container run scripts that exist', () => {
  const commands = [
    ...jobs.flatMap(({ strategy }) => strategy?.matrix.run ?? []),
    ...jobs.flatMap(({ steps }) => steps.flatMap(({ run = '' }) => run)),
    container.postCreateCommand,
  ].join('\n');
  const files = new Set(all(commands, /\bbash (\S+)/g));
  assert.deepEqual([...files], ['.ci/run', '.ci/install']);
  for (const file of files) assert.ok(existsSync(path.join(root, file)), file);
  const named = all(commands, /npm run ([\w:-]+)/g);
  assert.deepEqual([...new Set(named)], ['test:apart', 'release']);
  for (const name of named) assert.ok(name in scripts, name);
  // Its last lines are those of the whole run.
  assert.match(read('.ci/run'), /^bash \.ci\/install\nnpm ci\n(.+\n)+npm test\n$/m);
});

test('only publishing may write or identify itself, after a person’s approval', () => {
  for (const { permissions } of workflows) assert.deepEqual(permissions, { contents: 'read' });
  const mayMore = jobs.filter(({ permissions }) => permissions !== undefined);
  assert.deepEqual(
    mayMore.map(({ permissions, environment }) => [permissions, environment]),
    [[{ contents: 'write', 'id-token': 'write' }, 'release']],
  );
});

test('publishes every package that a release makes', () => {
  const { steps }: Job = workflows[1].jobs.publish;
  const commands = steps.map(({ run = '' }) => run).join('\n');
  assert.match(commands, /for file in \.\/\*\.tgz; do npm publish "\$file" /);
  const python = steps.find(({ uses }) => uses?.startsWith('pypa/gh-action-pypi-publish@'));
  const { 'packages-dir': wheels } = python?.with ?? {};
  assert.ok(commands.includes(`mkdir ${wheels} && cp release/*.whl ${wheels}/\n`));
  assert.match(commands, /gh release create .+ \.\/\*$/m);
});

test('the dev container and CI have the same Debian and Node.js', () => {
  assert.equal(workflows[0].jobs.test.container, container.image);
});
