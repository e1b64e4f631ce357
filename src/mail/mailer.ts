import type { MailConfig } from '../config/settings.ts';

/** A message to one recipient. */
export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Ends such messages when it gets a POST request, without questions (RFC 8058); of those that can be ended. */
  readonly unsubscribeUrl?: string;
}

/** Sends messages. */
export interface Mailer {
  /** Whether nothing is sent before the connection is encrypted. */
  readonly requiresTls: boolean;
  /**
   * Resolves once the mail server has accepted the message.
   * @throws MailRefused if it never will; any other error may pass
   */
  send(message: Message): Promise<void>;
  /** Connects and signs in. @throws an error that says why that failed */
  verify(): Promise<void>;
  close(): void;
}

/** The mail server does not accept a message, and would not accept it later. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/** One that does not answer must not hold up the others for longer. */
const timeoutMilliseconds = 20_000;

/** A password that goes no further than this machine needs no encryption. */
const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;

/** @param host of the service's address, for the sender's if none is configured */
export function senderOf({ from }: MailConfig, host: string): string {
  return from ?? `retention@${host}`;
}

/** @param host as for `senderOf` */
export async function openMailer(config: MailConfig, host: string): Promise<Mailer> {
  // Its library is loaded only where mail is sent.
  const { createTransport } = await import('nodemailer');
  const { password, hostname } = new URL(config.url);
  const requiresTls = password !== '' && !loopback.test(hostname);
  const transport = createTransport({
    url: config.url,
    // Without it, the password is sent in the clear if the server, or somebody in between, offers no STARTTLS.
    requireTLS: requiresTls,
    connectionTimeout: timeoutMilliseconds,
    greetingTimeout: timeoutMilliseconds,
    socketTimeout: timeoutMilliseconds,
    // Messages never refer to files or addresses that the mailer should read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    requiresTls,
    async send({ unsubscribeUrl, ...message }) {
      try {
        await transport.sendMail({
          ...message,
          from: { name: 'Retention', address: senderOf(config, host) },
          headers: {
            'Auto-Submitted': 'auto-generated',
            ...(unsubscribeUrl && {
              'List-Unsubscribe': `<${unsubscribeUrl}>`,
              'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
            }),
          },
        });
      } catch (error) {
        if (!isWithoutTls(error) && isFinal(error))
          throw new MailRefused(error.message, { cause: error });
        throw explain(error);
      }
    },
    async verify() {
      try {
        await transport.verify();
      } catch (error) {
        throw explain(error);
      }
    },
    close: () => transport.close(),
  };
}

/** What is wrong with the encryption, in words; any other error as it is. */
function explain(error: unknown): unknown {
  if (isWithoutTls(error)) {
    return new Error(
      'The mail server offers no TLS, so the password in SMTP_URL was not sent. Use smtps://, or a port on which it offers STARTTLS, usually 587.',
      { cause: error },
    );
  }
  // What OpenSSL says of bytes that are no TLS.
  if (error instanceof Error && error.message.includes('wrong version number')) {
    return new Error(
      'The mail server does not answer with TLS, so nothing was sent. Use smtps:// with a port for TLS, usually 465, and smtp:// with one that offers STARTTLS, usually 587.',
      { cause: error },
    );
  }
  return error;
}

/** Whether the server refused to encrypt the connection. */
function isWithoutTls(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ETLS' &&
    'responseCode' in error &&
    typeof error.responseCode === 'number'
  );
}

/** Whether the server refused the recipient or the message for good: replies from 550 to 559. */
function isFinal(error: unknown): error is Error {
  return (
    error instanceof Error &&
    'responseCode' in error &&
    typeof error.responseCode === 'number' &&
    error.responseCode >= 550 &&
    error.responseCode < 560
  );
}
