import type { Check } from './check.ts';

/** How mail is sent. */
export interface MailConfig {
  /** With its password; never shown. */
  readonly url: string;
  /** The sender's address; undefined means one at the host of the service's address. */
  readonly from: string | undefined;
}

/** @returns undefined if no mail is sent */
export function parseMail(check: Check): MailConfig | undefined {
  const url = check(
    'SMTP_URL',
    undefined,
    parseSmtpUrl,
    // Not quoted in errors: it has a password.
    'an address such as smtp://user:password@host:587 or smtps://…',
  );
  const from = check('SMTP_FROM', undefined, parseSender, 'an address such as ana@example.com');
  return url === undefined ? undefined : { url, from };
}

function parseSmtpUrl(text: string): string | undefined {
  const url = URL.parse(text);
  const isSmtp = url?.protocol === 'smtp:' || url?.protocol === 'smtps:';
  return isSmtp && url.hostname !== '' && url.search === '' ? text : undefined;
}

function parseSender(text: string): string | undefined {
  return /^[^\s\p{C}@<>,;"]+@[^\s\p{C}@<>,;"]+$/u.test(text) ? text : undefined;
}
