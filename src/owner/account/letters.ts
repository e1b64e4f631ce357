import { html } from '../../http/html.ts';
import type { Message } from '../../mail/mailer.ts';
import type { Role } from '../../vocabulary.ts';

/** Mail about accounts and keys, without a link to unsubscribe. */
export function letter(to: string, subject: string, ...paragraphs: readonly string[]): Message {
  const shown = paragraphs.map((each) =>
    each.startsWith('http') ? html`<p><a href="${each}">${each}</a></p>` : html`<p>${each}</p>`,
  );
  return { to, subject, text: paragraphs.join('\n\n'), html: html`${shown}`.toString() };
}

export const resetLetter = (to: string, link: string) =>
  letter(
    to,
    'Choose a new password',
    'Somebody, probably you, forgot the password of this address. This link lets you choose a new one. It works once, for an hour:',
    link,
    'If it was not you, you need not do anything: your password stays as it is.',
  );

interface NewMember {
  readonly shopName: string;
  readonly role: Role;
  /** Who invites. */
  readonly by: string;
  readonly url: string;
}

export const invitationLetter = (to: string, { shopName, role, by, url }: NewMember) =>
  letter(
    to,
    `Invitation to ${shopName}`,
    `${by} invites you to ${shopName}, with the role ${role}. This link lets you join. It works once, for 72 hours:`,
    url,
    'If you do not know what this is about, you need not do anything.',
  );

/** @param factors where the owner sees all of them */
export const factorLetter = (
  to: string,
  what: 'added' | 'removed' | 'reset',
  kind: string,
  factors: string,
) =>
  letter(
    to,
    what === 'added' ? 'A second factor was added' : 'A second factor was removed',
    what === 'reset'
      ? 'The operator of the service removed all second factors of your account just now, and signed you out everywhere. Set up a new one after you have signed in with your password:'
      : `You, or somebody in your name, ${what} ${kind} as a second factor of your account just now. If it was not you, remove what is not yours, and change your password:`,
    factors,
    'If you did not ask for this, tell the operator of the service, too.',
  );

/** @param forgotten where the owner can choose another password */
export const changedLetter = (to: string, forgotten: string) =>
  letter(
    to,
    'Your password was changed',
    'Your password was changed just now, and all other browsers were signed out. If it was not you, choose another password at once:',
    forgotten,
    'If somebody else can read your mail, tell the operator of the service, too.',
  );

/** @param forgotten where the owner can choose a password again */
export const removedLetter = (to: string, forgotten: string) =>
  letter(
    to,
    'Your password was removed',
    'Single sign-on gave you access to another shop just now. It proves that the address is yours, so your password was removed, and all other browsers were signed out. Sign in as you just did, or choose a password again:',
    forgotten,
    'If it was not you, tell the operator of the service.',
  );
