import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { type TestContext, before, describe, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { openMailer } from '../../../src/mail/mailer.ts';
import { runProcess, migratedFolder } from '../../cli/process.ts';
import { type Authority, createAuthority, opensslMissing } from '../../support/certificates.ts';
import { startMailServer } from './mail-server.ts';

const password = 'open sesame';
/** As clients send it to log in. */
const encoded = Buffer.from(`\0test\0${password}`).toString('base64');
/** Leads to this machine, but not by a name of loopback. */
const host = '0.0.0.0';
const names = `IP:${host}`;
const address = (port: number, scheme = 'smtp') =>
  `${scheme}://test:${encodeURIComponent(password)}@${host}:${port}`;
const noTls =
  'The mail server offers no TLS, so the password in SMTP_URL was not sent. Use smtps://, or a port on which it offers STARTTLS, usually 587.';

/**
 * Between a client and a mail server on loopback: keeps what the client sends, hides STARTTLS, and answers it.
 * @param answer to STARTTLS; by default, it hides nothing
 */
async function startEavesdropper(t: TestContext, port: number, answer?: string) {
  let heard = '';
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => (client.destroy(), upstream.destroy()));
    }
    client.on('data', (data) => {
      heard += data.toString('latin1');
      if (answer !== undefined && String(data).startsWith('STARTTLS')) client.write(answer);
      else upstream.write(data);
    });
    upstream.on('data', (data) => {
      const text = data.toString('latin1');
      client.write(answer === undefined ? data : text.replace('STARTTLS', 'XXXXXXXX'), 'latin1');
    });
  });
  server.listen(0);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, heard: () => heard };
}

async function verify(url: string): Promise<void> {
  const mailer = await openMailer({ url, from: undefined }, 'data.example.com');
  try {
    await mailer.verify();
  } finally {
    mailer.close();
  }
}

describe('a password for the mail server', { skip: opensslMissing }, () => {
  let authority: Authority;
  before(() => {
    authority = createAuthority();
    const root = readFileSync(authority.certFile, 'utf8');
    setDefaultCACertificates([...getCACertificates(), root]);
  });

  const withServer = async (
    t: TestContext,
    options: Parameters<typeof startMailServer>[0] = { certificate: authority.issue(names) },
  ) => {
    const server = await startMailServer({ password, ...options });
    t.after(() => server.close());
    return server;
  };

  test('is sent after STARTTLS', async (t) => {
    const server = await withServer(t);
    const { port, heard } = await startEavesdropper(t, server.port);
    await verify(address(port));
    assert.deepEqual(server.logins, [true]);
    assert.match(heard(), /^EHLO .*\r\nSTARTTLS\r\n/);
    assert.doesNotMatch(heard(), /AUTH/);
  });

  test('is sent over TLS from the start', async (t) => {
    const certificate = authority.issue(names);
    const server = await withServer(t, { certificate, implicitTls: true });
    await verify(address(server.port, 'smtps'));
    assert.deepEqual(server.logins, [true]);
  });

  test('is not sent to a server without TLS, and neither is the message', async (t) => {
    const server = await withServer(t, {});
    const { port, heard } = await startEavesdropper(t, server.port);
    await assert.rejects(verify(address(port)), { message: noTls });
    const mailer = await openMailer({ url: address(port), from: undefined }, 'data.example.com');
    t.after(() => mailer.close());
    const message = { to: 'a@b.example', subject: 's', text: 't', html: '', unsubscribeUrl: '' };
    await assert.rejects(mailer.send(message), { message: noTls });
    assert.deepEqual([server.logins, server.received], [[], []]);
    assert.doesNotMatch(heard(), /AUTH|MAIL/);
  });

  // The reply 554 to a recipient would be final; here it says nothing about one.
  for (const answer of ['502 Unknown command\r\n', '554 No TLS\r\n']) {
    test(`is not sent if somebody in between hides STARTTLS (${answer.slice(0, 3)})`, async (t) => {
      const server = await withServer(t);
      const { port, heard } = await startEavesdropper(t, server.port, answer);
      await assert.rejects(verify(address(port)), { name: 'Error', message: noTls });
      assert.deepEqual(server.logins, []);
      assert.doesNotMatch(heard(), /AUTH/);
    });
  }

  test('is not sent if somebody in between only pretends to encrypt', async (t) => {
    const server = await withServer(t);
    const { port, heard } = await startEavesdropper(t, server.port, '220 Ready\r\nOK\r\n');
    await assert.rejects(
      verify(address(port)),
      /^Error: The mail server does not answer with TLS, so/,
    );
    assert.deepEqual(server.logins, []);
    assert.ok(!heard().includes(encoded));
  });

  test('is not sent if a port without TLS is called with smtps', async (t) => {
    const server = await withServer(t, {});
    await assert.rejects(
      verify(address(server.port, 'smtps')),
      /Use smtps:\/\/ with a port for TLS/,
    );
    assert.deepEqual(server.logins, []);
  });

  test('is not sent to a server whose certificate is not trusted', async (t) => {
    const server = await withServer(t, { certificate: createAuthority().issue(names) });
    await assert.rejects(verify(address(server.port)), /unable to verify|self.signed/);
    assert.deepEqual(server.logins, []);
  });

  for (const local of ['127.0.0.1', 'localhost']) {
    test(`is sent without TLS to ${local}`, async (t) => {
      const server = await withServer(t, {});
      await verify(address(server.port).replace(host, local));
      assert.deepEqual(server.logins, [false]);
    });
  }

  test('is not needed for a server that takes mail without, and offers no TLS', async (t) => {
    const server = await startMailServer();
    t.after(() => server.close());
    await verify(`smtp://${host}:${server.port}`);
  });

  test('doctor says whether it is safe, and does not show it', async (t) => {
    // Of its own, because doctor judges what other tests store, too.
    const folder = migratedFolder();
    const mailLine = async (SMTP_URL: string) => {
      const { code, out, err } = await runProcess(['doctor'], {
        env: {
          RETENTION_DATA_DIR: folder,
          NODE_EXTRA_CA_CERTS: authority.certFile,
          SMTP_URL,
        },
      });
      assert.doesNotMatch(out + err, /sesame|b3BlbiBzZXNhbWU/);
      return [code, /^.* mail: .*$/m.exec(out)?.[0]];
    };
    const safe = await withServer(t);
    assert.deepEqual(await mailLine(address(safe.port)), [
      0,
      'ok    mail: the mail server accepts the login, over TLS',
    ]);
    const unsafe = await withServer(t, {});
    assert.deepEqual(await mailLine(address(unsafe.port)), [1, `FAIL  mail: ${noTls}`]);
    assert.deepEqual(unsafe.logins, []);
  });
});
