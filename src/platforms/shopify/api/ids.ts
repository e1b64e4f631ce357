/** Shopify's global id: `gid://shopify/SubscriptionContract/1001`. */
export interface Gid {
  readonly type: string;
  /** Digits; for a subscription line, a UUID. */
  readonly key: string;
}

const pattern = /^gid:\/\/shopify\/([A-Za-z]{1,60})\/([0-9A-Za-z-]{1,60})$/;
const leadingPattern = /^\s*\{"id":\s*"(gid:\/\/shopify\/[A-Za-z]{1,60}\/[0-9A-Za-z-]{1,60})"/;

export function parseGid(value: unknown): Gid | undefined {
  if (typeof value !== 'string') return undefined;
  const [, type, key] = pattern.exec(value) ?? [];
  return type === undefined || key === undefined ? undefined : { type, key };
}

export function formatGid({ type, key }: Gid): string {
  return `gid://shopify/${type}/${key}`;
}

/** The GID at the start of a line that may not be JSON; empty if there is none. */
export function leadingGid(text: string): string {
  return leadingPattern.exec(text)?.[1] ?? '';
}

/** The number in a key; undefined if it is not a number from 1 to 2^53 − 1. */
export function numberOf(key: string): number | undefined {
  const number = /^\d{1,16}$/.test(key) ? Number(key) : 0;
  return number >= 1 && Number.isSafeInteger(number) ? number : undefined;
}

/** A shop's domain at Shopify. */
export const domainPattern = /^[a-z0-9][a-z0-9-]{0,62}\.myshopify\.com$/;
