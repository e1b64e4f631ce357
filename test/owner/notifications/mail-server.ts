import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { Certificate } from '../../support/certificates.ts';

interface ReceivedMail {
  readonly to: string;
  /** Header and body, unfolded and decoded. */
  readonly text: string;
}

interface MailServerOptions {
  readonly password?: string;
  /** Without one, it offers no TLS. */
  readonly certificate?: Certificate;
  /** TLS from the start, instead of STARTTLS. */
  readonly implicitTls?: boolean;
}

/** A mail server on a free port that keeps what it receives, and refuses recipients whose name begins with "no-". */
export async function startMailServer(options: MailServerOptions = {}) {
  const { password, certificate, implicitTls = false } = options;
  const received: ReceivedMail[] = [];
  /** For each login, whether the connection was encrypted. */
  const logins: boolean[] = [];
  const server = new SMTPServer({
    authOptional: password === undefined,
    disabledCommands: [
      ...(certificate === undefined ? ['STARTTLS'] : []),
      ...(password === undefined ? ['AUTH'] : []),
    ],
    secure: implicitTls,
    ...(certificate && {
      cert: readFileSync(certificate.certFile),
      key: readFileSync(certificate.keyFile),
    }),
    allowInsecureAuth: true,
    onAuth(auth, session, done) {
      logins.push(session.secure);
      if (auth.password === password) done(null, { user: 'test' });
      else done(new Error('Wrong password'));
    },
    onRcptTo({ address }, _session, done) {
      done(
        address.startsWith('no-')
          ? Object.assign(new Error('No such mailbox'), { responseCode: 550 })
          : null,
      );
    },
    async onData(stream, { envelope }, done) {
      const raw = await readText(stream);
      received.push({ to: envelope.rcptTo[0]?.address ?? '', text: decode(raw) });
      done();
    },
  });
  server.on('error', () => {
    // Each test sees what becomes of it at the sender.
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    received,
    logins,
    port,
    url: `smtp://127.0.0.1:${port}`,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

/** Undoes the encodings that mail has: folded headers and quoted-printable. */
function decode(raw: string): string {
  const joined = raw.replace(/=\r\n/g, '').replace(/\r\n[ \t]+/g, ' ');
  return joined.replace(/(?:=[\dA-F]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll('=', ''), 'hex').toString('utf8'),
  );
}
