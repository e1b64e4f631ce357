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
