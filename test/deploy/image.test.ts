import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { allGuides } from '../../src/docs/guides.ts';
import { launchServer, migratedFolder, root, runProcess, throwawayFolder } from '../cli/process.ts';
import { all, known, read, withoutComments } from './variables.ts';

/** Checks the Dockerfile against the sources, since test machines may not have Docker. */
const dockerfile = withoutComments(read('Dockerfile'));

/** The paths in Docker's build context: .dockerignore excludes everything else. */
const admitted = all(read('.dockerignore'), /^!(.+)$/gm);

describe('the image', () => {
  test('gets exactly the files that .dockerignore admits', () => {
    const copied = all(dockerfile, /^COPY (?!--from)(.+) \S+$/gm).flatMap((paths) =>
      paths.split(' '),
    );
    assert.ok(copied.includes('.'));
    const needed = copied.filter((each) => each !== '.');
    assert.deepEqual(
      needed.filter((each) => !admitted.includes(each)),
      [],
    );
    assert.deepEqual(
      admitted.filter((each) => !each.startsWith('.git/') && !existsSync(path.join(root, each))),
      [],
    );
    assert.match(read('.dockerignore'), /^\*$/m);
  });

  test('says the commit that it was built from', async () => {
    const checkout = throwawayFolder();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x.example', ...args], {
        cwd: checkout,
        encoding: 'utf8',
      }).trim();
    git('init', '--quiet', '--initial-branch=next/one');
    git('commit', '--quiet', '--allow-empty', '--message=One');
    git('branch', 'next/one-more');
    git('commit', '--quiet', '--allow-empty', '--message=Two');
    for (const each of ['bin', 'package.json', 'src']) {
      cpSync(path.join(root, each), path.join(checkout, each), { recursive: true });
    }
    const [command = ''] = all(dockerfile, /^ARG COMMIT\nRUN (.+)$/gm);
    const build = async (commit: string) => {
      const image = throwawayFolder();
      for (const each of admitted.filter((name) => existsSync(path.join(checkout, name)))) {
        cpSync(path.join(checkout, each), path.join(image, each), { recursive: true });
      }
      symlinkSync(path.join(root, 'node_modules'), path.join(image, 'node_modules'));
      execFileSync('sh', ['-c', command], { cwd: image, env: { COMMIT: commit } });
      const { out } = await runProcess(['--version'], {
        through: [path.join(image, 'bin/retention')],
      });
      return /\((\w+)\)/.exec(out)?.[1];
    };
    const head = git('rev-parse', 'HEAD');
    assert.equal(await build(''), head);
    assert.equal(await build('c0ffee'), 'c0ffee');
    git('pack-refs', '--all');
    assert.equal(await build(''), head);
    git('checkout', '--quiet', 'HEAD~1');
    assert.equal(await build(''), git('rev-parse', 'HEAD'));
    rmSync(path.join(checkout, '.git'), { recursive: true });
    assert.equal(await build(''), 'unknown');
  });

  test('has every file that the sources refer to by a relative URL, and every guide', () => {
    const outside = globSync('src/**/*.ts', { cwd: root })
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) =>
        all(read(file), /new URL\('([^']+)', import\.meta/g).map((target) =>
          path.posix.join(path.posix.dirname(file), target),
        ),
      );
    assert.ok(outside.length >= 3);
    assert.deepEqual(
      [...outside, ...allGuides.map(({ file }) => file)].filter(
        (file) => !admitted.some((each) => file.split('/')[0] === each),
      ),
      [],
    );
  });

  test('sets only known variables, runs as an unprivileged user, and stops with SIGTERM', () => {
    const set = all(dockerfile, /^ENV (.+)$/gm).flatMap((line) => all(line, /(\w+)=/g));
    assert.ok(set.length > 0);
    assert.deepEqual(
      set.filter((name) => !known.has(name)),
      [],
    );
    assert.match(dockerfile, /^USER 1000$/m);
    assert.match(dockerfile, /^STOPSIGNAL SIGTERM$/m);
    assert.match(dockerfile, /^ENTRYPOINT \["retention"\]\nCMD \["serve"\]$/m);
  });

  test('is healthy only while the service answers', async () => {
    const [check = ''] = all(dockerfile, /^HEALTHCHECK .*\\\n +CMD (\[.*\])$/gm);
    const [program, ...args] = JSON.parse(check);
    assert.equal(program, 'node');
    const [health = ''] = all(args[1], /PORT\}(\/\w+)/g);
    assert.match(read('src/status.ts'), new RegExp(`url: '${health}'`));
    const statusAt = async (port: string) =>
      (await runProcess(args, { through: [process.execPath], env: { PORT: port } })).code;
    assert.equal(await statusAt('1'), 1);

    const { baseUrl, child, ended } = await launchServer('serve', {
      RETENTION_DATA_DIR: migratedFolder(),
      LOG_LEVEL: 'silent',
    });
    assert.equal(await statusAt(new URL(baseUrl).port), 0);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  });
});
