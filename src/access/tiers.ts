import type { Tier } from '../vocabulary.ts';

interface TierRules {
  readonly hasApiAccess: boolean;
  /** Maximum requests in any 60 seconds; undefined for no limit. */
  readonly limitPerMinute: number | undefined;
}

export const tiers = {
  free: { hasApiAccess: false, limitPerMinute: undefined },
  starter: { hasApiAccess: false, limitPerMinute: undefined },
  growth: { hasApiAccess: true, limitPerMinute: 60 },
  pro: { hasApiAccess: true, limitPerMinute: 300 },
  enterprise_plus: { hasApiAccess: true, limitPerMinute: undefined },
} as const satisfies Readonly<Record<Tier, TierRules>>;

export function isTier(text: string): text is Tier {
  return Object.hasOwn(tiers, text);
}
