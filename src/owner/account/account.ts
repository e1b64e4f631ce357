import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { page, avatar, redirect, returnPath } from '../ui/page.ts';
import { mailChange } from './forgotten.ts';
import { newPasswordHint } from './links.ts';
import { type Visit, shopPath } from '../site.ts';
import type { Shop } from '../../store/shops.ts';
import { changePassword } from '../../accounts/sign-in.ts';
import { passwordProblem } from '../../accounts/passwords.ts';
import { type OwnerSession, countSessions, endSessions } from '../../accounts/sessions.ts';
import { type OwnerPage, type OwnerParts, actorOf, ownerPage } from '../pages.ts';
import { explainRefusal } from './refused.ts';
import { tierNames } from '../ui/labels.ts';
import { alert, notice } from '../ui/elements.ts';
import { passwordField, token, usernameField } from '../ui/fields.ts';
import { factorsPath } from '../factors/proof.ts';
import { createCookies, parseTheme } from '../cookies.ts';

export function accountPages(parts: OwnerParts): OwnerPage[] {
  const { sql, clock } = parts.accounts;
  const cookies = createCookies(parts);
  const accountOf = async ({ email, ownerId }: OwnerSession) => ({
    email,
    sessions: await countSessions(sql, clock, ownerId),
  });
  return [
    ownerPage('/app/account', {
      label: 'Account',
      show: async (visit) => accountPage(visit, await accountOf(visit.session)),
    }),
    ownerPage('/app/account/password', {
      acts: ['password_changed'],
      stepUp: 'form',
      asksPassword: true,
      async submit(visit, form) {
        const { email } = visit.session;
        const newPassword = form.get('new-password') ?? '';
        const shopNames = visit.shops.map(({ name }) => name);
        const problem = await passwordProblem(newPassword, { email, shopNames });
        if (problem !== undefined) {
          const account = await accountOf(visit.session);
          return accountPage(visit, { ...account, problem, invalid: 'new-password', status: 422 });
        }
        const { address, device } = visit;
        const typed = { email, password: form.get('password') ?? '' };
        const guess = { ...typed, address, by: actorOf(visit), device };
        const result = await changePassword(parts.accounts, guess, newPassword);
        if (result.kind === 'right') {
          mailChange(parts, email);
          return redirect('/app/account?done=password', cookies.signIn(result));
        }
        return accountPage(visit, {
          ...(await accountOf(visit.session)),
          invalid: 'password',
          ...explainRefusal(result, 'The current password is incorrect. Check it, then try again.'),
        });
      },
    }),
    ownerPage('/app/theme', {
      isBeforeFactor: true,
      acts: [],
      submit: async (_, form) =>
        redirect(returnPath(form.get('next')), [
          cookies.theme(parseTheme(form.get('theme') ?? undefined)),
        ]),
    }),
    ownerPage('/app/account/sign-out-everywhere', {
      acts: ['sessions_ended'],
      async submit(visit) {
        await endSessions(parts.accounts, visit.session, actorOf(visit));
        return redirect('/app/sign-in?done=signed-out-everywhere', cookies.signOut());
      },
    }),
  ];
}

/** Where an owner with several shops chooses one; an only shop opens at once. */
export const shopChoicePages: readonly OwnerPage[] = [
  ownerPage('/app', {
    async show(visit) {
      const { shops } = visit;
      const [only] = shops;
      return only && shops.length === 1
        ? redirect(`/app/shops/${only.id}`)
        : shopsPage(visit, shops);
    },
  }),
  ownerPage('/app/shops', {
    label: 'Your shops',
    show: async (visit) => shopsPage(visit, visit.shops),
  }),
];

interface AccountPage {
  readonly email: string;
  readonly sessions: number;
  readonly problem?: string | undefined;
  /** The field that the problem is about. */
  readonly invalid?: 'password' | 'new-password';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function accountPage(visit: Visit, parts: AccountPage): Answer {
  const { email, sessions, problem, invalid, status, headers } = parts;
  const isChanged = visit.query.get('done') === 'password';
  const content = html`
    ${alert(problem)}
    ${notice(isChanged ? 'Password changed. You are signed out everywhere else.' : undefined)}
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
        ${passwordField(
          { id: 'password', label: 'Current password', isInvalid: invalid === 'password' },
          'current-password',
        )}
        ${passwordField(
          {
            id: 'new-password',
            label: 'New password',
            hint: newPasswordHint,
            isInvalid: invalid === 'new-password',
          },
          'new-password',
        )}
        <button>Change password</button>
        <span class="hint">This signs you out everywhere else.</span>
      </form>
    </section>
    <section class="card">
      <h2>Second factor</h2>
      <p>
        ${
          visit.session?.hasFactor
            ? 'A second factor protects your account.'
            : 'Your password alone signs you in. Add a passkey or an authenticator app.'
        }
      </p>
      <p><a class="button plain" href="${factorsPath}">Manage</a></p>
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
        <form method="post" action="/app/account/sign-out-everywhere">
          ${token(visit)}<button class="plain">Sign out everywhere</button>
        </form>
      </div>
    </section>
  `;
  return page(visit, { title: 'Account', content, status, headers });
}

/** Lets an owner choose between several shops. */
function shopsPage(visit: Visit, shops: readonly Shop[]): Answer {
  const content =
    shops.length === 0
      ? html`<p>
          You do not have access to any shop. Ask the operator of this service for an invitation.
        </p>`
      : html`<ul class="card shops">
          ${shops.map(
            (shop) =>
              html`<li>
                <a href="${shopPath(shop)}"
                  >${avatar(shop)} <span class="name">${shop.name}</span>
                  <span class="tier">${tierNames[shop.tier]}</span></a
                >
              </li>`,
          )}
        </ul>`;
  return page(visit, { title: 'Your shops', content });
}
