import { visitor } from '../../acts.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { PasswordQueue } from '../../accounts/password-queue.ts';
import { fingerprint } from '../../accounts/sessions.ts';
import { normaliseEmail } from '../../accounts/sign-in.ts';
import { SsoRefused, authorizationAddress, identify, readState } from '../../accounts/sso/flow.ts';
import type { Provider, Providers } from '../../accounts/sso/providers.ts';
import { appendSsoRefusal, signInBySso } from '../../accounts/sso/sign-in.ts';
import { deleteSession } from '../../store/owners/sign-in.ts';
import { mailChange } from '../account/forgotten.ts';
import { removedLetter } from '../account/letters.ts';
import { visitorIn } from '../account/visitor.ts';
import { createCookies } from '../cookies.ts';
import { arrive } from '../factors/second-step.ts';
import { type OwnerPage, type OwnerParts, publicPage } from '../pages.ts';
import type { Visit } from '../site.ts';
import { callbackPath, ssoBase, ssoPath } from './paths.ts';
import { hiddenFields, inputField, postForm } from '../ui/fields.ts';
import { page, pageHeaders, returnPath } from '../ui/page.ts';

/** Codes that are exchanged at once: each is a request to an issuer, and strangers can make them up. */
const exchanges = new PasswordQueue({
  computations: 1,
  turns: 20,
  maxWaiting: 200,
  maxWaitMilliseconds: 20_000,
});

/** Signing in at an OpenID Connect issuer. docs/decisions/0023-signing-in.md */
export function ssoSignInPages(parts: OwnerParts): OwnerPage[] {
  const { accounts, log, clock, baseUrl } = parts;
  const { sso, sql } = accounts;
  const cookies = createCookies(parts);
  const find = async ({ params }: Visit) => {
    const id = params['provider'] ?? '';
    return /^\d{1,15}$/.test(id) ? sso.find(Number(id)) : undefined;
  };
  const browserOf = ({ formSecret }: Visit, { id }: Pick<Provider, 'id'>) => ({
    secret: formSecret,
    redirectUri: baseUrl() + callbackPath(id),
    now: clock.now(),
  });
  const refuse = async (visit: Visit, id: number, error: SsoRefused): Promise<Answer> => {
    const { cause } = error;
    log.warn(
      { provider: id, err: cause instanceof Error ? cause : error },
      'single sign-on refused',
    );
    const reason = cause instanceof Error ? 'an invalid answer' : String(cause);
    await appendSsoRefusal(accounts, id, reason, visitor(visit.network));
    return problemPage(visit, error.message, 403);
  };
  return [
    publicPage(ssoBase, {
      acts: [],
      show: async (visit) => addressPage(visit, returnPath(visit.query.get('next'))),
      async submit(visit, form) {
        const next = returnPath(form.get('next'));
        const email = form.get('email') ?? '';
        const provider = await sso.findFor(normaliseEmail(email));
        return addressPage(visit, next, { email, provider });
      },
    }),
    publicPage(`${ssoBase}/:provider`, {
      async show(visit) {
        const provider = await find(visit);
        if (!provider)
          return problemPage(visit, 'This way to sign in does not exist any longer.', 404);
        const { query } = visit;
        const asked = { next: returnPath(query.get('next')), isFresh: query.get('fresh') === '1' };
        try {
          const browser = browserOf(visit, provider);
          const address = await authorizationAddress(sso, provider, asked, browser);
          return { status: 303, headers: { location: address.href, ...pageHeaders }, body: '' };
        } catch (error) {
          log.warn({ provider: provider.id, err: error }, 'issuer not reached');
          const text = `${provider.name} did not answer, or not as an issuer does. Try again in a minute.`;
          return problemPage(visit, text, 503);
        }
      },
    }),
    publicPage(callbackPath(':provider'), {
      acts: ['signed_in', 'sso_role_given', 'owner_added', 'password_removed', 'sso_refused'],
      async show(visit) {
        const { query, session, address } = visit;
        const provider = await find(visit);
        const from = { secret: visit.formSecret, now: clock.now() };
        const asked = readState(query.get('state') ?? '', from);
        if (!provider || asked?.provider !== provider.id) return problemPage(visit, tooLate, 403);
        using turn = await exchanges.turn({ standing: 'stranger', network: address });
        try {
          const identity = await identify(sso, provider, asked, query, browserOf(visit, provider));
          if (asked.isFresh && session && session.email !== identity.email) {
            const text = `You are signed in as ${session.email}, and were someone else at ${provider.name}.`;
            throw new SsoRefused(text, 'another person');
          }
          const secrets = await signInBySso(accounts, provider, identity, visitorIn(visit));
          if (session) await deleteSession(sql, fingerprint(session.secret));
          turn.succeed();
          if (secrets.hasLostPassword) mailChange(parts, identity.email, removedLetter);
          return arrive(cookies, secrets, returnPath(asked.next));
        } catch (error) {
          if (error instanceof SsoRefused) return refuse(visit, provider.id, error);
          throw error;
        }
      },
    }),
  ];
}

const tooLate =
  'This took more than ten minutes, or was started in another browser. Go back to the sign-in page and start again.';

function problemPage(visit: Visit, text: string, status: number): Answer {
  const content = html`<p><a href="/app/sign-in">Back to signing in</a></p>`;
  return page(visit, { title: 'Not signed in', content, problem: text, status });
}

/** Finds the issuer of an address. It answers with a link, because browsers let no form lead to another site. */
function addressPage(
  visit: Visit,
  next: string,
  asked?: { readonly email: string; readonly provider: Provider | undefined },
): Answer {
  const { email = '', provider } = asked ?? {};
  const isUnknown = asked !== undefined && !provider;
  const content = provider
    ? html`<div class="card narrow">
        <p>You continue at ${provider.name}.</p>
        ${continueLink(provider, next)}
      </div>`
    : postForm(
        visit,
        ssoBase,
        html`${hiddenFields([['next', next]])}
          ${inputField(
            { id: 'email', label: 'Email', value: email, isInvalid: isUnknown },
            html`type="email" autocomplete="username" required maxlength="254"`,
          )} <button>Continue</button>`,
        'card narrow',
      );
  return page(visit, {
    title: 'Single sign-on',
    content: html`${content}
      <p class="quiet"><a href="/app/sign-in">Back to signing in</a></p>`,
    problem: isUnknown
      ? 'No single sign-on is set up for this address. Sign in with your password.'
      : undefined,
  });
}

/** The ways to sign in by an issuer that the sign-in page offers. */
export function ssoChoices({ ofInstallation, canStore }: Providers, next: string): Html {
  return html`${ofInstallation && continueLink(ofInstallation, next)}
  ${
    canStore &&
    html`<p class="quiet">
      <a href="${`${ssoBase}?${new URLSearchParams({ next })}`}">Sign in with single sign-on</a>
    </p>`
  }`;
}

export function continueLink({ id, name }: Pick<Provider, 'id' | 'name'>, next: string): Html {
  return html`<p><a class="button" href="${ssoPath(id, next)}">Sign in with ${name}</a></p>`;
}
