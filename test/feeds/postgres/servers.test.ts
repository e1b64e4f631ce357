import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';
import { type Source, withSource } from '../../../src/platforms/postgres/connection.ts';
import { parseTarget } from '../../../src/platforms/postgres/address.ts';
import { type Certificate, createAuthority, opensslMissing } from '../../support/certificates.ts';
import {
  type PostgresServer,
  findPostgresPrograms,
  requirePostgres,
} from '../../support/postgres.ts';
import { onServer } from '../../support/replication.ts';
import { until } from '../../support/until.ts';

/** An address of this machine that is not loopback, where TLS is required. */
const outside = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
const skip =
  opensslMissing ||
  (findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine') ||
  (outside === undefined && 'this machine has no address but loopback');

describe('servers of merchants', { skip }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await requirePostgres(['fsync=off', `listen_addresses=127.0.0.1,${outside}`]);
  });
  after(() => server.destroy());

  async function present({ certFile, keyFile }: Certificate): Promise<void> {
    await onServer(server.url, `alter system set ssl_cert_file = '${certFile}'`);
    await onServer(server.url, `alter system set ssl_key_file = '${keyFile}'`);
    await onServer(server.url, 'alter system set ssl = on');
    await onServer(server.url, 'select pg_reload_conf()');
    await until(async () => {
      const [shown] = await onServer<{ ssl: string }>(
        server.url,
        `select current_setting('ssl') as ssl`,
      );
      return shown?.ssl === 'on';
    });
  }

  const attempt = async (
    host: string,
    parameters = '',
    signal?: AbortSignal,
    query = 'select 1',
  ) => {
    const target = parseTarget(`postgres://reader@${host}:${server.port}/postgres${parameters}`);
    assert.ok(target);
    const networks = ['0.0.0.0/1', '128.0.0.0/1'];
    return withSource(target, { networks, signal }, (source) => source.query({ text: query })).then(
      () => 'read',
      (error: Error) => error.message,
    );
  };

  test('are asked only over TLS, with a certificate that is valid unless the address says otherwise', async () => {
    const host = outside as string;
    assert.match(await attempt(host), /has no TLS, without which nothing is sent to it\.$/);
    await present(createAuthority().issue(`IP:${host}`));
    assert.match(
      await attempt(host),
      /The certificate of PostgreSQL at .* is not valid for it \(UNABLE_TO/,
    );
    // The tests' server refuses every login from there, which it says only once the connection is encrypted.
    assert.match(await attempt(host, '?sslmode=require'), /does not accept the login reader/);
  });

  test('that do not answer are given up, and a stop does not wait for them', async () => {
    await onServer(server.url, 'create role reader login');
    assert.equal(await attempt('127.0.0.1'), 'read');
    const stopping = new AbortController();
    const slow = attempt('127.0.0.1', '', stopping.signal, 'select pg_sleep(600)');
    await until(async () => {
      const [row] = await onServer<{ count: number }>(
        server.url,
        `select count(*)::int as count from pg_stat_activity where query like '%pg_sleep(600)' and pid <> pg_backend_pid()`,
      );
      return row?.count === 1;
    });
    stopping.abort(new Error('stopped'));
    assert.equal(await slow, 'stopped');
    await server.stop();
    assert.match(await attempt('127.0.0.1'), /cannot be reached \(ECONNREFUSED\)/);
    await server.start();
  });

  test('that freeze are given up, in a query and when all is done', async (t) => {
    const target = parseTarget(`postgres://reader@127.0.0.1:${server.port}/postgres`);
    assert.ok(target);
    let pid = 0;
    const read = (then: (source: Source) => Promise<unknown>) =>
      withSource(target, { networks: ['127.0.0.0/8'] }, async (source) => {
        const { rows } = await source.query<{ pid: string }>({
          text: 'select pg_backend_pid() as pid',
        });
        pid = Number(rows[0]?.pid);
        process.kill(pid, 'SIGSTOP');
        return then(source);
      }).finally(() => process.kill(pid, 'SIGCONT'));
    assert.equal(await read(async () => 'all of it'), 'all of it');
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const frozen = read((source) => {
      const answer = source.query({ text: 'select 1' });
      // More than a statement may take.
      t.mock.timers.tick(3 * 60_000);
      return answer;
    });
    await assert.rejects(frozen, /PostgreSQL at .* cannot be reached \(no answer\)\.$/);
  });

  test('on this machine need no TLS, unless the address asks for it', async () => {
    await onServer(server.url, 'alter system reset ssl');
    await onServer(server.url, 'select pg_reload_conf()');
    await until(async () => (await attempt('127.0.0.1', '?sslmode=require')) !== 'read');
    const modes = ['', '?sslmode=disable', '?sslmode=require', '?sslmode=verify-full'];
    const answers = await Promise.all(modes.map((mode) => attempt('127.0.0.1', mode)));
    const noTls = `PostgreSQL at 127.0.0.1:${server.port} has no TLS, without which nothing is sent to it.`;
    assert.deepEqual(answers, ['read', 'read', noTls, noTls]);
    assert.match(await attempt(outside as string, '?sslmode=disable'), /is to have no TLS/);
  });
});
