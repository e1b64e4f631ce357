import { isObject } from '../../../json.ts';
import {
  type Node,
  type ShopMoney,
  type Interval,
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
import { isoTime } from '../../../iso-time.ts';
import { addInterval } from '../../../intervals.ts';

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

/** When the bill of an attempt was due, not when it was collected. Epoch milliseconds. */
export function dueAt(attempt: BillingAttempt): number {
  return attempt.originTime ?? attempt.completedAt ?? attempt.createdAt;
}

/**
 * Groups the attempts of one contract into billing cycles: retries of a bill belong to its cycle.
 * Where Shopify does not say which attempts belong together, a cycle begins with the first attempt,
 * with the first one after a success, and when a billing interval has passed since the cycle began.
 * It is named after the day of its first attempt, with "-2" appended for the second cycle of a day.
 */
export function cyclesOf(
  attempts: readonly BillingAttempt[],
  billing: Interval,
): ReadonlyMap<BillingAttempt, string> {
  const cycles = new Map<BillingAttempt, string>();
  const names = new Set<string>();
  const byGroup = new Map<string, string>();
  let guessed = '';
  let endsAt = Number.NEGATIVE_INFINITY;
  for (const attempt of attempts.toSorted((a, b) => dueAt(a) - dueAt(b) || a.id - b.id)) {
    const { group, outcome } = attempt;
    const at = dueAt(attempt);
    if (group !== null) {
      const cycle = byGroup.get(group) ?? nameCycle(at, names);
      byGroup.set(group, cycle);
      cycles.set(attempt, cycle);
      continue;
    }
    if (at >= endsAt) {
      guessed = nameCycle(at, names);
      endsAt = addInterval(at, billing.unit, billing.count);
    }
    cycles.set(attempt, guessed);
    if (outcome === 'succeeded' || outcome === 'alreadyPaid') endsAt = Number.NEGATIVE_INFINITY;
  }
  return cycles;
}

/** Names a cycle that begins then, and adds the name to those that are taken. */
export function nameCycle(at: number, taken: Set<string>): string {
  const day = isoTime(at).slice(0, 10);
  let name = day;
  for (let number = 2; taken.has(name); number += 1) name = `${day}-${number}`;
  taken.add(name);
  return name;
}

/** What a billing attempt came to. */
export type Outcome =
  | 'succeeded'
  | 'failed'
  | 'outOfStock'
  | 'pending'
  /** The invoice had been paid some other way: no further revenue, but nothing is owed. */
  | 'alreadyPaid'
  /** Neither paid nor owed, such as a test: it counts nowhere. */
  | 'void';

/**
 * The members of SubscriptionBillingAttemptErrorCode by what they mean here. Whatever leaves a bill
 * unpaid is a failure, even if the merchant's settings or the payment provider are to blame.
 */
const codesByOutcome = {
  failed: `
    AMOUNT_TOO_LARGE AMOUNT_TOO_SMALL AUTHENTICATION_ERROR AUTHENTICATION_FAILED
    AUTHENTICATION_REQUIRED BUYER_CANCELED_PAYMENT_METHOD CALL_ISSUER CANCELLED_PAYMENT
    CARD_DECLINED CARD_NUMBER_INCORRECT CONFIRMATION_REJECTED CUSTOMER_INVALID CUSTOMER_NOT_FOUND
    DO_NOT_HONOR EXPIRED_BUYER_ACTION EXPIRED_CARD EXPIRED_PAYMENT_METHOD FRAUD_SUSPECTED
    GENERIC_ERROR INCORRECT_ADDRESS INCORRECT_CVC INCORRECT_NUMBER INCORRECT_PIN INCORRECT_ZIP
    INSUFFICIENT_FUNDS INVALID_AMOUNT INVALID_BILLING_ADDRESS INVALID_CURRENCY
    INVALID_CUSTOMER_BILLING_AGREEMENT INVALID_CVC INVALID_EXPIRY_DATE INVALID_NUMBER
    INVALID_PAYMENT_METHOD INVALID_PURCHASE_TYPE INVALID_REQUEST INVALID_SHIPPING_ADDRESS
    MERCHANT_ACCOUNT_ERROR MERCHANT_RULE OFF_SESSION_REJECTED PAYMENT_METHOD_DECLINED
    PAYMENT_METHOD_NOT_FOUND PAYMENT_METHOD_NOT_SPECIFIED PAYMENT_METHOD_UNSUPPORTED
    PAYMENT_PROVIDER_ERROR PAYMENT_PROVIDER_IS_NOT_ENABLED PAYPAL_ERROR_GENERAL PROCESSING_ERROR
    PURCHASE_TYPE_NOT_SUPPORTED RETRY_DECLINED TRANSACTION_LIMIT_EXCEEDED TRANSIENT_ERROR
    UNEXPECTED_ERROR`,
  outOfStock: 'INSUFFICIENT_INVENTORY INVENTORY_ALLOCATIONS_NOT_FOUND',
  alreadyPaid: 'INVOICE_ALREADY_PAID',
  // Only shops in test or trial mode, and orders that cost nothing.
  void: `
    FREE_GIFT_CARD_NOT_ALLOWED NON_TEST_ORDER_LIMIT_REACHED
    PAYMENT_METHOD_INCOMPATIBLE_WITH_GATEWAY_CONFIG TEST_MODE`,
} as const;

/** What each code means; a code that is not here counts as a payment failure. */
export const outcomesByCode: ReadonlyMap<string, Outcome> = new Map(
  Object.entries(codesByOutcome).flatMap(([outcome, codes]) =>
    codes
      .trim()
      .split(/\s+/)
      .map((code): [string, Outcome] => [code, outcome as keyof typeof codesByOutcome]),
  ),
);
