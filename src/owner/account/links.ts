import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import type { OwnerLink } from '../../store/owners/owners.ts';
import { page } from '../ui/page.ts';
import { asksForPassword, asksForSignIn, followLink, openLink } from '../../accounts/links.ts';
import { readPersonName } from '../../accounts/sessions.ts';
import { passwordLength, passwordProblem } from '../../accounts/passwords.ts';
import type { Visit } from '../site.ts';
import {
  passwordField,
  personNameField,
  personNameProblem,
  postForm,
  usernameField,
} from '../ui/fields.ts';
import { findShop } from '../../store/shops.ts';
import { createCookies } from '../cookies.ts';
import { type OwnerPage, type OwnerParts, listShopsOf, publicPage } from '../pages.ts';
import { forgottenPath, mailChange } from './forgotten.ts';
import { arrive } from '../factors/second-step.ts';
import { type Refusal, explainRefusal } from './refused.ts';
import { visitorIn } from './visitor.ts';
import type { Provider } from '../../accounts/sso/providers.ts';
import { continueLink } from '../sso/sign-in.ts';

interface Opened {
  readonly secret: string;
  readonly link: OwnerLink;
  /** Undefined for a link that resets a password. */
  readonly shopName: string | undefined;
  /** Where the invited person signs in, and so accepts, if they have no password, or this replaces it. */
  readonly provider?: Provider | undefined;
}

/** One-time links: invitations, and links that reset a password. */
export function linkPages(parts: OwnerParts): OwnerPage[] {
  const { store, accounts } = parts;
  const cookies = createCookies(parts);
  const open = async (visit: Visit): Promise<Opened | undefined> => {
    const secret = visit.params['secret'] ?? '';
    const link = await openLink(accounts, secret, visit.address);
    if (!link) return undefined;
    if (link.shopId === null) return { secret, link, shopName: undefined };
    const shop = await findShop(store.primaryOf(link.shopId).keys, link.shopId);
    const { sso } = accounts;
    const needsSignIn = asksForSignIn(link);
    const provider = await (needsSignIn ? sso.findFor(link.email) : sso.findReplacing(link.email));
    return shop && { secret, link, shopName: shop.name, provider };
  };
  const contextOf = async ({ link, shopName = '' }: Opened) => {
    const shops = await listShopsOf(store, link.ownerId);
    return { email: link.email, shopNames: [shopName, ...shops.map(({ name }) => name)] };
  };
  return [
    publicPage('/app/links/:secret', {
      acts: ['owner_added', 'password_set'],
      async show(visit) {
        const opened = await open(visit);
        return opened ? linkPage(visit, opened) : invalidLinkPage(visit);
      },
      async submit(visit, form) {
        const opened = await open(visit);
        if (!opened) return invalidLinkPage(visit);
        const { link } = opened;
        if (opened.provider || asksForSignIn(link)) return linkPage(visit, opened);
        const password = form.get('password') ?? '';
        const typedName = form.get('name');
        const name = typedName === null ? undefined : readPersonName(typedName);
        if (!asksForPassword(link)) {
          const again = { ...opened, name: typedName };
          if (typedName !== null && name === undefined) {
            return linkPage(visit, { ...again, problem: personNameProblem, invalid: 'name' });
          }
          const problem = await passwordProblem(password, await contextOf(opened));
          if (problem !== undefined) return linkPage(visit, { ...again, problem });
        }

        const given = { ...visitorIn(visit), password, name };
        const result = await followLink(accounts, opened, given);
        if (result.kind === 'ended') return invalidLinkPage(visit);
        if (result.kind === 'done') {
          if (link.shopId === null) mailChange(parts, link.email);
          return arrive(cookies, result, '/app', link.shopId === null ? 'password' : 'invitation');
        }
        return linkPage(visit, { ...opened, ...explainRefusal(result) });
      },
    }),
  ];
}

export const newPasswordHint = `At least ${passwordLength.min} characters. A phrase of several words works well.`;

interface LinkPage extends Opened, Partial<Refusal> {
  /** The field that the problem is about; the password by default. */
  readonly invalid?: 'name' | 'password';
  readonly name?: string | null;
}

function linkPage(visit: Visit, parts: LinkPage): Answer {
  const { link, shopName, provider, problem, invalid = 'password', name, status, headers } = parts;
  const isKnown = asksForPassword(link);
  const needsSignIn = asksForSignIn(link);
  const isInvalid = problem !== undefined && invalid === 'password';
  const lead =
    shopName === undefined
      ? html`Choose a new password for <strong>${link.email}</strong>. This signs you out everywhere
          else.`
      : html`You have been invited to <strong>${shopName}</strong> as
          <strong>${link.email}</strong>, with the role ${link.role}.
          ${provider || needsSignIn ? '' : isKnown ? 'Enter your password to accept.' : 'Choose a password to accept.'}`;
  const content = html`
    ${
      provider || needsSignIn
        ? html`<div class="card narrow">
            <p>${lead}</p>
            ${
              provider
                ? continueLink(provider, '/app')
                : html`<p>
                    You have an account, but no password.
                    <a href="${forgottenPath}">Choose one</a>, then open this link again.
                  </p>`
            }
          </div>`
        : postForm(
            visit,
            undefined,
            html`<p>${lead}</p>
              ${usernameField(link.email)}
              ${shopName !== undefined && !isKnown && personNameField(name, invalid === 'name')}
              ${
                isKnown
                  ? passwordField(
                      { id: 'password', label: 'Password', isInvalid },
                      'current-password',
                    )
                  : passwordField(
                      { id: 'password', label: 'New password', hint: newPasswordHint, isInvalid },
                      'new-password',
                    )
              }
              <button>${shopName === undefined ? 'Set password' : 'Accept invitation'}</button>`,
            'card narrow',
          )
    }
  `;
  const title = shopName === undefined ? 'New password' : 'Invitation';
  return page(visit, { title, content, problem, status, headers });
}

/** The same page for an unknown, used or expired link, so that it reveals nothing. */
function invalidLinkPage(visit: Visit): Answer {
  const content = html`<p>
      It has expired, has already been used, or is incomplete. Ask an owner of your shop, or the
      operator of this service, for a new one.
    </p>
    <p>
      <a href="${forgottenPath}">Forgot your password?</a> · <a href="/app">Go to your shops</a>
    </p>`;
  return page(visit, { title: 'This link does not work', content, status: 404 });
}
