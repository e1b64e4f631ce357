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
import { type RunOptions, executable, launchServer, run, throwawayFolder } from './process.ts';

const create = ['shops', 'create', '--id', '1', '--name', 'x', '--currency', 'USD'];
const folder = throwawayFolder();
const pristine = path.join(folder, 'pristine');
const isRoot = process.getuid?.() === 0;

const nobody = 65534;
/** Everybody may read and write whatever a process creates without saying otherwise. */
const openUmask = ['sh', '-c', 'umask 000; exec "$0" "$@"', executable] as const;

const modeOf = (file: string) => (statSync(file).mode & 0o7777).toString(8);

/** What is open to other users in a folder, the folder itself included, by its relative path. */
function listOpen(data: string): string[] {
  return (
    ['.', ...globSync('**', { cwd: data })]
      // The embedded PostgreSQL writes this cache anew while it runs, and gives it its mode itself.
      .filter((name) => path.basename(name) !== 'pg_internal.init')
      .filter((name) => (lstatSync(path.join(data, name)).mode & 0o077) !== 0)
  );
}

/** A folder with a database in which shop 1 is. */
function copyOfPristine(name: string): string {
  const copy = path.join(folder, name);
  cpSync(pristine, copy, { recursive: true });
  chmodSync(copy, 0o700);
  return copy;
}

/** Opens a folder and all that it has to every user, as folders of the version before were. */
function openToAll(data: string): void {
  for (const name of ['.', ...globSync('**', { cwd: data })]) {
    const file = path.join(data, name);
    chmodSync(file, statSync(file).isDirectory() ? 0o777 : 0o666);
  }
}

async function refusal(dataDir: string, options: RunOptions = {}): Promise<string> {
  const env = { RETENTION_DATA_DIR: dataDir };
  const { code, out, err } = await run(create, { ...options, env });
  assert.deepEqual([code, out], [1, '']);
  assert.doesNotMatch(err, /^ {4}at /m);
  return err.replaceAll(folder, '');
}

describe('the folder of the embedded database', { concurrency: 2 }, () => {
  before(async () => {
    const { code, err } = await run(create, { env: { RETENTION_DATA_DIR: pristine } });
    assert.deepEqual([code, err], [0, '']);
  });

  test('by default it is .retention where one stands, made for this user only', async () => {
    const cwd = path.join(folder, 'here');
    mkdirSync(cwd);
    const created = await run(create, { cwd });
    assert.deepEqual([created.code, created.err], [0, '']);
    const data = path.join(cwd, '.retention');
    assert.equal(statSync(data).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(data).toSorted(), ['db', 'lock']);

    const listed = await run(['shops', 'list'], { env: { RETENTION_DATA_DIR: data } });
    assert.match(listed.out, /^1 +x +growth +USD /m);
    const doctor = await run(['doctor', '--json'], { cwd });
    assert.equal(doctor.code, 0, doctor.out);
    assert.equal(JSON.parse(doctor.out).configuration.dataDir, '.retention');
  });

  test('a file is not a folder', async () => {
    writeFileSync(path.join(folder, 'file'), '');
    const says = 'retention: The data folder /file is not a folder.\n';
    assert.equal(await refusal(path.join(folder, 'file')), says);
    const below = await refusal(path.join(folder, 'file', 'below'));
    assert.match(below, /^retention: Cannot use the data folder \/file\/below: .*ENOTDIR/);
  });

  test('a place that takes no folder is named', async () => {
    for (const data of ['/proc/retention', '/proc/retention/data']) {
      assert.match(await refusal(data), /^retention: Cannot use the data folder \/proc\/retention/);
    }
  });

  test('a folder that may not be written is named', async () => {
    const locked = path.join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(folder, 0o755);
    // For root nothing is forbidden, so that it has to be somebody else.
    const someone = isRoot ? { uid: nobody } : {};
    if (isRoot) chownSync(locked, nobody, nobody);
    chmodSync(locked, 0o555);
    const says = /^retention: Cannot use the data folder \/locked(\/new)?: .*EACCES/;
    assert.match(await refusal(locked, someone), says);
    assert.match(await refusal(path.join(locked, 'new'), someone), says);
  });

  test('a folder of something else is left as it is', async () => {
    const other = path.join(folder, 'other');
    mkdirSync(path.join(other, 'db'), { recursive: true });
    writeFileSync(path.join(other, 'db', 'precious'), 'mine');
    const says = /^retention: \/other\/db is not a PostgreSQL database: /;
    assert.match(await refusal(other), says);
    assert.equal(existsSync(path.join(other, 'db', 'precious')), true);
  });

  test('an empty one is closed to other users, and so is what is made in it, whatever the umask', async () => {
    const data = path.join(folder, 'empty');
    mkdirSync(data);
    chmodSync(data, 0o755);
    const { code, err } = await run(create, {
      through: openUmask,
      env: { RETENTION_DATA_DIR: data },
    });
    assert.deepEqual([code, err], [0, '']);
    assert.deepEqual(listOpen(data), []);
  });

  test('one of the version before, open to everybody, is closed at the start, through a link too', async () => {
    const data = copyOfPristine('upgraded');
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

  test('a folder used for something else is refused, and its mode is left alone', async () => {
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

  test('one with a database and other things is used only if it is closed already', async () => {
    const data = copyOfPristine('mixed');
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

  test('what leads out of it, or belongs to another user, is refused and left alone', async () => {
    const data = copyOfPristine('planted');
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
    'one of another user is refused, for root too',
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

      const mine = copyOfPristine('mine');
      chownSync(path.join(mine, 'db', 'PG_VERSION'), nobody, nobody);
      assert.match(await refusal(mine), /^retention: \/mine\/db\/PG_VERSION belongs to user 65534/);
    },
  );
});
