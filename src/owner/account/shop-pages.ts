import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import type { Shop } from '../../store/shops.ts';
import { page } from '../ui/answers.ts';
import { layout, shopPath, tierNames } from '../ui/layout.ts';
import type { Visit } from '../visit.ts';

/** Where an owner of several shops, or of none, chooses. */
export function shopsPage(visit: Visit, shops: readonly Shop[]): Answer {
  const content =
    shops.length === 0
      ? html`<p>
          Your account belongs to no shop. Ask whoever runs this service for an invitation.
        </p>`
      : html`<ul class="card shops">
          ${shops.map(
            (shop) =>
              html`<li>
                <a href="${shopPath(shop)}"
                  ><span>${shop.name}</span> <span class="tier">${tierNames[shop.tier]}</span></a
                >
              </li>`,
          )}
        </ul>`;
  return page(layout(visit, { title: 'Your shops', content, current: 'shops' }));
}
