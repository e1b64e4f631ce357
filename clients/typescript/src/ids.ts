import { sha256 } from './sha256.ts';

/**
 * The number by which the service knows a customer, from the text by which the source does: `cus_NffrFeUfNV2Hib`. The
 * number in a platform's id (`gid://shopify/Customer/6940095564`) is the number itself.
 * @throws TypeError for what is no text, or an empty one
 * @see the guide to ids in the service's documentation
 */
export function customerIdOf(text: string): number {
  // Half of a pair of surrogates is no text: it has no bytes in UTF-8.
  if (typeof text !== 'string' || text === '' || /\p{Surrogate}/u.test(text)) {
    throw new TypeError(
      `customerIdOf needs a text such as cus_NffrFeUfNV2Hib; it got ${show(text)}.`,
    );
  }
  const number = /^gid:\/\/[a-z][\w-]*\/\w+\/([1-9]\d{0,15})$/.exec(text)?.[1];
  if (number !== undefined && Number.isSafeInteger(Number(number))) return Number(number);
  const [first = 0, second = 0] = sha256(`customer:${text}`);
  // The first 52 bits: 32 and 20.
  return 2 ** 52 + first * 2 ** 20 + (second >>> 12);
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
