import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { CommandError } from '../../errors.ts';
import { openEmbedded } from './open.ts';
import { openClient } from '../../../test/support/client.ts';
import { until } from '../../../test/support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'open-test-'));
const pristine = join(folder, 'new', 'pristine');

async function query(socketPath: string, statement: string): Promise<object[]> {
  const sql = openClient(socketPath);
  try {
    return [...(await sql.unsafe(statement))];
  } finally {
    await sql.end();
  }
}

function copyOfPristine(name: string): string {
  const copy = join(folder, name);
  cpSync(pristine, copy, { recursive: true });
  return copy;
}

before(async () => {
  const server = await openEmbedded(pristine, { role: 'command' });
  await query(server.socketPath, 'CREATE TABLE kept (id int)');
  await server.close();
});

after(() => rmSync(folder, { recursive: true }));

test('makes a new folder private; closing leaves only the data and the lock', async () => {
  assert.equal(statSync(pristine).mode & 0o777, 0o700);
  const server = await openEmbedded(pristine, { role: 'serve' });
  assert.equal(server.owned, true);
  assert.deepEqual(server.holder, { pid: process.pid, role: 'serve' });
  assert.equal(statSync(dirname(server.socketPath)).mode & 0o777, 0o700);
  await Promise.all([server.close(), server.close()]);
  assert.equal(existsSync(dirname(server.socketPath)), false);
  assert.equal(existsSync(join(pristine, 'server.json')), false);
});

test('of two concurrent opens, one runs the database and the other joins it', async () => {
  const data = copyOfPristine('shared');
  const opened = await Promise.all([
    openEmbedded(data, { role: 'serve' }),
    openEmbedded(data, { role: 'serve' }),
  ]);
  const owner = opened.find(({ owned }) => owned)!;
  const joined = opened.find(({ owned }) => !owned)!;
  assert.equal(joined.socketPath, owner.socketPath);
  assert.deepEqual(joined.holder, { pid: process.pid, role: 'serve' });

  await query(joined.socketPath, 'INSERT INTO kept VALUES (1)');
  await joined.close();
  assert.deepEqual(await query(owner.socketPath, 'SELECT id FROM kept'), [{ id: 1 }]);
  await owner.close();
});

test('a command waits for clients that joined it before it exits; a server does not', async () => {
  const data = copyOfPristine('guests');
  for (const role of ['command', 'serve']) {
    const owner = await openEmbedded(data, { role });
    const guest = openClient(owner.socketPath);
    await guest`select 1`;
    let isClosed = false;
    const closing = owner.close().then(() => (isClosed = true));
    if (role === 'command') {
      await guest`insert into kept values (9)`;
      assert.equal(isClosed, false);
      await guest.end();
    }
    await closing;
    await guest.end();
  }
});

test('a command says that it waits if other clients are there, and else not', async () => {
  const data = copyOfPristine('waiting');
  let told = 0;
  const open = () => openEmbedded(data, { role: 'command', onWait: () => (told += 1) });
  const owner = await open();
  const guest = openClient(owner.socketPath);
  await guest`select 1`;
  const closed = owner.close();
  await until(() => told === 1);
  await guest.end();
  await closed;

  await (await open()).close();
  assert.equal(told, 1);
});

test('acknowledged writes survive killing the process', async () => {
  const data = copyOfPristine('killed');
  const program = `
    import { openClient } from ${JSON.stringify(import.meta.resolve('../../../test/support/client.ts'))};
    import { openEmbedded } from ${JSON.stringify(new URL('./open.ts', import.meta.url))};
    const server = await openEmbedded(${JSON.stringify(data)}, { role: 'serve' });
    const sql = openClient(server.socketPath);
    for (let id = 0; id < 200; id++) await sql\`INSERT INTO kept VALUES (\${id})\`;
    process.stdout.write(server.socketPath);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout, 'data');
  const joined = await openEmbedded(data, { role: 'command' });
  assert.equal(joined.owned, false);
  assert.deepEqual(joined.holder, { pid: child.pid, role: 'serve' });
  child.kill('SIGKILL');
  await once(child, 'exit');

  const server = await openEmbedded(data, { role: 'serve' });
  assert.equal(server.owned, true);
  assert.equal(existsSync(dirname(String(said))), false);
  const [row] = await query(server.socketPath, 'SELECT count(DISTINCT id)::int AS n FROM kept');
  assert.deepEqual(row, { n: 200 });
  await server.close();
});

test('a server that cannot say where it is does not stay open', async () => {
  const data = copyOfPristine('untold');
  // In the place of the file that says it.
  const program = `
    import { mkdirSync } from 'node:fs';
    import { openEmbedded } from ${JSON.stringify(new URL('./open.ts', import.meta.url))};
    mkdirSync(${JSON.stringify(join(data, 'server.json.'))} + process.pid);
    await openEmbedded(${JSON.stringify(data)}, { role: 'serve' }).catch(({ code }) => {
      process.stdout.write(code);
    });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout, 'data');
  assert.equal(String(said), 'EISDIR');
  const [status] = await once(child, 'exit');
  assert.equal(status, 0);
});

test('an interrupted creation starts over', async () => {
  const data = join(folder, 'interrupted');
  mkdirSync(join(data, 'db'), { recursive: true });
  writeFileSync(join(data, 'db', 'PG_VERSION'), '18\n');
  writeFileSync(join(data, 'db.unfinished'), '');
  const server = await openEmbedded(data, { role: 'serve' });
  assert.deepEqual(await query(server.socketPath, 'SELECT 1 AS one'), [{ one: 1 }]);
  await server.close();
});

async function refusal(data: string): Promise<string> {
  const error: unknown = await openEmbedded(data, { role: 'serve' }).catch((reason) => reason);
  assert.ok(error instanceof CommandError);
  return error.message.replaceAll(folder, '');
}

test('rejects a folder that cannot be opened, with the reason', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  assert.equal(await refusal(file), 'The data folder /file is not a folder.');
  assert.match(await refusal(join(file, 'below')), /^Cannot use the data folder \/file\/below: /);

  const old = join(folder, 'old');
  mkdirSync(join(old, 'db'), { recursive: true });
  assert.match(await refusal(old), /^\/old\/db is not a PostgreSQL database: /);
  writeFileSync(join(old, 'db', 'PG_VERSION'), '16\n');
  const expected = '/old/db was created by PostgreSQL 16; this program needs version 18.';
  assert.equal(await refusal(old), expected);
  // A rejection releases the lock.
  assert.equal(await refusal(old), expected);

  const broken = copyOfPristine('broken');
  writeFileSync(join(broken, 'db', 'global', 'pg_control'), Buffer.alloc(8192));
  assert.match(await refusal(broken), /^Cannot open the database in \/broken: .*FATAL/s);
});

test('connecting waits for its turn, however long another client’s transaction takes', async (t) => {
  const server = await openEmbedded(copyOfPristine('turns'), { role: 'serve' });
  const [one, other] = [openClient(server.socketPath), openClient(server.socketPath)];
  const held = await one.reserve();
  await held`begin`;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const connecting = other<{ one: number }[]>`select 1 as one`.then(([row]) => row?.one);
  let isOver = false;
  connecting.finally(() => (isOver = true)).catch(() => {});
  t.mock.timers.tick(50_000);
  // Anything that the timers triggered has happened by then.
  await held`select 1`;
  assert.equal(isOver, false);
  t.mock.timers.reset();
  await held`rollback`;
  assert.equal(await connecting, 1);
  held.release();
  await Promise.all([one.end(), other.end()]);
  await server.close();
});
