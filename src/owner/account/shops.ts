import { may, roleNames } from '../../accounts/rights.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { type OwnerPage, ownerPage } from '../pages.ts';
import { type MemberShop, type Visit, shopPath } from '../site.ts';
import { hiddenRest } from '../ui/elements.ts';
import { tierNames } from '../ui/labels.ts';
import { avatar, page, redirect } from '../ui/page.ts';
import { hiddenHead, plainTable } from '../ui/table.ts';

/** Where an owner with several shops chooses one; an only shop opens at once. */
export const shopChoicePages: readonly OwnerPage[] = [
  ownerPage('/app', {
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
    show: async (visit) => shopsPage(visit, visit.shops),
  }),
];

/** Lets an owner choose between several shops. */
function shopsPage(visit: Visit, shops: readonly MemberShop[]): Answer {
  const content =
    shops.length === 0
      ? html`<p>
          You do not have access to any shop. Ask an owner of the shop, or the operator of this
          service, for an invitation.
        </p>`
      : html`<ul class="card shops">
          ${shops.map(
            (shop) =>
              html`<li>
                <a href="${shopPath(shop)}"
                  >${avatar(shop)} <span class="name">${shop.name}</span>
                  <span class="tier">${tierNames[shop.tier]}</span></a
                >
              </li>`,
          )}
        </ul>`;
  return page(visit, { title: 'Your shops', content });
}

/** The owner's role in each of their shops, with links to its mail and to leaving it. */
export function shopsSection(shops: readonly MemberShop[]): Html {
  return html`<section>
    <h2 id="shops">Your shops</h2>
    ${plainTable(
      shops,
      [
        ['Shop', (shop) => html`<a href="${shopPath(shop)}">${shop.name}</a>`, 'head'],
        ['Your role', ({ role }) => roleNames[role]],
        [
          'Digest and alerts',
          (shop) =>
            may(shop.role, 'figures') &&
            html`<a href="${shopPath(shop, '/notifications')}"
              >Email${hiddenRest(`of ${shop.name}`)}</a
            >`,
        ],
        [
          hiddenHead('Actions'),
          (shop) => html`<a href="${shopPath(shop, '/leave')}">Leave${hiddenRest(shop.name)}</a>`,
          'state',
        ],
      ],
      { labelledBy: 'shops' },
    )}
  </section>`;
}
