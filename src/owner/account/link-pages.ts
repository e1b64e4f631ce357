import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import type { OwnerLink } from '../../store/owners/links.ts';
import { page } from '../ui/answers.ts';
import { alert, layout, passwordField, token } from '../ui/layout.ts';
import { asksForPassword } from '../../accounts/links.ts';
import { passwordLength } from '../../accounts/password-rules.ts';
import type { Visit } from '../visit.ts';

export const newPasswordHint = `At least ${passwordLength.min} characters; a few words in a row are good.`;

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
  const lead =
    shopName === undefined
      ? html`Choose a new password for <strong>${link.email}</strong>. You are signed out everywhere
          else.`
      : html`You are invited to <strong>${shopName}</strong> as <strong>${link.email}</strong>.
          ${isKnown ? 'Enter your password to accept.' : 'Choose a password to accept.'}`;
  const content = html`
    ${alert(problem)}
    <form class="card narrow" method="post">
      ${token(visit)}
      <p>${lead}</p>
      <input type="hidden" name="email" autocomplete="username" value="${link.email}" />
      ${
        isKnown
          ? passwordField({
              name: 'password',
              label: 'Password',
              autocomplete: 'current-password',
            })
          : passwordField({
              name: 'password',
              label: 'New password',
              autocomplete: 'new-password',
              hint: newPasswordHint,
            })
      }
      <button>${shopName === undefined ? 'Set password' : 'Accept'}</button>
    </form>
  `;
  const title = shopName === undefined ? 'New password' : 'Invitation';
  return page(layout(visit, { title, content }), status, headers);
}

/** The same whether it was never made, was used, or is too old. */
export function endedLinkPage(visit: Visit): Answer {
  const content = html`<p>
      It was used already, or is too old. Ask whoever runs this service for a new one.
    </p>
    <p><a href="/app">Go to your shops</a></p>`;
  return page(layout(visit, { title: 'This link does not work', content }), 404);
}
