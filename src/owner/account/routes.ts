import { changePassword, signIn } from '../../accounts/sign-in.ts';
import { asksForPassword, followLink, openLink } from '../../accounts/links.ts';
import { passwordProblem } from '../../accounts/password-rules.ts';
import { type OwnerSession, countSessions, endSession } from '../../accounts/sessions.ts';
import type { OwnerLink } from '../../store/owners/owners.ts';
import { deleteSessions } from '../../store/owners/sign-in.ts';
import { findShop } from '../../store/shops.ts';
import {
  type OwnerPage,
  type OwnerParts,
  createCookies,
  listShopsOf,
  ownerPage,
  publicPage,
} from '../pages.ts';
import { redirect, returnPath } from '../ui/answers.ts';
import type { Visit } from '../visit.ts';
import { invalidLinkPage, linkPage } from './link-pages.ts';
import { accountPage } from './pages.ts';
import { shopsPage } from './shop-pages.ts';
import { explainRefusal, signInPage } from './sign-in-pages.ts';

export function signInPages(parts: OwnerParts): OwnerPage[] {
  const { accounts } = parts;
  const cookies = createCookies(parts);
  return [
    publicPage('/app/sign-in', {
      async show(visit) {
        const next = returnPath(visit.query.get('next'));
        return visit.session ? redirect(next) : signInPage(visit, { next });
      },
      async submit(visit, form) {
        const email = form.get('email') ?? '';
        const password = form.get('password') ?? '';
        const { address, device } = visit;
        const next = returnPath(form.get('next'));
        const result = await signIn(accounts, { email, password, address, device });
        if (result.kind !== 'right') return signInPage(visit, { next, refused: result, email });
        return redirect(next, cookies.signIn(result));
      },
    }),
    ownerPage('/app/sign-out', {
      async submit(visit) {
        await endSession(accounts.sql, visit.session);
        return redirect('/app/sign-in?done=signed-out', cookies.signOut());
      },
    }),
  ];
}

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
    const shop = await findShop(store.primary.keys, link.shopId);
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

        const { address, device } = visit;
        const result = await followLink(accounts, opened, { password, address, device });
        if (result.kind === 'ended') return invalidLinkPage(visit);
        if (result.kind === 'done') return redirect('/app', cookies.signIn(result));
        return linkPage(visit, {
          ...opened,
          ...explainRefusal(result, 'Incorrect password. Check it, then try again.'),
        });
      },
    }),
  ];
}

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
      navigation: { icon: 'account' },
      show: async (visit) => accountPage(visit, await accountOf(visit.session)),
    }),
    ownerPage('/app/account/password', {
      section: '/app/account',
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
        const guess = { email, password: form.get('password') ?? '', address, device };
        const result = await changePassword(parts.accounts, guess, newPassword);
        if (result.kind === 'right') {
          return redirect('/app/account?done=password', cookies.signIn(result));
        }
        return accountPage(visit, {
          ...(await accountOf(visit.session)),
          invalid: 'password',
          ...explainRefusal(result, 'The current password is incorrect. Check it, then try again.'),
        });
      },
    }),
    ownerPage('/app/account/sign-out-everywhere', {
      async submit(visit) {
        await deleteSessions(sql, visit.session.ownerId);
        return redirect('/app/sign-in?done=signed-out-everywhere', cookies.signOut());
      },
    }),
  ];
}

/** Where an owner with several shops chooses one; an only shop opens at once. */
export const shopChoicePages: readonly OwnerPage[] = [
  ownerPage('/app', {
    section: '/app/shops',
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
    navigation: { icon: 'shops' },
    show: async (visit) => shopsPage(visit, visit.shops),
  }),
];
