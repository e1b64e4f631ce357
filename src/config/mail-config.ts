import type { Settings } from './setting.ts';

/** How mail is sent. */
export interface MailConfig {
  /** With its password; never shown. */
  readonly url: string;
  /** The sender's address; undefined means one at the host of the service's address. */
  readonly from: string | undefined;
}

export const mailSettings = {
  SMTP_URL: {
    about:
      'the server that sends [digests and alerts](operations.md#mail): `smtp://user:password@host:587`, or `smtps://…` for TLS from the start; a password requires TLS, except on this machine',
    unset: 'no mail is sent',
    parse: parseSmtpUrl,
    // Not quoted in errors: it has a password.
    expected: 'an address such as smtp://user:password@host:587 or smtps://…',
  },
  SMTP_FROM: {
    about: 'the address that mail comes from',
    unset: '`retention@` and the host of `BASE_URL`',
    parse: parseSender,
    expected: 'an address such as ana@example.com',
  },
} as const satisfies Settings;

function parseSmtpUrl(text: string): string | undefined {
  const url = URL.parse(text);
  const isSmtp = url?.protocol === 'smtp:' || url?.protocol === 'smtps:';
  return isSmtp && url.hostname !== '' && url.search === '' ? text : undefined;
}

function parseSender(text: string): string | undefined {
  return /^[^\s\p{C}@<>,;"]+@[^\s\p{C}@<>,;"]+$/u.test(text) ? text : undefined;
}
