import type { Shop } from '../store/shops.ts';
import type { icons } from './ui/navigation/icons.ts';

/** Who may open a page: anyone, owners who are signed in, or the owners of the shop in its address. */
export type Right = 'anyone' | 'owner' | 'shop';

/** What the registry says of a page: who may open it, and how owners find it. */
export interface PageInfo {
  readonly right: Right;
  /** Below that of the shop, for a page of a shop. A parameter is written `:name`. */
  readonly path: string;
  /** Its name in the navigation and in the search, which finds only pages with one. */
  readonly label?: string;
  /** More words that the search finds it by. */
  readonly hint?: string;
  /** Its place in the navigation. */
  readonly navigation?: {
    readonly group?: 'Insights' | 'Data' | 'Integrate';
    readonly icon: keyof typeof icons;
    /** Whether it is in the bottom bar of phones. */
    readonly isInBar?: boolean;
  };
  /** The page of the navigation that its breadcrumb leads to. */
  readonly parent?: string;
  /** The page of the navigation that it belongs to, if it has no breadcrumb. */
  readonly section?: string;
}

/** All pages, in the order of the navigation and the search. */
export type Site = readonly PageInfo[];

/** The page of the navigation that a page belongs to. */
export function sectionOf(site: Site, page: PageInfo | undefined): PageInfo | undefined {
  const path = page && (page.parent ?? page.section ?? page.path);
  return site.find((each) => each.navigation && each.path === path);
}

/** @param shop undefined on pages of no shop, which lead to none of a shop */
export function addressOf(page: PageInfo, shop: Pick<Shop, 'id'> | undefined): `/app${string}` {
  return page.right === 'shop' ? `/app/shops/${shop?.id}${page.path}` : (page.path as '/app');
}
