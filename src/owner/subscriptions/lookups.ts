import { type Html, html } from '../../http/html.ts';
import { describedBy, shopPath } from '../ui/layout.ts';
import type { SubscriptionsVisit } from './filters.ts';

/** Forms that find subscriptions by an id, and whose they are that were found. */
export function lookups(visit: SubscriptionsVisit): Html {
  const { missing, sourceId, texts, shop } = visit;
  const { customer } = texts;
  const isMissing = (noun: string) => missing?.noun === noun;
  const sought = (noun: string) => (isMissing(noun) ? missing?.text : undefined);
  const here = shopPath(shop, '/subscriptions');
  return html`<div class="lookups">
      ${lookup(here, 'subscription', 'Subscription id', 'Open', sought('subscription'), isMissing('subscription'))}
      ${lookup(here, 'customer', 'Customer id', 'Show', sought('customer') ?? customer, isMissing('customer'))}
    </div>
    ${
      customer &&
      html`<p>
        Subscriptions of customer <strong>${customer}</strong>${sourceId && ` (${sourceId})`}.
        <a href="${here}">Show all customers</a>
      </p>`
    }`;
}

/** A form that finds records by their id here or at the source. */
function lookup(
  action: string,
  name: string,
  label: string,
  button: string,
  value: string | undefined,
  isMissing: boolean,
): Html {
  return html`<form class="lookup" method="get" action="${action}">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      spellcheck="false"
      maxlength="200"
      autocomplete="off"
      required
      value="${value}"
      ${describedBy(undefined, isMissing)}
    />
    <button class="plain">${button}</button>
  </form>`;
}
