/* The manifests against Kubernetes' own schemas. Needs kubectl, and a registry, as npm ci does. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { root } from '../test/cli/process.ts';

const execute = promisify(execFile);
const isMissing = (program: string, ...args: string[]) =>
  spawnSync(program, args).error !== undefined && `${program} is not available on this machine`;
const overlay = path.join(root, 'deploy/kubernetes/overlays/example');

describe('the manifests', { skip: isMissing('kubectl', 'version', '--client') }, () => {
  let folder: string;
  let file: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'retention-kubernetes-'));
    file = path.join(folder, 'all.yaml');
    await writeFile(file, (await execute('kubectl', ['kustomize', overlay])).stdout);
    await writeFile(path.join(folder, 'package.json'), '{ "private": true }');
    await execute('npm', ['install', '--no-audit', '--no-fund', 'kubernetes-models@4.5.1'], {
      cwd: folder,
    });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('are valid by the schemas of their kinds', async () => {
    const load = createRequire(file);
    const objects = parseAllDocuments(await readFile(file, 'utf8')).map((each) => each.toJS());
    assert.equal(objects.length, 11);
    for (const object of objects) {
      const { [object.kind]: Model } = load(
        `kubernetes-models/${object.apiVersion}/${object.kind}`,
      );
      new Model(object).validate();
    }
  });

  test('are valid by kubeconform', { skip: isMissing('kubeconform', '-v') }, async () => {
    await execute('kubeconform', ['-strict', '-summary', file]);
  });
});
