import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

interface ReceivedMail {
  readonly to: string;
  /** Header and body, unfolded and decoded. */
  readonly text: string;
}

/** A mail server on a free port that keeps what it receives, and refuses recipients whose name begins with "no-". */
export async function startMailServer({ password }: { readonly password?: string } = {}) {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: password === undefined,
    // The test has no certificate.
    disabledCommands: password === undefined ? ['STARTTLS', 'AUTH'] : ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (auth, _session, done) =>
      auth.password === password ? done(null, { user: 'test' }) : done(new Error('Wrong password')),
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
