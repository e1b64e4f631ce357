import { isObject } from '../../../json.ts';
import { type Outcome, outcomesByCode } from './error-codes.ts';
import {
  type Node,
  type ShopMoney,
  Refusal,
  booleanOf,
  idOf,
  isEnumWord,
  objectOf,
  optional,
  textOf,
  timeOf,
} from './fields.ts';
import { type Order, readOrder } from './orders.ts';

export interface BillingAttempt {
  readonly id: number;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly originTime: number | null;
  /** The same for all attempts to collect one bill; null if Shopify gave none. */
  readonly group: string | null;
  readonly outcome: Outcome;
  /** Null unless it succeeded and Shopify shows the order. */
  readonly order: Order | null;
  /** Why it failed. */
  readonly code?: string;
  /** An error code that this version does not know, to be logged. */
  readonly unknownCode?: string;
}

type Result = Pick<BillingAttempt, 'outcome' | 'order' | 'code' | 'unknownCode'>;

const optionalText = optional(textOf);
const optionalTime = optional(timeOf);

export function readAttempt(key: string, node: Node, shop: ShopMoney): BillingAttempt {
  const { state } = node;
  return {
    id: idOf(key),
    createdAt: timeOf(node, 'createdAt'),
    completedAt: optionalTime(node, 'completedAt'),
    originTime: optionalTime(node, 'originTime'),
    group: optionalText(node, 'paymentGroupId'),
    ...(isObject(state) ? resultOfState(state, shop) : resultOfFlags(node, shop)),
  };
}

const pending: Result = { outcome: 'pending', order: null };

function resultOfState(state: Node, shop: ShopMoney): Result {
  switch (state['__typename']) {
    case 'SubscriptionBillingAttemptSuccessState':
      return success(state, shop);
    case 'SubscriptionBillingAttemptFailedState':
      return failure(codeOf(objectOf(state, 'error')));
    // The customer is asked to confirm the payment, and may still do so.
    case 'SubscriptionBillingAttemptActionRequiredState':
    case 'SubscriptionBillingAttemptPendingState':
      return pending;
    default:
      throw new Refusal('state must have the __typename of a known state');
  }
}

/** Reads the fields that API versions before 2026-04 have instead of a state. */
function resultOfFlags(node: Node, shop: ShopMoney): Result {
  const isReady = booleanOf(node, 'ready');
  const code = optionalText(node, 'errorCode');
  if (code !== null) return failure(code);
  return isReady ? success(node, shop) : pending;
}

function success(node: Node, shop: ShopMoney): Result {
  const order = readOrder(node['order'], shop);
  return { outcome: order?.isTest ? 'void' : 'succeeded', order };
}

/**
 * The types of errors have codes of different enums, which one query can only ask for under
 * different names. An unexpected error has no code.
 */
function codeOf(error: Node): string {
  return (
    optionalText(error, 'paymentCode') ??
    optionalText(error, 'generalCode') ??
    optionalText(error, 'inventoryCode') ??
    'UNEXPECTED_ERROR'
  );
}

function failure(code: string): Result {
  const outcome = outcomesByCode.get(code);
  if (outcome) return { outcome, order: null, code };
  // Only enum words may be stored or appear in the log.
  return isEnumWord(code)
    ? { outcome: 'failed', order: null, code, unknownCode: code }
    : { outcome: 'failed', order: null, unknownCode: 'that is not an enum value' };
}
