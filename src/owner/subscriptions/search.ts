import { findRecord } from '../../platforms/source-ids.ts';
import type { RecordKind } from '../../store/records/tables.ts';
import type { DefinedList } from '../framework/page.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { redirect } from '../ui/answers.ts';
import { alert, shopPath } from '../ui/layout.ts';
import { type Search, isNumber } from './filters.ts';
import { list } from './list.ts';

const path = '/subscriptions';

/** A search for a subscription leads to its page, one for a customer to a list of theirs. */
export const subscriptions: DefinedList = {
  ...list,
  async show(parts, visit) {
    const { shop, query } = visit;
    const search = (kind: RecordKind, text: string) =>
      findRecord(parts.store.write, shop.id, kind, text);
    const subscription = query.get('subscription')?.trim();
    if (subscription) {
      const found = await search('subscription', subscription);
      return found
        ? redirect(shopPath(shop, `${path}/${found.id}`))
        : showMissing(parts, visit, { noun: 'subscription', text: subscription });
    }
    const customer = query.get('customer')?.trim();
    if (!customer) return list.show(parts, visit);
    const found = await search('customer', customer);
    if (!found) {
      // A number needs no record: its list is empty.
      return isNumber(customer)
        ? list.show(parts, ofCustomer(visit, customer))
        : showMissing(parts, visit, { noun: 'customer', text: customer });
    }
    const { id, sourceId } = found;
    return customer === String(id)
      ? list.show(parts, ofCustomer(visit, customer, sourceId ?? undefined))
      : redirect(shopPath(shop, `${path}?customer=${id}`));
  },
};

function ofCustomer(visit: ShopVisit, customer: string, sourceId?: string): ShopVisit & Search {
  const query = new URLSearchParams(visit.query);
  query.set('customer', customer);
  return { ...visit, query, sourceId };
}

/** All subscriptions, and what was not found. */
function showMissing(parts: OwnerParts, visit: ShopVisit, missing: NonNullable<Search['missing']>) {
  const query = new URLSearchParams(visit.query);
  for (const name of ['subscription', 'customer']) query.delete(name);
  const searched: ShopVisit & Search = { ...visit, query, missing };
  return list.show(parts, searched, { status: 404, notice: alert(explainMissing(missing)) });
}

/** Ids have digits, and no spaces or @. */
const idLike = /^(?=.*\d)(?!0*$)[\w:/.-]+$/;

function explainMissing({ noun, text }: NonNullable<Search['missing']>): string {
  return idLike.test(text)
    ? `This shop has no ${noun} ${text}. Check the id, or find the ${noun} in the list.`
    : `“${text}” is not a ${noun} number. Search by number or by the id at the source; names and email addresses are not stored here.`;
}
