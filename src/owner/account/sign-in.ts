import { visitor } from '../../acts.ts';
import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { page } from '../ui/page.ts';
import type { Refused } from '../../accounts/sign-in.ts';
import type { Visit } from '../site.ts';
import { alert, notice } from '../ui/elements.ts';
import { hiddenFields, inputField, passwordField, postForm } from '../ui/fields.ts';
import { signIn } from '../../accounts/sign-in.ts';
import { type Accounts, endSession } from '../../accounts/sessions.ts';
import { ssoChoices } from '../sso/sign-in.ts';
import { createCookies } from '../cookies.ts';
import { type OwnerPage, type OwnerParts, actorOf, ownerPage, publicPage } from '../pages.ts';
import { redirect, returnPath } from '../ui/page.ts';

export function signInPages(parts: OwnerParts): OwnerPage[] {
  const { accounts } = parts;
  const { sso } = accounts;
  const cookies = createCookies(parts);
  return [
    publicPage('/app/sign-in', {
      acts: ['signed_in', 'sign_in_failed', 'sign_in_locked', 'unknown_sign_in_failed'],
      async show(visit) {
        const next = returnPath(visit.query.get('next'));
        return visit.session ? redirect(next) : signInPage(visit, { next, sso });
      },
      async submit(visit, form) {
        const email = form.get('email') ?? '';
        const password = form.get('password') ?? '';
        const { address, network, device } = visit;
        const by = visitor(network);
        const next = returnPath(form.get('next'));
        const result = await signIn(accounts, { email, password, address, by, device });
        if (result.kind !== 'right') {
          return signInPage(visit, { next, sso, refused: result, email });
        }
        return redirect(next, cookies.signIn(result));
      },
    }),
    ownerPage('/app/sign-out', {
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
]);

interface Refusal {
  readonly problem: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param incorrect the message for an incorrect password */
export function explainRefusal(refused: Refused, incorrect: string): Refusal {
  if (refused.kind === 'wrong') return { problem: incorrect, status: 422 };
  if (refused.kind === 'replaced') {
    return { problem: 'Single sign-on has replaced your password. Sign in with it.', status: 422 };
  }
  const { waitSeconds } = refused;
  return {
    problem: `Too many incorrect passwords. Try again in ${formatWait(waitSeconds)}, or ask the operator of this service for a link to reset your password.`,
    status: 429,
    headers: { 'retry-after': String(waitSeconds) },
  };
}

export function formatWait(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

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

interface SignInPage {
  readonly sso: Accounts['sso'];
  /** The page to open after signing in. */
  readonly next: string;
  readonly refused?: Refused;
  readonly email?: string;
}

function signInPage(visit: Visit, { next, sso, refused, email = '' }: SignInPage): Answer {
  const refusal = refused && explainRefusal(refused, incorrectSignIn);
  const isWrong = refused?.kind === 'wrong';
  const content = html`
    ${alert(refusal?.problem)} ${!refused && notice(notices.get(visit.query.get('done')))}
    ${postForm(
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
    <p class="quiet">
      <a href="/app/forgot-password">Forgot your password?</a> No account yet? Ask the operator of
      this service for a link.
    </p>
    ${ssoChoices(sso, next)} ${aboutService}
  `;
  return page(visit, {
    title: 'Sign in',
    content,
    status: refusal?.status,
    headers: refusal?.headers,
  });
}
