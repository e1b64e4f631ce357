import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import type { Shop } from '../../store/shops.ts';
import { page } from '../ui/answers.ts';
import { avatar, layout, shopPath, tierNames } from '../ui/layout.ts';
import type { Visit } from '../visit.ts';

/** Lets an owner choose between several shops. */
export function shopsPage(visit: Visit, shops: readonly Shop[]): Answer {
  const content =
    shops.length === 0
      ? html`<p>
          You do not have access to any shop. Ask the operator of this service for an invitation.
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
  return page(layout(visit, { title: 'Your shops', content }));
}
