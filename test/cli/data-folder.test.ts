import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { prepareFolder } from '../../src/store/embedded/folder.ts';
import {
  type RunOptions,
  executable,
  launchServer,
  migratedFolder,
  run,
  runProcess,
  throwawayFolder,
} from './process.ts';

const create = ['shops', 'create', '--id', '1', '--name', 'x', '--currency', 'USD'];
const folder = throwawayFolder();
const pristine = path.join(folder, 'pristine');
const isRoot = process.getuid?.() === 0;

const nobody = 65534;
/** Under this umask, files are open to every user unless created with a stricter mode. */
const openUmask = ['sh', '-c', 'umask 000; exec "$0" "$@"', executable] as const;

const modeOf = (file: string) => (statSync(file).mode & 0o7777).toString(8);

/** Relative paths of what other users can access in a folder, the folder itself included. */
function listOpen(data: string): string[] {
  return (
    ['.', ...globSync('**', { cwd: data })]
      // The embedded PostgreSQL rewrites this cache while it runs, and sets its mode itself.
      .filter((name) => path.basename(name) !== 'pg_internal.init')
      .filter((name) => (lstatSync(path.join(data, name)).mode & 0o077) !== 0)
  );
}

/** A data folder whose database contains shop 1. */
function copyPristine(name: string): string {
  const copy = path.join(folder, name);
  cpSync(pristine, copy, { recursive: true });
  chmodSync(copy, 0o700);
  return copy;
}

/** Opens a folder and its contents to every user, as the previous version left them. */
function openToAll(data: string): void {
  for (const name of ['.', ...globSync('**', { cwd: data })]) {
    const file = path.join(data, name);
    chmodSync(file, statSync(file).isDirectory() ? 0o777 : 0o666);
  }
}

async function refusal(dataDir: string, options: RunOptions = {}): Promise<string> {
  const env = { RETENTION_DATA_DIR: dataDir };
  // Only a process of its own can belong to another user.
  const { code, out, err } = await (options.uid === undefined ? run : runProcess)(create, {
    ...options,
    env,
  });
  assert.deepEqual([code, out], [1, '']);
  assert.doesNotMatch(err, /^ {4}at /m);
  return err.replaceAll(folder, '');
}

