import type { Node, ShopMoney } from '../mapping/fields.ts';
import { readAttempt } from '../mapping/attempts.ts';
import { readContract, readGroup, readLine, readSellingPlan } from '../mapping/nodes.ts';

/** A kind of node in a bulk result. */
export interface Kind {
  /** The type in its GIDs. */
  readonly type: string;
  /** The kind that its `__parentId` refers to; undefined for a top-level node. */
  readonly parent: string | undefined;
  /** The name under which refused lines are counted. */
  readonly countsAs: string;
  read(key: string, node: Node, shop: ShopMoney): object;
}

/** Rows refer to kinds by their index in this list. */
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
