import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { Visit } from '../site.ts';
import { notice } from '../ui/elements.ts';
import { hiddenFields, inputField, passwordField, postForm } from '../ui/fields.ts';
import { type Refused, signIn } from '../../accounts/sign-in.ts';
import { endSession } from '../../accounts/sessions.ts';
import { ssoChoices } from '../sso/sign-in.ts';
import { createCookies } from '../cookies.ts';
import { type OwnerPage, type OwnerParts, actorOf, ownerPage, publicPage } from '../pages.ts';
import { page, redirect, returnPath } from '../ui/page.ts';
import { partyOf, passkeyButton } from '../factors/proof.ts';
import { arrive, passkeySignInPath } from '../factors/second-step.ts';
import { explainRefusal } from './refused.ts';
import { visitorIn } from './visitor.ts';

export function signInPages(parts: OwnerParts): OwnerPage[] {
  const { accounts } = parts;
  const cookies = createCookies(parts);
  return [
    publicPage('/app/sign-in', {
      acts: ['signed_in', 'sign_in_failed', 'sign_in_locked', 'unknown_sign_in_failed'],
      async show(visit) {
        const next = returnPath(visit.query.get('next'));
        return visit.session ? redirect(next) : signInPage(parts, visit, next);
      },
      async submit(visit, form) {
        const email = form.get('email') ?? '';
        const password = form.get('password') ?? '';
        const next = returnPath(form.get('next'));
        const result = await signIn(accounts, { ...visitorIn(visit), email, password });
        return result.kind === 'right'
          ? arrive(cookies, result, next)
          : signInPage(parts, visit, next, email, result);
      },
    }),
    ownerPage('/app/sign-out', {
      isBeforeFactor: true,
      acts: ['signed_out'],
      async submit(visit) {
        await endSession(accounts, visit.session, actorOf(visit));
        return redirect('/app/sign-in?done=signed-out', cookies.signOut());
      },
    }),
  ];
}

const notices: ReadonlyMap<string | null, string> = new Map([
  ['signed-out', 'You are signed out.'],
  ['signed-out-everywhere', 'You are signed out everywhere.'],
  ['left', 'You left your only shop, and your account is deleted.'],
]);

const failures: ReadonlyMap<string | null, string> = new Map([
  ['second-step', 'The second step took too long. Sign in again.'],
  ['replaced', 'Single sign-on has replaced passkeys for your address. Sign in with it.'],
  [
    'passkey',
    'This passkey does not sign you in here. Use another one, or your email and password.',
  ],
]);

const incorrectSignIn = 'Incorrect email or password. Check both, then try again.';

/** What the service is, for those who do not know it. */
const aboutService = html`<section class="about">
  <p class="answer">See which subscribers stay, who leaves, and why.</p>
  <ul>
    <li>Better or worse, in money, with what explains most of it</li>
    <li>Who can be kept or won back today, a click from every figure</li>
    <li>The same figures for your programs and agents, by REST and MCP</li>
  </ul>
</section>`;

/** @param next the page to open after signing in */
function signInPage(
  parts: OwnerParts,
  visit: Visit,
  next: string,
  email = '',
  refused?: Refused,
): Answer {
  const { sso } = parts.accounts;
  const party = partyOf(visit.request, parts);
  const refusal = refused && explainRefusal(refused, incorrectSignIn);
  const isWrong = refused?.kind === 'wrong';
  const content = html`
    ${!refused && notice(notices.get(visit.query.get('done')))}
    ${sso.isOnlyWay ? ssoChoices(sso, next) : ownWays()}
    <p class="quiet">
      ${
        sso.isOnlyWay
          ? 'Passwords and passkeys are off here. If single sign-on fails, the operator of this service can make you a link that works once.'
          : html`${typeof party === 'string' && party}
              <a href="/app/forgot-password">Forgot your password?</a>`
      }
      No account yet? Ask an owner of your shop, or the operator of this service, for an invitation.
    </p>
    ${!sso.isOnlyWay && ssoChoices(sso, next)} ${aboutService}
  `;
  return page(visit, {
    title: 'Sign in',
    content,
    assets: ['passkeys'],
    problem: failures.get(visit.query.get('failed')),
    // What failed is of another page, which redirected here.
    status: 200,
    ...refusal,
  });
  /** Password and passkey. */
  function ownWays(): Html {
    return html`${postForm(
      visit,
      '/app/sign-in',
      html`${hiddenFields([['next', next]])}
        ${inputField(
          { id: 'email', label: 'Email', value: email, isInvalid: isWrong, getsFocus: false },
          html`type="email" autocomplete="username" required`,
        )}
        ${passwordField({ id: 'password', label: 'Password', isInvalid: isWrong }, 'current-password')}
        <button>Sign in</button>`,
      'card narrow',
    )}
    ${
      typeof party === 'object' &&
      postForm(
        visit,
        passkeySignInPath,
        html`${hiddenFields([['next', next]])}
        ${passkeyButton('get', 'Sign in with a passkey', 'passkey')}`,
        'card narrow',
      )
    }`;
  }
}
