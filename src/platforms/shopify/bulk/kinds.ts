import type { Node, ShopMoney } from '../mapping/fields.ts';
import {
  readAttempt,
  readContract,
  readGroup,
  readLine,
  readSellingPlan,
} from '../mapping/nodes.ts';

/** A kind of node that a bulk result has lines of. */
export interface Kind {
  /** Its name in GIDs. */
  readonly type: string;
  /** The kind whose `id` is its `__parentId`; undefined for one that stands at the top. */
  readonly parent: string | undefined;
  /** As what a line of it is counted where it is refused. */
  readonly countsAs: string;
  read(key: string, node: Node, shop: ShopMoney): object;
}

/** In a fixed order: rows on disk name them by their places. */
export const kinds: readonly Kind[] = [
  {
    type: 'SubscriptionContract',
    parent: undefined,
    countsAs: 'subscription',
    read: readContract,
  },
  {
    type: 'SubscriptionLine',
    parent: 'SubscriptionContract',
    countsAs: 'line',
    read: readLine,
  },
  {
    type: 'SubscriptionBillingAttempt',
    parent: 'SubscriptionContract',
    countsAs: 'payment',
    read: readAttempt,
  },
  { type: 'SellingPlanGroup', parent: undefined, countsAs: 'group', read: readGroup },
  { type: 'SellingPlan', parent: 'SellingPlanGroup', countsAs: 'plan', read: readSellingPlan },
];
