import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { page, redirect, returnPath } from '../ui/page.ts';
import { mailChange } from './forgotten.ts';
import { newPasswordHint } from './links.ts';
import { changePassword } from '../../accounts/sign-in.ts';
import { changeName, readPersonName } from '../../accounts/sessions.ts';
import { passwordProblem } from '../../accounts/passwords.ts';
import { type OwnerPage, type OwnerParts, type OwnerVisit, actorOf, ownerPage } from '../pages.ts';
import { sessionPages, sessionSection } from './sessions.ts';
import { shopsSection } from './shops.ts';
import { type Refusal, explainRefusal } from './refused.ts';
import { visitorIn } from './visitor.ts';
import { factorsPath } from '../factors/proof.ts';
import { notice } from '../ui/elements.ts';
import {
  passwordField,
  personNameField,
  personNameProblem,
  postForm,
  usernameField,
} from '../ui/fields.ts';
import { createCookies, parseTheme } from '../cookies.ts';

/** What is wrong with a form of the account page. */
interface Refused extends Partial<Refusal> {
  /** The field that the problem is about. */
  readonly invalid?: 'name' | 'password' | 'new-password';
}

export function accountPages(parts: OwnerParts): OwnerPage[] {
  const cookies = createCookies(parts);
  const show = async (visit: OwnerVisit, refused: Refused = {}): Promise<Answer> => {
    const { problem, invalid, status, headers } = refused;
    const done = problem === undefined ? notices.get(visit.query.get('done')) : undefined;
    const content = html`
      ${notice(done)} ${nameSection(visit, invalid === 'name')} ${shopsSection(visit.shops)}
      ${passwordSection(visit, invalid)} ${factorsSection(visit)}
      ${await sessionSection(parts.accounts, visit)}
    `;
    return page(visit, { title: 'Account', content, problem, status, headers });
  };
  return [
    ownerPage('/app/account', { label: 'Account', show: async (visit) => show(visit) }),
    ownerPage('/app/account/name', {
      acts: ['name_changed'],
      async submit(visit, form) {
        const name = readPersonName(form.get('name') ?? '');
        if (name === undefined) {
          return show(visit, { problem: personNameProblem, invalid: 'name' });
        }
        await changeName(parts.accounts, visit.session, actorOf(visit), name);
        return redirect('/app/account?done=name');
      },
    }),
    ownerPage('/app/account/password', {
      acts: ['password_changed'],
      stepUp: 'form',
      asksPassword: true,
      secrets: ['password', 'new-password'],
      section: '/app/account',
      async submit(visit, form) {
        const { email } = visit.session;
        const newPassword = form.get('new-password') ?? '';
        const shopNames = visit.shops.map(({ name }) => name);
        const problem = await passwordProblem(newPassword, { email, shopNames });
        if (problem !== undefined) {
          return show(visit, { problem, invalid: 'new-password' });
        }
        const password = form.get('password') ?? '';
        const guess = { ...visitorIn(visit), by: actorOf(visit), email, password };
        const result = await changePassword(parts.accounts, guess, newPassword);
        if (result.kind === 'right') {
          mailChange(parts, email);
          return redirect('/app/account?done=password', cookies.signIn(result));
        }
        return show(visit, {
          invalid: 'password',
          ...explainRefusal(result, 'The current password is incorrect. Check it, then try again.'),
        });
      },
    }),
    ...sessionPages(parts),
    ownerPage('/app/theme', {
      isBeforeFactor: true,
      acts: [],
      submit: async (_, form) =>
        redirect(returnPath(form.get('next')), [
          cookies.theme(parseTheme(form.get('theme') ?? undefined)),
        ]),
    }),
  ];
}

const notices: ReadonlyMap<string | null, string> = new Map([
  ['name', 'Name saved.'],
  ['password', 'Password changed. You are signed out everywhere else.'],
  ['session', 'Session ended.'],
  ['others', 'You are signed out everywhere else.'],
  ['left', 'You left the shop.'],
]);

function nameSection(visit: OwnerVisit, isInvalid: boolean): Html {
  const { email, name } = visit.session;
  return postForm(
    visit,
    '/app/account/name',
    html`<h2>You</h2>
      <p>You sign in as ${email}.</p>
      ${personNameField(name, isInvalid)}
      <button>Save name</button>`,
  );
}

function passwordSection(visit: OwnerVisit, invalid: Refused['invalid']): Html {
  return postForm(
    visit,
    '/app/account/password',
    html`<h2>Password</h2>
      ${usernameField(visit.session.email)}
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
      <span class="hint">This signs you out everywhere else.</span>`,
  );
}

function factorsSection({ session }: OwnerVisit): Html {
  return html`<section class="card">
    <h2>Second factor</h2>
    <p>
      ${
        session.hasFactor
          ? 'A second factor protects your account.'
          : 'Your password alone signs you in. Add a passkey or an authenticator app.'
      }
    </p>
    <p><a class="button plain" href="${factorsPath}">Manage</a></p>
  </section>`;
}
