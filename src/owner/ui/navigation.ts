import { type Html, html } from '../../http/html.ts';
import { may } from '../../accounts/rights.ts';
import type { Shop } from '../../store/shops.ts';
import { type MemberShop, type PageInfo, type Site, addressOf, isOfShop } from '../site.ts';
import { icon } from './icons.ts';

type Linked = PageInfo & Required<Pick<PageInfo, 'navigation'>>;

/**
 * The links beside every page of a shop. On phones, a bar at the bottom has a few of them, and opens the rest as a
 * popover, which takes no script.
 * @param current the page that is shown, or that the page shown belongs to
 */
export function navigation(
  site: Site,
  current: PageInfo | undefined,
  shop: Pick<MemberShop, 'id' | 'role'>,
): Html {
  const linked = site.filter(
    (page): page is Linked =>
      page.navigation !== undefined && isOfShop(page) && may(shop.role, page.right),
  );
  const inBar = linked.filter(({ navigation: { isInBar } }) => isInBar);
  const items = (pages: readonly Linked[]) => pages.map((each) => item(each, shop, current));
  const groups = [...Map.groupBy(linked, (each) => each.navigation.group)].map(
    ([heading, pages]) =>
      html`<p>${heading}</p>
        <ul>
          ${items(pages)}
        </ul>`,
  );
  const isInMore = linked.some((each) => each === current && !each.navigation.isInBar);
  return html`<nav aria-label="Main">
    <div class="side" id="menu" popover>${groups}</div>
    <ul class="bar">
      ${items(inBar)} ${more(isInMore)}
    </ul>
  </nav>`;
}

function more(isCurrent: boolean): Html {
  return html`<li>
    <button type="button" popovertarget="menu" ${isCurrent && html`class="current"`}>
      ${icon('more')}<span>More</span>
    </button>
  </li>`;
}

function item(page: Linked, shop: Pick<Shop, 'id'>, current: PageInfo | undefined): Html {
  const at = html`href="${addressOf(page, shop)}"${page === current && html` aria-current="page"`}`;
  const shown = html`${icon(page.navigation.icon)}<span>${page.label}</span>`;
  return html`<li><a ${at}>${shown}</a></li>`;
}
