import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { root } from '../cli/process.ts';
import { all, read, withoutComments } from './variables.ts';

/* What comes from outside is named by what it is, since tags can be moved. */

const find = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: (name) => name.startsWith('node_modules') });
const textOf = (files: readonly string[]) => files.map(read).join('\n');

const workflows = find('.github/workflows/*.{yml,yaml}', '.github/actions/**/*.{yml,yaml}');
const dockerfiles = find('**/Dockerfile*', '**/*.Dockerfile');
const others = find('compose*.yaml', 'deploy/**/*.yaml', '.devcontainer/*.json', '.env.example');

test('workflows name actions by commit, and say its version', () => {
  const used = all(textOf(workflows), /\buses: *(.+)$/gm);
  assert.ok(used.length >= 8, String(used.length));
  assert.deepEqual(
    used.filter((each) => !/^[\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(each)),
    [],
  );
  // One version of each.
  assert.equal(new Set(used).size, new Set(used.map((each) => each.split('@')[0])).size);
});

test('images are named by digest, and a tag has one digest everywhere', () => {
  const stages = all(withoutComments(textOf(dockerfiles)), /^FROM (\S+)/gm);
  assert.deepEqual(new Set(stages), new Set(['${NODE_IMAGE}']));
  const images = [
    ...all(textOf(dockerfiles), /^ARG NODE_IMAGE=(.+)$/gm),
    ...all(withoutComments(textOf(workflows)), /\b(?:container|image): *(\S+)$/gm),
    ...all(withoutComments(textOf(others)), /\b_?image"?: *"?([^",\s]+)/gm),
    ...all(textOf(others), /^\w+_IMAGE=(.*)$/gm),
  ].map((each) => each.replace(/^\$\{\w+_IMAGE:-(.+)\}$/, '$1'));
  // The service's own, which is built here.
  const foreign = images.filter((each) => each !== 'retention');
  assert.ok(foreign.length >= 9, String(foreign.length));
  assert.deepEqual(
    foreign.filter((each) => !/^[a-z/]+:\d[\w.-]+@sha256:[0-9a-f]{64}$/.test(each)),
    [],
  );
  const tags = new Set(foreign.map((each) => each.split('@')[0]));
  assert.equal(new Set(foreign).size, tags.size, [...new Set(foreign)].join('\n'));
});

test('the image has a Node.js of the range that the service runs on', () => {
  const [minor, ...more] = all(
    read('Dockerfile'),
    /^ARG NODE_IMAGE=node:26\.(\d+)\.\d+-slim@/gm,
  ).map(Number);
  assert.deepEqual(more, []);
  assert.ok(minor !== undefined && minor >= 10, String(minor));
});
