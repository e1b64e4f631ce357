import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { page } from '../ui/answers.ts';
import {
  alert,
  layout,
  notice,
  passwordField,
  shopPath,
  token,
  usernameField,
} from '../ui/layout.ts';
import { newPasswordHint } from './link-pages.ts';
import type { Visit } from '../visit.ts';

interface AccountPage {
  readonly email: string;
  readonly sessions: number;
  readonly problem?: string | undefined;
  /** The field that the problem is about. */
  readonly invalid?: 'password' | 'new-password';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function accountPage(visit: Visit, parts: AccountPage): Answer {
  const { email, sessions, problem, invalid, status, headers } = parts;
  const isChanged = visit.query.get('done') === 'password';
  const content = html`
    ${alert(problem)}
    ${notice(isChanged ? 'Password changed. You are signed out everywhere else.' : undefined)}
    <section class="card">
      <h2>Profile</h2>
      <p>You are signed in as <strong>${email}</strong>.</p>
    </section>
    <section class="card">
      <h2>Email</h2>
      <p>Choose for each shop whether you get a weekly digest and alerts.</p>
      <ul>
        ${(visit.shops ?? []).map(
          (shop) => html`<li><a href="${shopPath(shop, '/notifications')}">${shop.name}</a></li>`,
        )}
      </ul>
    </section>
    <section class="card">
      <h2>Password</h2>
      <form method="post" action="/app/account/password">
        ${token(visit)} ${usernameField(email)}
        ${passwordField({
          name: 'password',
          label: 'Current password',
          autocomplete: 'current-password',
          isInvalid: invalid === 'password',
        })}
        ${passwordField({
          name: 'new-password',
          label: 'New password',
          autocomplete: 'new-password',
          hint: newPasswordHint,
          isInvalid: invalid === 'new-password',
        })}
        <button>Change password</button>
        <span class="hint">This signs you out everywhere else.</span>
      </form>
    </section>
    <section class="card">
      <h2>Sessions</h2>
      <p>
        ${
          sessions === 1
            ? 'This is your only active session.'
            : `You have ${sessions} active sessions, including this one.`
        }
      </p>
      <div class="actions">
        <form method="post" action="/app/sign-out">
          ${token(visit)}<button class="plain">Sign out of this browser</button>
        </form>
        <form method="post" action="/app/account/sign-out-everywhere">
          ${token(visit)}<button class="plain">Sign out everywhere</button>
        </form>
      </div>
    </section>
  `;
  return page(layout(visit, { title: 'Account', content }), status, headers);
}
