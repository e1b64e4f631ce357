import { type Html, html } from '../../http/html.ts';
import { findRecord } from '../../platforms/source-ids.ts';
import type { RecordKind } from '../../store/records/export-dates.ts';
import type { Shop } from '../../store/shops.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { redirect } from '../ui/page.ts';
import { isNumber, list } from './list.ts';
import { shopPath } from '../site.ts';
import { alert, problemId } from '../ui/elements.ts';
import type { DefinedList } from '../framework/define-list.ts';

const path = '/subscriptions';

/** A search for a subscription leads to its page, one for a customer to a list of theirs. */
export const subscriptions: DefinedList = {
  ...list,
  async show(parts, visit) {
    const { shop, query } = visit;
    const find = (kind: RecordKind, text: string) =>
      findRecord(parts.store.write, shop.id, kind, text);
    const subscription = query.get('subscription')?.trim();
    if (subscription) {
      const found = await find('subscription', subscription);
      return found
        ? redirect(shopPath(shop, `${path}/${found.id}`))
        : showList(parts, visit, { missing: { noun: 'subscription', text: subscription } });
    }
    const customer = query.get('customer')?.trim();
    if (!customer) return showList(parts, visit, {});
    const found = await find('customer', customer);
    if (!found) {
      // A number needs no record: its list is empty.
      const missing = { noun: 'customer', text: customer } as const;
      return showList(parts, visit, isNumber(customer) ? { customer } : { missing });
    }
    return customer === String(found.id)
      ? showList(parts, visit, { customer, sourceId: found.sourceId ?? undefined })
      : redirect(shopPath(shop, `${path}?customer=${found.id}`));
  },
};

/** What a search came to; at most one of `missing` and `customer`. */
interface Search {
  /** What was not found; then the list has all subscriptions. */
  readonly missing?: { readonly noun: 'subscription' | 'customer'; readonly text: string };
  /** The customer whose subscriptions are listed, by number. */
  readonly customer?: string;
  /** The customer's id at the source, if it is known. */
  readonly sourceId?: string | undefined;
}

function showList(parts: OwnerParts, visit: ShopVisit, search: Search) {
  const { missing, customer } = search;
  const query = new URLSearchParams(visit.query);
  query.delete('subscription');
  if (customer === undefined) query.delete('customer');
  else query.set('customer', customer);
  return list.show(
    parts,
    { ...visit, query },
    {
      status: missing ? 404 : 200,
      notice: html`${alert(missing && explainMissing(missing))} ${lookups(visit.shop, search)}`,
    },
  );
}

/** Forms that find records by their id here or at the source, and whose subscriptions are listed. */
function lookups(shop: Shop, { missing, customer, sourceId }: Search): Html {
  const here = shopPath(shop, path);
  const lookup = (name: string, label: string, button: string, value?: string) => {
    const isMissing = missing?.noun === name;
    return html`<form class="lookup" method="get" action="${here}">
      <label for="${name}">${label}</label>
      <input
        id="${name}"
        name="${name}"
        spellcheck="false"
        maxlength="200"
        autocomplete="off"
        required
        value="${isMissing ? missing.text : value}"
        ${isMissing && html`aria-describedby="${problemId}" aria-invalid="true" autofocus`}
      />
      <button class="plain">${button}</button>
    </form>`;
  };
  return html`<div class="lookups">
      ${lookup('subscription', 'Subscription id', 'Open')}
      ${lookup('customer', 'Customer id', 'Show', customer)}
    </div>
    ${
      customer &&
      html`<p>
        Subscriptions of customer
        <a href="${shopPath(shop, `/customers/${customer}`)}">${customer}</a
        >${sourceId && ` (${sourceId})`}.
        <a href="${here}">Show all customers</a>
      </p>`
    }`;
}

/** Ids have digits, and no spaces or @. */
const idLike = /^(?=.*\d)(?!0*$)[\w:/.-]+$/;

function explainMissing({ noun, text }: NonNullable<Search['missing']>): string {
  return idLike.test(text)
    ? `This shop has no ${noun} ${text}. Check the id, or find the ${noun} in the list.`
    : `“${text}” is not a ${noun} number. Search by number or by the id at the source. Names are not stored here, and an email address finds only customers whose id it is at the source.`;
}
