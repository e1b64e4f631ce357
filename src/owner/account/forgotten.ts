import { visitor } from '../../acts.ts';
import { admitMail } from '../../accounts/throttle.ts';
import { resetPassword } from '../../accounts/links.ts';
import { isEmail, normaliseEmail } from '../../accounts/sign-in.ts';
import { html } from '../../http/html.ts';
import type { Answer } from '../../http/answer.ts';
import { type OwnerPage, type OwnerParts, publicPage } from '../pages.ts';
import type { Visit } from '../site.ts';
import { notice } from '../ui/elements.ts';
import { inputField, postForm } from '../ui/fields.ts';
import { page, redirect } from '../ui/page.ts';
import { changedLetter, resetLetter } from './letters.ts';
import { type Refusal, formatWait } from './refused.ts';

export const forgottenPath = '/app/forgot-password';
export const emailProblem = 'Enter an email address, such as ana@example.com.';

/**
 * Where owners ask for a link that replaces a forgotten password. Until it has answered, it does the same for every
 * address, so that it does not reveal which ones have accounts. docs/decisions/0023-signing-in.md
 */
export function forgottenPages({ accounts, clock, mailer, outbox, baseUrl }: OwnerParts) {
  const { sql } = accounts;
  return [
    publicPage(forgottenPath, {
      acts: ['reset_link_made'],
      show: async (visit) =>
        mailer() ? formPage(visit, {}) : page(visit, { title, content: askOperator }),
      async submit(visit, form) {
        if (!mailer()) return page(visit, { title, content: askOperator });
        const email = normaliseEmail(form.get('email') ?? '');
        if (!isEmail(email)) {
          return formPage(visit, { email, problem: emailProblem, isInvalid: true });
        }
        const waitSeconds = await admitMail(sql, clock, { email, from: visit.address });
        if (waitSeconds > 0) {
          return formPage(visit, {
            email,
            problem: `Links were asked for too often. Use the last one that came, or try again in ${formatWait(waitSeconds)}.`,
            status: 429,
            headers: { 'retry-after': String(waitSeconds) },
          });
        }
        outbox.post('a forgotten password', async () => {
          if (await accounts.sso.findReplacing(email)) return undefined;
          const link = await resetPassword(sql, clock, email, visitor(visit.network));
          return link && resetLetter(email, baseUrl() + link.path);
        });
        return redirect(`${forgottenPath}?done=sent`);
      },
    }),
  ] satisfies OwnerPage[];
}

/** Tells an owner by mail that their password has changed. */
export function mailChange(
  { outbox, baseUrl }: OwnerParts,
  email: string,
  letter = changedLetter,
): void {
  outbox.post('a changed password', async () => letter(email, baseUrl() + forgottenPath));
}

const title = 'Forgot your password?';

const askOperator = html`<p>
    This service sends no mail. Ask its operator for a link: the command <code>owners reset</code>
    makes one, which works once, for an hour.
  </p>
  <p><a href="/app/sign-in">Back to signing in</a></p>`;

interface FormPage extends Partial<Refusal> {
  readonly email?: string;
  readonly isInvalid?: boolean;
}

function formPage(visit: Visit, parts: FormPage): Answer {
  const { email = '', problem, isInvalid = false, status, headers } = parts;
  const isSent = problem === undefined && visit.query.get('done') === 'sent';
  const content = html`${notice(isSent ? 'If there is an account with this address, a link is on its way to it. It works once, for an hour.' : undefined)}
    ${postForm(
      visit,
      forgottenPath,
      html`<p>We send a link with which you choose a new one.</p>
        ${inputField(
          { id: 'email', label: 'Email', value: email, isInvalid },
          html`type="email" autocomplete="username" required maxlength="254"`,
        )}
        <button>Send link</button>`,
      'card narrow',
    )}
    <p class="quiet">
      ${isSent && 'Nothing came? Look among the unwanted mail, and check the address. '}
      <a href="/app/sign-in">Back to signing in</a>
    </p>`;
  return page(visit, { title, content, problem, status, headers });
}
