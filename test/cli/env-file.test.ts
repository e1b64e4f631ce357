import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { executable, run, runProcess, throwawayFolder } from './process.ts';

const isRoot = process.getuid?.() === 0;
/** Root may read any file, so run as another user. */
const someone = isRoot ? { uid: 65534 } : {};

/** Doctor shows the configuration without opening a database first. */
const down = { DATABASE_URL: 'postgres://user@127.0.0.1:1/x' };

/** A folder with this `.env`, and the configuration that doctor shows there. */
function prepare(content: string) {
  const cwd = throwawayFolder();
  writeFileSync(path.join(cwd, '.env'), content);
  return {
    cwd,
    async configuration(env: Readonly<Record<string, string>> = {}) {
      const { out, err } = await run(['doctor', '--json'], { cwd, env: { ...down, ...env } });
      assert.equal(err, '');
      return JSON.parse(out).configuration;
    },
  };
}

describe('.env in the current folder', { concurrency: 2 }, () => {
  test('sets only variables that are not set, and does not override empty ones', async () => {
    const fixture = prepare(
      [
        '# How it runs here',
        'RETENTION_DATA_DIR="of the\r\nfile"',
        "export BASE_URL='https://file.example' # the public one",
        '',
        'PORT = 9000',
        'LOG_LEVEL=error',
        'METRICS_HOST=10.0.0.7',
      ].join('\r\n'),
    );
    const configuration = await fixture.configuration({ PORT: '9001', LOG_LEVEL: '' });
    assert.equal(configuration.dataDir, 'of the\nfile');
    assert.equal(configuration.baseUrl, 'https://file.example');
    assert.equal(configuration.port, 9001);
    assert.equal(configuration.logLevel, 'info');
    assert.equal(configuration.metricsHost, '10.0.0.7');
  });

  const malformed: [what: string, content: string, lines: string][] = [
    ['a line without =', 'PORT=1\nsesame\n', '.env:2'],
    ['several malformed lines', 'A="x\ny"\n= sesame\nB=2\n7up=sesame\n', '.env:3, .env:5'],
    ['an unclosed quote', 'PORT=1\n\nPASSWORD="sesame\n', '.env:3'],
    ['a byte order mark', '\uFEFFPASSWORD=sesame', '.env:1'],
  ];
  for (const [what, content, lines] of malformed) {
    test(`reports ${what} by line number, without showing the text`, async () => {
      const { cwd } = prepare(content);
      const { code, out, err } = await run(['doctor'], { cwd });
      assert.deepEqual([code, out], [2, '']);
      assert.equal(err, `retention: ${lines}: not NAME=value, NAME="value" or a # comment.\n`);
    });
  }

  test('does not stop help and --version if it is malformed', async () => {
    const { cwd } = prepare('sesame');
    for (const args of [['help'], ['serve', '--help'], ['--version']]) {
      assert.equal((await run(args, { cwd })).code, 0, args.join(' '));
    }
  });

  test('is reported if it cannot be read', async () => {
    const { cwd } = prepare('PORT=1');
    chmodSync(cwd, 0o755);
    chmodSync(path.join(cwd, '.env'), 0o200);
    const { code, out, err } = await runProcess(['doctor'], { cwd, ...someone });
    assert.deepEqual([code, out], [2, '']);
    assert.match(
      err,
      /^retention: \.env in the current folder cannot be read: EACCES.*\. Make it readable, or remove it\.\n$/,
    );

    for (const [kind, make] of [
      ['folder', (name: string) => mkdirSync(name)],
      // Reading it would wait for a writer.
      ['pipe', (name: string) => execFileSync('mkfifo', [name])],
    ] as const) {
      const folder = throwawayFolder();
      make(path.join(folder, '.env'));
      assert.deepEqual(await run(['doctor'], { cwd: folder }), {
        code: 2,
        out: '',
        err: `retention: .env in the current folder is a ${kind}, not a file. Rename it, or run the command in another folder.\n`,
      });
    }
  });

  test('counts as absent in a folder without search permission', async () => {
    const cwd = throwawayFolder();
    if (isRoot) chownSync(cwd, 65534, 65534);
    // chmod from within: no process can be started in such a folder.
    const through = ['sh', '-c', 'chmod 600 . && exec "$0" "$@"', executable] as const;
    const { code, err } = await runProcess(['doctor'], { cwd, env: down, through, ...someone });
    assert.deepEqual([code, err], [1, '']);
  });
});
