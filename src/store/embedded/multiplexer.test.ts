import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { until } from '../../../test/support/until.ts';
import { type ConnectOptions, type Sql, connect as sqlTo } from '../database.ts';
import { openEmbedded, type EmbeddedServer } from './open.ts';
import { message } from './wire.ts';

const folder = mkdtempSync(join(tmpdir(), 'multiplexer-test-'));
let server: EmbeddedServer;

before(async () => {
  const saved = process.env['TEST_EMBEDDED_FOLDER'] as string;
  for (const name of ['main', 'impatient']) cpSync(saved, join(folder, name), { recursive: true });
  server = await openEmbedded(join(folder, 'main'), { role: 'serve' });
});

after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

type Client = Sql & AsyncDisposable;

function client(options: Partial<ConnectOptions> = {}, to = server): Client {
  const sql = sqlTo(to.socketPath, {
    name: 'test',
    connections: 1,
    statementTimeoutMilliseconds: 0,
    ...options,
  });
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end(1) });
}

/** A connected client that sends exactly the given bytes. */
async function rawClient(to = server): Promise<Socket> {
  const socket = connect(to.socketPath);
  socket.write(Buffer.from('\0\0\0\x0d\0\x03\0\0user\0', 'latin1'));
  await once(socket, 'data');
  return socket;
}

