/** Shopify's name of a thing: `gid://shopify/SubscriptionContract/1001`. */
export interface Gid {
  readonly type: string;
  /** Digits, but for a subscription line: a UUID. */
  readonly key: string;
}

const pattern = /^gid:\/\/shopify\/([A-Za-z]{1,60})\/([0-9A-Za-z-]{1,60})$/;
const atBeginning = /^\s*\{"id":\s*"(gid:\/\/shopify\/[A-Za-z]{1,60}\/[0-9A-Za-z-]{1,60})"/;

export function parseGid(value: unknown): Gid | undefined {
  if (typeof value !== 'string') return undefined;
  const [, type, key] = pattern.exec(value) ?? [];
  return type === undefined || key === undefined ? undefined : { type, key };
}

export function formatGid({ type, key }: Gid): string {
  return `gid://shopify/${type}/${key}`;
}

/** The GID that a line begins with which is not JSON, else nothing: the rest of it may be anything. */
export function gidAtBeginning(text: string): string {
  return atBeginning.exec(text)?.[1] ?? '';
}

/** The number in a key, or undefined where it is none from 1 to 2^53 − 1. */
export function numberOf(key: string): number | undefined {
  const number = /^\d{1,16}$/.test(key) ? Number(key) : 0;
  return number >= 1 && Number.isSafeInteger(number) ? number : undefined;
}
