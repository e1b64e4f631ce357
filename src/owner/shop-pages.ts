import type { Answer } from '../http/answer.ts';
import { html } from '../http/html.ts';
import type { Shop } from '../store/shops.ts';
import { page } from './answers.ts';
import { layout, shopPath, tierNames } from './layout.ts';
import type { Visit } from './visit.ts';

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

export function overviewPage(visit: Visit, shop: Shop, hasOtherShops: boolean): Answer {
  const content = html`
    <section class="card">
      <h2>${shop.name}</h2>
      <dl class="facts">
        <dt>Tier</dt>
        <dd>${tierNames[shop.tier]}</dd>
        <dt>Currency</dt>
        <dd>${shop.currency}</dd>
        <dt>Shop number</dt>
        <dd>${shop.id}</dd>
      </dl>
    </section>
    <p><a href="${shopPath(shop, '/keys')}">Keys for programs and agents</a></p>
    <p><a href="/docs">The reference of the API</a></p>
    ${hasOtherShops ? html`<p><a href="/app/shops">Your other shops</a></p>` : undefined}
  `;
  return page(layout(visit, { title: 'Overview', content, shop, current: 'overview' }));
}
