import { type Html, html } from '../../http/html.ts';
import type { Shop } from '../../store/shops.ts';
import { type PageInfo, type Site, addressOf } from '../site.ts';
import { icons } from './icons.ts';

type Linked = PageInfo & Required<Pick<PageInfo, 'navigation'>>;

/**
 * The links beside every page. On phones, a bar at the bottom has a few of them, and opens the rest as a popover,
 * which takes no script.
 * @param current the page of the navigation that is shown, or that the page shown belongs to
 * @param shop undefined on pages of no shop
 */
export function navigation(
  site: Site,
  current: PageInfo | undefined,
  shop: Pick<Shop, 'id'> | undefined,
): Html {
  const linked = site.filter((page): page is Linked => page.navigation !== undefined);
  const ofShop = shop ? linked.filter(({ right }) => right === 'shop') : [];
  const own = linked.filter(
    ({ right, path }) => right === 'owner' && !(shop && path === shopsPath),
  );
  const inBar = shop ? ofShop.filter(({ navigation: { isInBar } }) => isInBar) : own;
  const items = (pages: readonly Linked[]) => pages.map((each) => item(each, shop, current));
  const groups = [...Map.groupBy(ofShop, (each) => each.navigation.group)].map(
    ([heading, pages]) =>
      html`${heading && html`<p>${heading}</p>`}
        <ul>
          ${items(pages)}
        </ul>`,
  );
  const isInMore = current !== undefined && !inBar.some((each) => each === current);
  return html`<nav aria-label="Main">
    <div class="side" id="menu" popover>
      ${groups}
      <ul class="own">
        ${items(own)}
      </ul>
    </div>
    <ul class="bar">
      ${items(inBar)} ${shop && more(isInMore)}
    </ul>
  </nav>`;
}

/** An owner of one shop has no use for it. */
const shopsPath = '/app/shops';

function more(isCurrent: boolean): Html {
  return html`<li>
    <button type="button" popovertarget="menu" ${isCurrent && html`class="current"`}>
      ${icons.more}<span>More</span>
    </button>
  </li>`;
}

function item(
  page: Linked,
  shop: Pick<Shop, 'id'> | undefined,
  current: PageInfo | undefined,
): Html {
  return html`<li>
    <a href="${addressOf(page, shop)}" ${page === current && html`aria-current="page"`}
      >${icons[page.navigation.icon]}<span>${page.label}</span></a
    >
  </li>`;
}
