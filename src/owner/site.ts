import { posix } from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { Act } from '../acts.ts';
import type { Shop } from '../store/shops.ts';
import type { IconName } from './ui/icons.ts';
import type { OwnerSession } from '../accounts/sessions.ts';
import type { Theme } from './cookies.ts';
import { type ShopRight, may } from '../accounts/rights.ts';
import type { Membership } from '../store/owners/owners.ts';

/** Who may open a page: anyone, people who are signed in, or members with a right in the shop in its address. */
export type Right = 'anyone' | 'account' | ShopRight;

/** What the registry says of a page: who may open it, and how owners find it. */
export interface PageInfo {
  readonly right: Right;
  /** What its form asks for, if that is more than the page does. */
  readonly submitRight?: ShopRight;
  /** What needs a recent proof of who the visitor is: everything, or its form only. */
  readonly stepUp?: 'open' | 'form';
  /** Whether its form asks for the password, which is proof enough of an owner without a second factor. */
  readonly asksPassword?: boolean;
  /** The fields of its form with passwords, codes and the like, which no page repeats. */
  readonly secrets?: readonly string[];
  /** Whether it opens before the second factor that a session, or a shop, lacks. */
  readonly isBeforeFactor?: boolean;
  /** What it enters in the audit log: its form, or else itself; required of a page with a form. */
  readonly acts?: readonly Act[];
  /** Below that of the shop, for a page of a shop. A parameter is written `:name`. */
  readonly path: string;
  /** Its name in the navigation and in the search, which finds only pages with one. */
  readonly label?: string;
  /** More words that the search finds it by. */
  readonly hint?: string;
  /** Its place in the navigation. */
  readonly navigation?: {
    readonly group: 'Insights' | 'Data' | 'Integrate';
    readonly icon: IconName;
    /** Whether it is in the bottom bar of phones. */
    readonly isInBar?: boolean;
  };
  /** The page that its breadcrumb leads to. */
  readonly parent?: string;
  /** The page that it belongs to, if it has no breadcrumb. */
  readonly section?: string;
}

export type ShopPageInfo = PageInfo & { readonly right: ShopRight };

/** A shop, with the role that the visitor has in it, and what it demands of members. */
export type MemberShop = Shop & Pick<Membership, 'role' | 'requiresSecondFactor'>;

/** All pages, in the order of the navigation and the search. */
export type Site = readonly PageInfo[];

/** The page that a page belongs to, of those with a name. */
export function sectionOf(site: Site, page: PageInfo | undefined): PageInfo | undefined {
  const path = page && (page.parent ?? page.section ?? page.path);
  return site.find((each) => each.label !== undefined && each.path === path);
}

export function isOfShop<Page extends PageInfo>(page: Page): page is Page & ShopPageInfo {
  return page.right !== 'anyone' && page.right !== 'account';
}

/** Whether the visitor's role opens the page at an address below that of a shop. */
export function opens(
  { site, shop: { role } }: { readonly site: Site; readonly shop: Pick<MemberShop, 'role'> },
  address: string,
): boolean {
  const [path = ''] = address.split(/[?#]/);
  const page = site
    .filter(isOfShop)
    .find((each) => new RegExp(`^${each.path.replace(/:\w+/g, '[^/]+')}$`).test(path));
  return page !== undefined && may(role, page.right);
}

/** An address of these pages. */
export type Path = `/app${string}`;

export function shopPath({ id }: Pick<Shop, 'id'>, rest = ''): Path {
  return `/app/shops/${id}${rest}`;
}

/** @param shop undefined on pages of no shop, which lead to none of a shop */
export function addressOf(page: PageInfo, shop: Pick<Shop, 'id'> | undefined): Path {
  return isOfShop(page) ? `/app/shops/${shop?.id}${page.path}` : (page.path as '/app');
}

/** A page request, and what is known about the visitor. */
export interface Visit {
  readonly request: FastifyRequest;
  /** All pages, and the one that is visited; undefined for an address without one. */
  readonly site: Site;
  readonly page: PageInfo | undefined;
  /** The parameters in the route's path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly session: OwnerSession | undefined;
  /** The shops of the signed-in owner, on pages for owners. */
  readonly shops?: readonly MemberShop[];
  /** The secret that the CSRF token is derived from. */
  readonly formSecret: string;
  /** The client's network, by which sign-in attempts are counted. */
  readonly address: string;
  /** As much of it as the audit log has; null if it is unknown. */
  readonly network: string | null;
  /** The device cookie: an unverified claim that an owner has signed in with this browser before. */
  readonly device: string | undefined;
  readonly theme: Theme;
}

/** A path as a link of the visited page can have it, which is shorter: a list has hundreds. */
export function fromPage({ request }: Pick<Visit, 'request'>, path: string): string {
  const [own = ''] = request.url.split('?');
  return posix.relative(posix.dirname(own), path);
}
