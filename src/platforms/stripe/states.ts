import { type JsonObject, isObject } from '../../json.ts';
import { jsonValues } from '../../mapping/rows.ts';
import { itemsOf } from './catalogue.ts';

/* Subscriptions as events show them: in the account's version, with ids of discounts and customers. */

/** The subscription of an event, if its value has changed then: renewals change items too, but only their periods. */
export function stateIn(event: JsonObject): JsonObject | undefined {
  const { get } = jsonValues(event);
  const [state, previous] = [get('data.object'), get('data.previous_attributes')];
  const isUpdate = isObject(state) && state['object'] === 'subscription' && isObject(previous);
  if (!isUpdate) return undefined;
  const hasOtherItems = 'items' in previous && termsOf(previous) !== termsOf(state);
  const isChanged = hasOtherItems || 'discounts' in previous;
  return isChanged ? { ...state, event_created: event['created'] } : undefined;
}

function termsOf(subscription: JsonObject): string {
  const terms = itemsOf(subscription).map(({ price, quantity }) => [
    isObject(price) ? price['id'] : price,
    quantity,
  ]);
  return JSON.stringify(terms);
}

/** An earlier state, with its customer and those of its discounts that the subscription still has. */
export function completedBy(later: JsonObject, state: JsonObject): JsonObject {
  const discounts = [later, ...itemsOf(later)].flatMap((each) => each['discounts'] ?? []);
  const known = new Map(discounts.filter(isObject).map((each) => [each['id'], each]));
  const complete = (owner: JsonObject) => {
    const { discounts: ids } = owner;
    if (!Array.isArray(ids)) return owner;
    return { ...owner, discounts: ids.map((each) => known.get(each) ?? each) };
  };
  const items = { ...(state['items'] as JsonObject), data: itemsOf(state).map(complete) };
  return { ...complete(state), customer: later['customer'], items };
}