const code = (expected: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === expected;

test('returns its own result to each pipelined query of four connections', async () => {
  await using first = client({ isShared: true });
  await using second = client({ isShared: true });
  await using third = client({ isShared: true, readOnly: true });
  await using fourth = client({ connections: 3 });
  const clients = [first, second, third, fourth];
  const answers = await Promise.all(
    Array.from({ length: 2000 }, async (_, index) => {
      const sql = clients[index % 4]!;
      const [row] =
        index % 3 === 0
          ? await sql`SELECT ${index}::int AS value, ${`text ${index}`} AS text`
          : await sql`SELECT ${`text ${index}`} AS text, ${index}::int + 0 AS value`;
      return { value: row!['value'], text: row!['text'] };
    }),
  );
  const expected = Array.from({ length: 2000 }, (_, index) => ({
    value: index,
    text: `text ${index}`,
  }));
  assert.deepEqual(answers, expected);
});

test('a transaction makes other clients wait and is invisible until it commits', async () => {
  await using writer = client();
  await using reader = client();
  await writer`CREATE TABLE seen (id int)`;
  const events: string[] = [];
  let reading: Promise<unknown> | undefined;
  await writer.begin(async (sql) => {
    await sql`INSERT INTO seen VALUES (1)`;
    reading = reader`SELECT count(*)::int AS count FROM seen`.then(([row]) =>
      events.push(`read ${row!['count']}`),
    );
    for (let id = 2; id <= 20; id++) await sql`INSERT INTO seen VALUES (${id})`;
    events.push('committing');
  });
  await reading;
  assert.deepEqual(events, ['committing', 'read 20']);
});

test('rolls back the transaction of a lost connection', async () => {
  await using other = client();
  await other`CREATE TABLE lost (id int)`;
  const socket = await rawClient();
  socket.write(message('Q', 'BEGIN; INSERT INTO lost VALUES (1)\0'));
  await once(socket, 'data');
  const count = other`SELECT count(*)::int AS count FROM lost`.then((rows) => rows);
  socket.destroy();
  assert.deepEqual([...(await count)], [{ count: 0 }]);
});

test('a connection lost between flush and sync does not block others', async () => {
  await using other = client();
  const socket = await rawClient();
  socket.write(
    Buffer.concat([message('P', 'half\0SELECT nonsense\0', Buffer.alloc(2)), message('H')]),
  );
  await once(socket, 'data');
  const answer = other`SELECT 1 AS one`.then((rows) => rows);
  socket.destroy();
  assert.deepEqual([...(await answer)], [{ one: 1 }]);
});

test('refuses names that need quotes to the client that asked for them alone', async () => {
  await using other = client();
  const socket = connect(server.socketPath);
  const parameters = ['user', 'x', 'role', 'no1', 'search_path', 'public'].join('\0');
  const startup = Buffer.from(`\0\0\0\0\0\x03\0\0${parameters}\0\0`, 'latin1');
  startup.writeInt32BE(startup.length);
  let said = '';
  socket.on('data', (chunk) => (said += String(chunk)));
  socket.write(startup);
  await once(socket, 'close');
  assert.match(said, /must not need quotes/);
  assert.deepEqual([...(await other`SELECT 1 AS one`)], [{ one: 1 }]);
});

test('runs what a client sent before it disconnected', async () => {
  await using other = client();
  await other`CREATE TABLE parting (id int)`;
  const socket = await rawClient();
  const insert = message('Q', 'INSERT INTO parting VALUES (1)\0');
  socket.end(Buffer.concat([...Array.from({ length: 200 }, () => insert), message('X')]));
  socket.resume();
  await once(socket, 'close');
  assert.deepEqual(
    [...(await other`SELECT count(*)::int AS count FROM parting`)],
    [{ count: 200 }],
  );
});

test('rolls back and disconnects a client that holds the session without sending anything', async () => {
  const impatient = await openEmbedded(join(folder, 'impatient'), {
    role: 'serve',
    holdTimeoutMilliseconds: 200,
  });
  try {
    await using other = client({}, impatient);
    await other`CREATE TABLE held (id int)`;
    const silent = await rawClient(impatient);
    let said = '';
    silent.on('data', (chunk) => (said += String(chunk)));
    const closed = once(silent, 'close');
    silent.write(message('Q', 'BEGIN; INSERT INTO held VALUES (1)\0'));
    await until(() => said);
    const count = other`SELECT count(*)::int AS count FROM held`.then((rows) => rows);
    await closed;
    assert.match(said, /SFATAL\0.*C25P03\0/s);
    assert.deepEqual([...(await count)], [{ count: 0 }]);
  } finally {
    await impatient.close();
  }
});

test('a read-only connection cannot write while another connection does', async () => {
  await using writer = client();
  await using reader = client({ readOnly: true });
  await writer`CREATE TABLE guarded (id int)`;
  const results = await Promise.allSettled(
    Array.from({ length: 100 }, (_, id) =>
      (id % 2 === 0 ? writer : reader)`INSERT INTO guarded VALUES (${id})`.then((rows) => rows),
    ),
  );
  for (const [id, result] of results.entries()) {
    if (id % 2 === 0) assert.equal(result.status, 'fulfilled');
    else assert.ok(result.status === 'rejected' && code('25006')(result.reason));
  }
  await assert.rejects(
    reader.begin((sql) => sql`DELETE FROM guarded`),
    code('25006'),
  );
  assert.deepEqual(
    [...(await reader`SELECT count(*)::int AS count FROM guarded`)],
    [{ count: 50 }],
  );
});

test('errors and failed transactions leave their connection and others usable', async () => {
  await using sql = client();
  await using other = client();
  await assert.rejects(Promise.resolve(sql`SELECT nonsense`), code('42703'));
  await assert.rejects(Promise.resolve(sql`SELECT ${1}::int / 0`), code('22012'));
  await assert.rejects(
    sql.begin(async (inner) => {
      await inner`SELECT 1 / 0`.catch(() => {});
      await inner`SELECT 1`;
    }),
    code('25P02'),
  );
  await assert.rejects(sql`COPY lost FROM STDIN`, code('42601'));
  assert.deepEqual([...(await sql`SELECT ${1}::int AS one`)], [{ one: 1 }]);
  assert.deepEqual([...(await other`SELECT ${2}::int AS two`)], [{ two: 2 }]);
});

test('transfers parameters and results of many megabytes', async () => {
  await using sql = client();
  const items = Array.from({ length: 80_000 }, (_, id) => ({ id, text: 'x'.repeat(80) }));
  const sent = JSON.stringify(items);
  assert.ok(sent.length > 8_000_000);
  const [row] = await sql`
    SELECT count(*)::int AS count, sum((item ->> 'id')::int)::text AS sum
    FROM json_array_elements(${sent}::text::json) AS item`;
  const [large] = await sql`SELECT repeat('0123456789', 2000000) AS text`;
  assert.ok(large!['text'] === '0123456789'.repeat(2_000_000));
  assert.deepEqual({ ...row }, { count: 80_000, sum: '3199960000' });
});

test('closing a connection removes its prepared statements', async () => {
  await using watcher = client();
  const count = async (): Promise<unknown> =>
    (await watcher`SELECT count(*)::int AS count FROM pg_prepared_statements`)[0]!['count'];
  const initially = await count();
  for (let round = 0; round < 50; round++) {
    await using sql = client();
    await Promise.all([sql`SELECT ${round}::int`, sql`SELECT ${'x'}::text`]);
  }
  assert.equal(await count(), initially);
});
