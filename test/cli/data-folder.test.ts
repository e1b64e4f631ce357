import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { type RunOptions, run, throwawayFolder } from './process.ts';

const create = ['shops', 'create', '--id', '1', '--name', 'x', '--currency', 'USD'];
const folder = throwawayFolder();
const isRoot = process.getuid?.() === 0;

async function refusal(dataDir: string, options: RunOptions = {}): Promise<string> {
  const env = { RETENTION_DATA_DIR: dataDir };
  const { code, out, err } = await run(create, { ...options, env });
  assert.deepEqual([code, out], [1, '']);
  assert.doesNotMatch(err, /^ {4}at /m);
  return err.replaceAll(folder, '');
}

describe('the folder of the embedded database', { concurrency: 2 }, () => {
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

  test('a folder that may not be written is named', async () => {
    const locked = path.join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(folder, 0o755);
    chmodSync(locked, 0o555);
    // For root nothing is forbidden, so that it has to be somebody else.
    const someone = isRoot ? { uid: 65534 } : {};
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
});