describe('the data folder', { concurrency: 2 }, () => {
  before(async () => {
    // Creating one takes seconds.
    cpSync(migratedFolder(), pristine, { recursive: true });
    const { code, err } = await run(create, { env: { RETENTION_DATA_DIR: pristine } });
    assert.deepEqual([code, err], [0, '']);
  });

  test('is .retention in the current folder by default, closed to other users with every new file, under any umask', async () => {
    const cwd = path.join(folder, 'here');
    mkdirSync(cwd);
    const { code, err } = await runProcess(create, { through: openUmask, cwd });
    assert.deepEqual([code, err], [0, '']);
    const data = path.join(cwd, '.retention');
    assert.equal(modeOf(data), '700');
    assert.deepEqual(listOpen(data), []);
    assert.deepEqual(readdirSync(data).toSorted(), ['db', 'lock']);

    const listed = await run(['shops', 'list'], { env: { RETENTION_DATA_DIR: data } });
    assert.match(listed.out, /^1 +x +growth +USD /m);
    const doctor = await run(['doctor', '--json'], { cwd });
    assert.equal(doctor.code, 0, doctor.out);
    assert.equal(JSON.parse(doctor.out).configuration.dataDir, '.retention');
  });

  test('cannot be a file, or below a file', async () => {
    writeFileSync(path.join(folder, 'file'), '');
    const says = 'retention: The data folder /file is not a folder.\n';
    assert.equal(await refusal(path.join(folder, 'file')), says);
    const below = await refusal(path.join(folder, 'file', 'below'));
    assert.match(below, /^retention: Cannot use the data folder \/file\/below: .*ENOTDIR/);
  });

  test('is named if it cannot be created', async () => {
    for (const data of ['/proc/retention', '/proc/retention/data']) {
      assert.match(await refusal(data), /^retention: Cannot use the data folder \/proc\/retention/);
    }
  });

  test('is named if it is not writable', async () => {
    const locked = path.join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(folder, 0o755);
    // Root may write anywhere, so run as another user.
    const someone = isRoot ? { uid: nobody } : {};
    if (isRoot) chownSync(locked, nobody, nobody);
    chmodSync(locked, 0o555);
    const says = /^retention: Cannot use the data folder \/locked(\/new)?: .*EACCES/;
    assert.match(await refusal(locked, someone), says);
    assert.match(await refusal(path.join(locked, 'new'), someone), says);
  });

  test('is left unchanged if its db folder is not a PostgreSQL database', async () => {
    const other = path.join(folder, 'other');
    mkdirSync(path.join(other, 'db'), { recursive: true });
    writeFileSync(path.join(other, 'db', 'precious'), 'mine');
    const says = /^retention: \/other\/db is not a PostgreSQL database: /;
    assert.match(await refusal(other), says);
    assert.equal(existsSync(path.join(other, 'db', 'precious')), true);
  });

  test('is closed to other users if it was empty', () => {
    const data = path.join(folder, 'empty');
    mkdirSync(data);
    chmodSync(data, 0o755);
    prepareFolder(data);
    assert.equal(modeOf(data), '700');
  });

  test('is closed on startup if an older version left it open, also through a link', async () => {
    const data = copyPristine('upgraded');
    const link = path.join(folder, 'link');
    openToAll(data);
    symlinkSync(data, link);

    const { child, ended } = await launchServer('serve', {
      RETENTION_DATA_DIR: link,
      LOG_LEVEL: 'silent',
    });
    assert.deepEqual(listOpen(data), []);
    const record = JSON.parse(readFileSync(path.join(data, 'server.json'), 'utf8'));
    assert.equal(modeOf(path.dirname(record.socketPath)), '700');
    const listed = await run(['shops', 'list'], { env: { RETENTION_DATA_DIR: data } });
    assert.match(listed.out, /^1 +x +growth +USD /m);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  });

  test('is refused, with its mode unchanged, if it is used for something else', async () => {
    const home = path.join(folder, 'home');
    mkdirSync(path.join(home, 'photos'), { recursive: true });
    writeFileSync(path.join(home, '.profile'), '');
    chmodSync(home, 0o755);
    assert.equal(
      await refusal(home),
      'retention: The data folder /home has no database but is not empty: it contains ".profile" and "photos". Set RETENTION_DATA_DIR to a new or empty folder.\n',
    );
    assert.equal(modeOf(home), '755');
    assert.deepEqual(readdirSync(home).toSorted(), ['.profile', 'photos']);

    const shared = path.join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    assert.match(await refusal(shared), /\/shared is shared by all users \(mode 1777\)\. Set /);
    assert.equal(modeOf(shared), '1777');
    assert.deepEqual(readdirSync(shared), []);
  });

  test('may contain other files only if it is already closed to other users', async () => {
    const data = copyPristine('mixed');
    writeFileSync(path.join(data, 'notes'), '');
    chmodSync(path.join(data, 'notes'), 0o644);
    chmodSync(data, 0o750);
    assert.equal(
      await refusal(data),
      'retention: The data folder /mixed is open to other users (mode 0750). It also contains "notes", so its mode was not changed. Move those elsewhere, or run: chmod 700 /mixed\n',
    );
    assert.equal(modeOf(data), '750');
    chmodSync(data, 0o700);
    const listed = await run(['shops', 'list'], { env: { RETENTION_DATA_DIR: data } });
    assert.equal(listed.code, 0, listed.err);
    assert.equal(modeOf(path.join(data, 'notes')), '644');
  });

  test('is refused if it contains symbolic links, whose targets are left unchanged', async () => {
    const data = copyPristine('planted');
    const victim = path.join(folder, 'victim');
    writeFileSync(victim, '');
    chmodSync(victim, 0o644);
    for (const name of ['server.json', path.join('db', 'base', 'planted')]) {
      symlinkSync(victim, path.join(data, name));
      const says = new RegExp(
        `^retention: /planted/${name} is neither a file nor a folder\\. The data folder must contain its files directly`,
      );
      assert.match(await refusal(data), says);
      unlinkSync(path.join(data, name));
    }
    assert.equal(modeOf(victim), '644');
  });

  test(
    'is refused, even for root, if it or one of its files belongs to another user',
    { skip: isRoot ? false : 'needs root' },
    async () => {
      const data = path.join(folder, 'theirs');
      mkdirSync(data, { mode: 0o755 });
      chownSync(data, nobody, nobody);
      assert.equal(
        await refusal(data),
        'retention: /theirs belongs to user 65534, but this process runs as user 0. Run it as user 65534, change the owner (chown -R 0), or set RETENTION_DATA_DIR to another folder.\n',
      );
      assert.deepEqual([modeOf(data), readdirSync(data)], ['755', []]);

      const mine = copyPristine('mine');
      chownSync(path.join(mine, 'db', 'PG_VERSION'), nobody, nobody);
      assert.match(await refusal(mine), /^retention: \/mine\/db\/PG_VERSION belongs to user 65534/);
    },
  );
});
