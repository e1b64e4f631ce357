import { type Html, html } from '../../http/html.ts';

/** Codes of Shopify, Stripe, Paddle and Recurly by what they mean, in lower case. */
const codesByWords: Readonly<Record<string, string>> = {
  'Insufficient funds': 'insufficient_funds not_enough_balance',
  'Card declined': 'card_declined declined declined_card generic_decline',
  'Payment method declined': 'payment_method_declined retry_declined off_session_rejected',
  'Refused by the bank without a reason': 'do_not_honor',
  'Card expired': 'expired_card declined_expired_card',
  'Payment method expired': 'expired_payment_method',
  'Customer must confirm the payment': 'authentication_required authentication_not_handled',
  'Confirmation failed':
    'authentication_failed authentication_error confirmation_rejected payment_intent_authentication_failure',
  'Card number incorrect': 'incorrect_number invalid_number card_number_incorrect',
  'Security code incorrect': 'incorrect_cvc invalid_cvc declined_security_code',
  'Expiry date incorrect': 'invalid_expiry_date invalid_expiry_month invalid_expiry_year',
  'Address incorrect':
    'incorrect_address incorrect_zip invalid_billing_address invalid_shipping_address',
  'Card reported lost or stolen': 'lost_card stolen_card pickup_card',
  'Suspected fraud': 'fraud fraudulent fraud_suspected blocked_card',
  'Customer must call the bank': 'call_issuer',
  'Not permitted for this card':
    'transaction_not_allowed transaction_not_permitted card_not_supported payment_method_unsupported',
  'Limit of the card exceeded':
    'transaction_limit_exceeded card_velocity_exceeded withdrawal_count_limit_exceeded amount_too_large',
  'Payment method missing':
    'payment_method_not_found payment_method_not_specified invalid_payment_method invalid_payment_details redacted_payment_method',
  'Cancelled by the customer':
    'buyer_canceled_payment_method cancelled_payment canceled revocation_of_authorization',
  'Bank not reachable': 'issuer_unavailable issuer_not_available try_again_later transient_error',
  'Error at the payment provider':
    'processing_error payment_provider_error psp_error system_error paypal_error_general gateway_error',
};

const wordsByCode: ReadonlyMap<string, string> = new Map(
  Object.entries(codesByWords).flatMap(([words, codes]) =>
    codes.split(' ').map((code): [string, string] => [code, words]),
  ),
);

/** A failure code in words, if it is well known; null: the source gave none. */
export function failureWords(code: string | null): string {
  return code === null ? 'No code given' : (wordsByCode.get(code.toLowerCase()) ?? code);
}

/** The same, with the code beside the words. */
export function showFailureCode(code: string | null): Html {
  const words = failureWords(code);
  return code === null || words === code ? html`${words}` : html`${words} <code>${code}</code>`;
}
