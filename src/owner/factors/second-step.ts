import { requestOptions, creationOptions, verifyUse } from '../../accounts/factors/passkeys.ts';
import {
  type Waiting,
  completeSignIn,
  hashOfWaiting,
  stepMinutes,
} from '../../accounts/factors/second-step.ts';
import { findByLink } from '../../accounts/links.ts';
import { TooBusy } from '../../accounts/password-queue.ts';
import { type SignInSecrets, beginSession } from '../../accounts/sessions.ts';
import { type Answer, notFoundForPrograms, privateJson } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { appendForOwner } from '../../store/owners/audit.ts';
import { type WaitingOwner, findWaitingOwner, listFactors } from '../../store/owners/factors.ts';
import { findOwner } from '../../store/owners/owners.ts';
import { createCookies } from '../cookies.ts';
import { type OwnerPage, type OwnerParts, publicPage, ownerPage } from '../pages.ts';
import type { Visit } from '../site.ts';
import { notice } from '../ui/elements.ts';
import { hiddenFields, postForm } from '../ui/fields.ts';
import { page, redirect, returnPath } from '../ui/page.ts';
import { visitorIn } from '../account/visitor.ts';
import { browserOf, checkGiven, explainProof, factorFields, createStepUp } from './proof.ts';

const secondStepPath = '/app/sign-in/second-step';
export const passkeySignInPath = '/app/sign-in/passkey';

/** What the first step was, if that is more than signing in. */
const notices: ReadonlyMap<string | null, string> = new Map([
  ['password', 'Your new password is set.'],
  ['invitation', 'You join the shop once you have confirmed.'],
]);

/** Signs a browser in, or asks it for the second factor. */
export function arrive(
  cookies: ReturnType<typeof createCookies>,
  result: SignInSecrets | Waiting,
  next: `/app${string}`,
  done?: 'password' | 'invitation',
): Answer {
  const query = new URLSearchParams({ next, ...(done && { done }) });
  return 'waiting' in result
    ? redirect(`${secondStepPath}?${query}`, [cookies.wait(result.waiting)])
    : redirect(next, cookies.signIn(result));
}

