interface TierRules {
  readonly hasApiAccess: boolean;
  /** Requests in any 60 seconds; undefined where there is no limit. */
  readonly limitPerMinute: number | undefined;
}

/** A shop's plan with us. Never called "plan": a plan is a selling plan. */
export const tiers = {
  free: { hasApiAccess: false, limitPerMinute: undefined },
  starter: { hasApiAccess: false, limitPerMinute: undefined },
  growth: { hasApiAccess: true, limitPerMinute: 60 },
  pro: { hasApiAccess: true, limitPerMinute: 300 },
  enterprise_plus: { hasApiAccess: true, limitPerMinute: undefined },
} as const satisfies Record<string, TierRules>;

export type Tier = keyof typeof tiers;

export const tierNames = Object.keys(tiers) as Tier[];

export function isTier(text: string): text is Tier {
  return Object.hasOwn(tiers, text);
}
