import { type Html, html } from '../../../http/html.ts';
import { icons } from './icons.ts';

export interface NavigationLink {
  readonly href: string;
  readonly label: string;
}

/** The pages of a shop by group, in the order of the navigation. */
const groups = [
  { names: ['overview'] },
  { heading: 'Insights', names: ['churn', 'cohorts', 'revenue', 'recovery', 'cancelFlow'] },
  { heading: 'Data', names: ['subscriptions', 'sources'] },
  { heading: 'Integrate', names: ['keys'] },
] as const;
/** In the bottom bar of phones. */
const mostUsed: readonly string[] = ['overview', 'churn', 'revenue', 'subscriptions'];

const others: Readonly<Record<'shops' | 'account', NavigationLink>> = {
  shops: { href: '/app/shops', label: 'Your shops' },
  account: { href: '/app/account', label: 'Account' },
};

/**
 * The links beside every page. On phones, a bar at the bottom has a few of them, and opens the rest as a popover,
 * which takes no script.
 * @param pages of the shop, if the page is about one
 */
export function navigation(
  pages: Readonly<Record<string, NavigationLink>>,
  current: string | undefined,
): Html {
  const links: Readonly<Record<string, NavigationLink>> = { ...pages, ...others };
  const items = (names: readonly string[]) =>
    names.flatMap((name) => {
      const link = links[name];
      return link ? [item(name, link, name === current)] : [];
    });
  const hasShop = Object.keys(pages).length > 0;
  const shown = hasShop ? mostUsed : ['shops', 'account'];
  const isInMore = current !== undefined && current in links && !shown.includes(current);
  const lists = groups.map((group) => {
    const found = items(group.names);
    if (found.length === 0) return html``;
    return html`${'heading' in group ? html`<p>${group.heading}</p>` : undefined}
      <ul>
        ${found}
      </ul>`;
  });
  return html`<nav aria-label="Main">
    <div class="side" id="menu" popover>
      ${lists}
      <ul class="own">
        ${items(hasShop ? ['account'] : ['shops', 'account'])}
      </ul>
    </div>
    <ul class="bar">
      ${items(shown)} ${hasShop ? more(isInMore) : undefined}
    </ul>
  </nav>`;
}

function more(isCurrent: boolean): Html {
  return html`<li>
    <button type="button" popovertarget="menu" ${isCurrent ? html`class="current"` : undefined}>
      ${icons.more}<span>More</span>
    </button>
  </li>`;
}

function item(name: string, { href, label }: NavigationLink, isCurrent: boolean): Html {
  return html`<li>
    <a href="${href}" ${isCurrent ? html`aria-current="page"` : undefined}
      >${icons[name as keyof typeof icons]}<span>${label}</span></a
    >
  </li>`;
}
