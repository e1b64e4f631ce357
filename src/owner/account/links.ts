import { visitor } from '../../acts.ts';
import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import type { OwnerLink } from '../../store/owners/owners.ts';
import { page, redirect } from '../ui/page.ts';
import { asksForPassword, followLink, openLink } from '../../accounts/links.ts';
import { passwordLength, passwordProblem } from '../../accounts/passwords.ts';
import type { Visit } from '../site.ts';
import { alert } from '../ui/elements.ts';
import { passwordField, postForm, usernameField } from '../ui/fields.ts';
import { findShop } from '../../store/shops.ts';
import { createCookies } from '../cookies.ts';
import { type OwnerPage, type OwnerParts, listShopsOf, publicPage } from '../pages.ts';
import { forgottenPath, mailChange } from './forgotten.ts';
import { explainRefusal } from './sign-in.ts';

interface Opened {
  readonly secret: string;
  readonly link: OwnerLink;
  /** Undefined for a link that resets a password. */
  readonly shopName: string | undefined;
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
    return shop && { secret, link, shopName: shop.name };
  };
  const contextOf = async ({ link, shopName = '' }: Opened) => {
    const shops = await listShopsOf(store, link.ownerId);
    return { email: link.email, shopNames: [shopName, ...shops.map(({ name }) => name)] };
  };
  return [
    publicPage('/app/links/:secret', {
      async show(visit) {
        const opened = await open(visit);
        return opened ? linkPage(visit, opened) : invalidLinkPage(visit);
      },
      async submit(visit, form) {
        const opened = await open(visit);
        if (!opened) return invalidLinkPage(visit);
        const { link } = opened;
        const password = form.get('password') ?? '';
        if (!asksForPassword(link)) {
          const problem = await passwordProblem(password, await contextOf(opened));
          if (problem !== undefined) return linkPage(visit, { ...opened, problem, status: 422 });
        }

        const { address, network, device } = visit;
        const given = { password, address, by: visitor(network), device };
        const result = await followLink(accounts, opened, given);
        if (result.kind === 'ended') return invalidLinkPage(visit);
        if (result.kind === 'done') {
          if (link.shopId === null) mailChange(parts, link.email);
          return redirect('/app', cookies.signIn(result));
        }
        return linkPage(visit, {
          ...opened,
          ...explainRefusal(result, 'Incorrect password. Check it, then try again.'),
        });
      },
    }),
  ];
}

export const newPasswordHint = `At least ${passwordLength.min} characters. A phrase of several words works well.`;

interface LinkPage {
  readonly link: OwnerLink;
  readonly shopName: string | undefined;
  readonly problem?: string | undefined;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function linkPage(visit: Visit, { link, shopName, problem, status, headers }: LinkPage): Answer {
  const isKnown = asksForPassword(link);
  const isInvalid = problem !== undefined;
  const lead =
    shopName === undefined
      ? html`Choose a new password for <strong>${link.email}</strong>. This signs you out everywhere
          else.`
      : html`You have been invited to <strong>${shopName}</strong> as
          <strong>${link.email}</strong>.
          ${isKnown ? 'Enter your password to accept.' : 'Choose a password to accept.'}`;
  const content = html`
    ${alert(problem)}
    ${postForm(
      visit,
      undefined,
      html`<p>${lead}</p>
        ${usernameField(link.email)}
        ${
          isKnown
            ? passwordField({ id: 'password', label: 'Password', isInvalid }, 'current-password')
            : passwordField(
                { id: 'password', label: 'New password', hint: newPasswordHint, isInvalid },
                'new-password',
              )
        }
        <button>${shopName === undefined ? 'Set password' : 'Accept invitation'}</button>`,
      'card narrow',
    )}
  `;
  const title = shopName === undefined ? 'New password' : 'Invitation';
  return page(visit, { title, content, status, headers });
}

/** The same page for an unknown, used or expired link, so that it reveals nothing. */
function invalidLinkPage(visit: Visit): Answer {
  const content = html`<p>
      It has expired, has already been used, or is incomplete. Ask the operator of this service for
      a new one.
    </p>
    <p>
      <a href="${forgottenPath}">Forgot your password?</a> · <a href="/app">Go to your shops</a>
    </p>`;
  return page(visit, { title: 'This link does not work', content, status: 404 });
}