/** The second step of signing in, and signing in with a passkey alone. */
export function secondStepPages(parts: OwnerParts): OwnerPage[] {
  const { accounts } = parts;
  const { sql, clock, allowance } = accounts;
  const cookies = createCookies(parts);

  /** The owner whose password this browser has given. */
  async function waitingIn(
    visit: Visit,
  ): Promise<{ readonly owner: WaitingOwner; readonly secret: string } | undefined> {
    const secret = cookies.read(visit.request).secretOf('waiting');
    if (secret === undefined) return undefined;
    const now = new Date(clock.now());
    const find = () => findWaitingOwner(sql, hashOfWaiting(secret), now);
    const owner = await findByLink(accounts, visit.address, find);
    return owner && { owner, secret };
  }

  return [
    publicPage(secondStepPath, {
      acts: ['signed_in', 'owner_added', 'second_factor_failed', 'recovery_code_used'],
      async show(visit) {
        const next = returnPath(visit.query.get('next'));
        if (visit.session) return redirect(next);
        const waiting = await waitingIn(visit);
        return waiting ? secondStepPage(visit, waiting.owner, next) : startAgain(next);
      },
      async submit(visit, form) {
        const next = returnPath(form.get('next'));
        const waiting = await waitingIn(visit);
        if (!waiting) return startAgain(next);
        const { owner, secret } = waiting;
        const from = visitorIn(visit);
        const result = await checkGiven(parts, visit, owner, form, from.by);
        if (result?.kind !== 'right') {
          return secondStepPage(visit, owner, next, explainProof(result, true));
        }
        const secrets = await completeSignIn(accounts, secret, owner, from);
        return secrets ? redirect(next, cookies.signIn(secrets)) : startAgain(next);
      },
    }),
    publicPage(passkeySignInPath, {
      acts: ['signed_in', 'second_factor_failed'],
      async submit(visit, form) {
        const next = returnPath(form.get('next'));
        const browser = browserOf(parts, visit);
        const from = visitorIn(visit);
        const failed = async (ownerId: string) => {
          const what = 'second_factor_failed';
          const act = { at: new Date(clock.now()), by: from.by, target: `owner ${ownerId}` };
          await sql.begin((tx) => appendForOwner(tx, ownerId, { ...act, what, isLimited: true }));
        };
        const used =
          browser && (await verifyUse(accounts, browser, form.get('passkey') ?? '', failed));
        const owner = used && (await findOwner(sql, used.ownerId));
        if (owner && (await accounts.sso.findReplacing(owner.email))) {
          return startAgain(next, 'replaced');
        }
        const secrets =
          owner && (await sql.begin((tx) => beginSession(tx, accounts, owner, from, 'signed_in')));
        return secrets ? redirect(next, cookies.signIn(secrets)) : startAgain(next, 'passkey');
      },
    }),
    publicPage('/app/passkey-challenge', {
      acts: [],
      async submit(visit, form) {
        const browser = browserOf(parts, visit);
        const owner = visit.session ?? (await waitingIn(visit))?.owner;
        const isCreation = form.get('use') === 'create';
        if (!browser || (isCreation && !visit.session)) return notFoundForPrograms();
        if (!owner) {
          // Each is a row until it expires.
          if (allowance.isUsedUp(visit.address)) throw new TooBusy();
          allowance.charge(visit.address);
        }
        const known = owner ? await listFactors(sql, owner.ownerId) : [];
        const options =
          isCreation && owner
            ? await creationOptions(accounts, browser, owner, known)
            : await requestOptions(accounts, browser, known);
        return { status: 200, headers: privateJson, body: JSON.stringify(options) };
      },
    }),
  ];

  async function secondStepPage(
    visit: Visit,
    owner: WaitingOwner,
    next: string,
    refusal?: ReturnType<typeof explainProof>,
  ): Promise<Answer> {
    const fields = await factorFields(parts, visit, owner, refusal?.status === 422);
    const content = html`${notice(notices.get(visit.query.get('done')))}
      ${postForm(
        visit,
        secondStepPath,
        html`<p>
            Confirm with a second factor within ${stepMinutes} minutes, and you are signed in.
          </p>
          ${hiddenFields([['next', next]])} ${fields}`,
        'card narrow',
      )}
      <p class="quiet">
        All of them lost? Ask the operator of this service to remove them.
        <a href="/app/sign-in">Back to signing in</a>
      </p>`;
    return page(visit, {
      title: 'Second factor',
      content,
      assets: ['passkeys'],
      ...refusal,
    });
  }
}

/** Back to the sign-in page, which says why. */
function startAgain(next: string, failed = 'second-step'): Answer {
  return redirect(`/app/sign-in?${new URLSearchParams({ next, failed })}`);
}

/** Where pages that need a recent proof of who the visitor is send them. */
export function confirmPages(parts: OwnerParts): OwnerPage[] {
  const stepUp = createStepUp(parts);
  return [
    ownerPage('/app/confirm', {
      isBeforeFactor: true,
      acts: ['second_factor_failed', 'recovery_code_used', 'sign_in_failed', 'sign_in_locked'],
      async show(visit) {
        const next = returnPath(visit.query.get('next'));
        return stepUp.isRecent(visit.session) ? redirect(next) : stepUp.show(visit, next);
      },
      async submit(visit, form) {
        const next = returnPath(form.get('next'));
        const result = await stepUp.check(visit, form);
        if (result?.kind !== 'right') return stepUp.show(visit, next, result);
        const [path = ''] = next.split('?');
        if (!path.endsWith('.csv')) return redirect(next);
        // A file opens no page: this one would stay, and ask again.
        const content = html`<p><a class="button" href="${next}">Download the file</a></p>
          <p class="quiet"><a href="/app">Go to your shops</a></p>`;
        return page(visit, { title: 'Confirmed', content });
      },
    }),
  ];
}
