import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';

import type { PGlite } from '@electric-sql/pglite';

import { openClient } from '../../../test/support/client.ts';
import { CommandError } from '../../errors.ts';
import { type Sql, connect } from '../database.ts';
import { findShortage } from './folder.ts';
import { Multiplexer } from './multiplexer.ts';
import { openEmbedded } from './open.ts';
import { openDatabase, sessionOf } from './session.ts';
import { errorMessage, explainRefusals, queryMessage } from './wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'disk-space-test-'));
const reason = 'The disk is almost full.';
const isRefused = { code: '53100', message: reason };

let database: PGlite;
let multiplexer: Multiplexer;
let server: Server;
let writer: Sql;
let reader: Sql;
let shortage: string | undefined;

before(async () => {
  for (const name of ['data', 'opened']) {
    cpSync(process.env['TEST_EMBEDDED_FOLDER'] as string, join(folder, name), { recursive: true });
  }
  database = await openDatabase(join(folder, 'data'), () => {}, assert.fail);
  multiplexer = new Multiplexer(sessionOf(database), {
    serverVersion: '18',
    findShortage: () => shortage,
    onFailure: assert.fail,
  });
  server = createServer({ allowHalfOpen: true }, (socket) => multiplexer.serve(socket));
  const path = join(folder, '.s.PGSQL.5432');
  server.listen(path);
  await once(server, 'listening');
  writer = openClient(path);
  reader = connect(path, {
    name: 'test',
    connections: 1,
    readOnly: true,
    statementTimeoutMilliseconds: 0,
  });
  await writer`create table kept (id int)`;
});

beforeEach(async () => {
  shortage = undefined;
  await writer`truncate kept`;
});

after(async () => {
  await Promise.all([writer.end(), reader.end()]);
  await multiplexer.stop();
  server.close();
  await database.close();
  rmSync(folder, { recursive: true });
});

const listKept = async () => (await writer`select id from kept order by id`).map(({ id }) => id);

test('a full disk fails writes with the reason, but not reads; freeing space ends that', async () => {
  await writer`insert into kept values (1)`;
  shortage = reason;
  await assert.rejects(Promise.resolve(writer`insert into kept values (${2})`), isRefused);
  await assert.rejects(writer.unsafe('update kept set id = 3'), isRefused);
  await assert.rejects(
    writer.begin((sql) => sql`select from kept for update`),
    isRefused,
  );
  assert.deepEqual(await listKept(), [1]);
  assert.deepEqual([...(await reader`select id from kept`)], [{ id: 1 }]);

  shortage = undefined;
  await writer`insert into kept values (2)`;
  assert.deepEqual(await listKept(), [1, 2]);
});

test('a transaction that runs out of space keeps its writes but cannot write more', async () => {
  await writer.begin(async (sql) => {
    await sql`insert into kept values (1)`;
    shortage = reason;
    assert.deepEqual([...(await sql`select id from kept`)], [{ id: 1 }]);
  });
  shortage = undefined;
  await assert.rejects(
    writer.begin(async (sql) => {
      await sql`insert into kept values (2)`;
      shortage = reason;
      await sql`insert into kept values (3)`;
    }),
    isRefused,
  );
  assert.deepEqual(await listKept(), [1]);
});

test('a transaction stays read-only when space returns, and reports why', async () => {
  await assert.rejects(
    writer.begin(async (sql) => {
      shortage = reason;
      await sql`select`;
      shortage = undefined;
      await sql`insert into kept values (1)`;
    }),
    isRefused,
  );
  await writer`insert into kept values (2)`;
  assert.deepEqual(await listKept(), [2]);
});

test('a read-only connection gets the usual error, with or without free space', async () => {
  for (shortage of [undefined, reason]) {
    await assert.rejects(Promise.resolve(reader`insert into kept values (1)`), { code: '25006' });
  }
});

test('checks the disk of the data folder', async () => {
  const data = join(folder, 'opened');
  assert.equal(findShortage(data, 1), undefined);
  const full = await openEmbedded(data, { role: 'command', reserveBytes: 2 ** 60 });
  const sql = openClient(full.socketPath);
  try {
    await assert.rejects(sql.unsafe('create table refused (id int)'), {
      code: '53100',
      message: new RegExp(
        `^The disk is almost full: \\d+ MB are free in ${data}, .* 1099511627776 MB`,
      ),
    });
    assert.equal((await sql`select 1 as one`)[0]?.['one'], 1);
  } finally {
    await sql.end();
    await full.close();
  }
});

test('does not create a database without enough free space', async () => {
  const data = join(folder, 'new');
  await assert.rejects(
    openEmbedded(data, { role: 'command', reserveBytes: 2 ** 60 }),
    (error: unknown) =>
      error instanceof CommandError && error.message.startsWith('The disk is almost full: '),
  );
  assert.deepEqual(readdirSync(data), ['lock']);
});

test('replaces only read-only errors with the reason', () => {
  const refusal = errorMessage('ERROR', '25006', 'cannot execute INSERT');
  const other = errorMessage('ERROR', '42601', 'C25006');
  assert.deepEqual(
    explainRefusals(Buffer.concat([queryMessage('x'), refusal, other]), reason),
    Buffer.concat([queryMessage('x'), errorMessage('ERROR', '53100', reason), other]),
  );
});
