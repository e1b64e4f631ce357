import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import type { OwnerLink } from '../../store/owners/owners.ts';
import { page } from '../ui/answers.ts';
import { alert, layout, passwordField, token, usernameField } from '../ui/layout.ts';
import { asksForPassword } from '../../accounts/links.ts';
import { passwordLength } from '../../accounts/password-rules.ts';
import type { Visit } from '../visit.ts';

export const newPasswordHint = `At least ${passwordLength.min} characters. A phrase of several words works well.`;

interface LinkPage {
  readonly link: OwnerLink;
  readonly shopName: string | undefined;
  readonly problem?: string | undefined;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function linkPage(
  visit: Visit,
  { link, shopName, problem, status, headers }: LinkPage,
): Answer {
  const isKnown = asksForPassword(link);
  const isInvalid = problem !== undefined;
  const lead =
    shopName === undefined
      ? html`Choose a new password for <strong>${link.email}</strong>. This signs you out everywhere
          else.`
      : html`You have been invited to <strong>${shopName}</strong> as
          <strong>${link.email}</strong>.
          ${isKnown ? 'Enter your password to accept.' : 'Choose a password to accept.'}`;
  const content = html`
    ${alert(problem)}
    <form class="card narrow" method="post">
      ${token(visit)}
      <p>${lead}</p>
      ${usernameField(link.email)}
      ${
        isKnown
          ? passwordField({
              name: 'password',
              label: 'Password',
              autocomplete: 'current-password',
              isInvalid,
            })
          : passwordField({
              name: 'password',
              label: 'New password',
              autocomplete: 'new-password',
              hint: newPasswordHint,
              isInvalid,
            })
      }
      <button>${shopName === undefined ? 'Set password' : 'Accept invitation'}</button>
    </form>
  `;
  const title = shopName === undefined ? 'New password' : 'Invitation';
  return page(layout(visit, { title, content }), status, headers);
}

/** The same page for an unknown, used or expired link, so that it reveals nothing. */
export function invalidLinkPage(visit: Visit): Answer {
  const content = html`<p>
      It has expired, has already been used, or is incomplete. Ask the operator of this service for
      a new one.
    </p>
    <p><a href="/app">Go to your shops</a></p>`;
  return page(layout(visit, { title: 'This link does not work', content }), 404);
}
