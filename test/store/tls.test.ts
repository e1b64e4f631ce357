import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CommandError } from '../../src/errors.ts';
import { type ConnectOptions, connect } from '../../src/store/database.ts';
import { throwawayFolder } from '../cli/process.ts';
import {
  type Authority,
  type Certificate,
  createAuthority,
  opensslMissing,
} from '../support/certificates.ts';
import { onServer } from '../support/replication.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const skip =
  opensslMissing ||
  (findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine');
const options: ConnectOptions = {
  name: 'test',
  connections: 1,
  statementTimeoutMilliseconds: 0,
};

describe('TLS of DATABASE_URL', { skip }, () => {
  let server: PostgresServer;
  let trusted: Authority;
  let untrusted: Authority;

  before(async () => {
    server = await requirePostgres(['fsync=off']);
    trusted = createAuthority();
    untrusted = createAuthority();
  });
  after(() => server.destroy());

  /** Makes the server use this certificate for new connections; undefined turns TLS off. */
  async function present(certificate: Certificate | undefined): Promise<void> {
    const { certFile, keyFile } = certificate ?? { certFile: '', keyFile: '' };
    if (certificate) {
      await onServer(server.url, `alter system set ssl_cert_file = '${certFile}'`);
      await onServer(server.url, `alter system set ssl_key_file = '${keyFile}'`);
    }
    const ssl = certificate ? 'on' : 'off';
    await onServer(server.url, `alter system set ssl = ${ssl}`);
    await onServer(server.url, 'select pg_reload_conf()');
    await until(async () => {
      const [shown] = await onServer<{ ssl: string; file: string }>(
        server.url,
        `select current_setting('ssl') as ssl, current_setting('ssl_cert_file') as file`,
      );
      return shown?.ssl === ssl && (!certificate || shown.file === certFile);
    });
  }

  /** 'TLS', 'plain' or the reason why there is no connection. */
  async function connectTo(host: string, parameters: string): Promise<string> {
    const sql = connect(
      `postgres://postgres@${host}:${server.port}/postgres?${parameters}`,
      options,
    );
    try {
      const [row] = await sql<{ ssl: boolean }[]>`
        select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
      return row?.ssl ? 'TLS' : 'plain';
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return code === 'CONNECTION_FAILED' ? message : (code ?? message);
    } finally {
      await sql.end(0);
    }
  }

  const wrongName = 'ERR_TLS_CERT_ALTNAME_INVALID';
  const unknownAuthority = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';

  test('uses no TLS without sslmode and with disable', async () => {
    await present(trusted.issue('DNS:localhost'));
    assert.equal(await connectTo('127.0.0.1', ''), 'plain');
    assert.equal(await connectTo('127.0.0.1', 'sslmode=disable'), 'plain');
  });

  test('allow and prefer fall back to a server without TLS; the others fail', async () => {
    await present(undefined);
    const root = `&sslrootcert=${trusted.certFile}`;
    assert.equal(await connectTo('localhost', 'sslmode=allow'), 'plain');
    assert.equal(await connectTo('localhost', 'sslmode=prefer'), 'plain');
    assert.equal(
      await connectTo('localhost', 'sslmode=require'),
      'The server does not support SSL connections',
    );
    assert.equal(
      await connectTo('localhost', `sslmode=verify-ca${root}`),
      'The server does not support SSL connections',
    );
    assert.equal(
      await connectTo('localhost', `sslmode=verify-full${root}`),
      'The server does not support SSL connections',
    );
  });

  test('allow, prefer and require accept any certificate', async () => {
    await present(untrusted.issue('DNS:elsewhere.example', ['20200101000000Z', '20200201000000Z']));
    for (const mode of ['allow', 'prefer', 'require']) {
      assert.equal(await connectTo('localhost', `sslmode=${mode}`), 'TLS', mode);
    }
  });

  test('verify-ca, and require with sslrootcert, accept the CA’s certificates for any name', async () => {
    await present(trusted.issue('DNS:elsewhere.example'));
    for (const mode of ['verify-ca', 'require']) {
      for (const host of ['localhost', '127.0.0.1']) {
        const trusting = (file: string) => `sslmode=${mode}&sslrootcert=${file}`;
        assert.equal(await connectTo(host, trusting(trusted.certFile)), 'TLS', `${mode} ${host}`);
        assert.equal(
          await connectTo(host, trusting(untrusted.certFile)),
          unknownAuthority,
          `${mode} ${host}`,
        );
      }
    }
  });

  test('verify-full requires the host name of the address', async () => {
    const full = `sslmode=verify-full&sslrootcert=${trusted.certFile}`;
    await present(trusted.issue('DNS:localhost'));
    assert.equal(await connectTo('localhost', full), 'TLS');
    // Node.js checks for "localhost" if the driver passes no name.
    assert.equal(await connectTo('127.0.0.1', full), wrongName);

    await present(trusted.issue('IP:127.0.0.1'));
    assert.equal(await connectTo('127.0.0.1', full), 'TLS');
    assert.equal(await connectTo('localhost', full), wrongName);

    await present(trusted.issue('IP:127.0.0.2,DNS:elsewhere.example'));
    assert.equal(await connectTo('127.0.0.1', full), wrongName);
    assert.equal(await connectTo('localhost', full), wrongName);
  });

  test('verify-full requires a known authority and a currently valid certificate', async () => {
    const full = 'sslmode=verify-full';
    await present(trusted.issue('IP:127.0.0.1'));
    assert.equal(await connectTo('127.0.0.1', full), unknownAuthority);
    assert.equal(await connectTo('127.0.0.1', `${full}&sslrootcert=system`), unknownAuthority);
    const foreign = `${full}&sslrootcert=${untrusted.certFile}`;
    assert.equal(await connectTo('127.0.0.1', foreign), unknownAuthority);

    await present(trusted.issue('IP:127.0.0.1', ['20200101000000Z', '20200201000000Z']));
    const known = `${full}&sslrootcert=${trusted.certFile}`;
    assert.equal(await connectTo('127.0.0.1', known), 'CERT_HAS_EXPIRED');
  });

  test('NODE_TLS_REJECT_UNAUTHORIZED does not disable verification', async (t) => {
    await present(untrusted.issue('IP:127.0.0.1'));
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']);
    const full = `sslmode=verify-full&sslrootcert=${trusted.certFile}`;
    assert.equal(await connectTo('127.0.0.1', full), unknownAuthority);
  });

  test('rejects a file without certificates, or with a broken one, before connecting', () => {
    const empty = path.join(throwawayFolder(), 'empty.pem');
    writeFileSync(empty, 'no certificate');
    const broken = path.join(throwawayFolder(), 'broken.pem');
    const good = readFileSync(trusted.certFile, 'utf8');
    writeFileSync(broken, `${good}${good.replace('CERTIFICATE-----\nM', 'CERTIFICATE-----\nX')}`);
    for (const file of [empty, broken, `${empty}.missing`]) {
      assert.throws(
        () => connect(`${server.url}?sslmode=verify-full&sslrootcert=${file}`, options),
        (error) =>
          error instanceof CommandError &&
          error.message.startsWith(
            `Cannot read the sslrootcert file ${file} as PEM certificates: `,
          ),
      );
    }
  });
});
