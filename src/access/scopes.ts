/** What a key may hold, in the order in which people and documents see them. */
export const scopes = [
  'read:entitlements',
  'read:subscriptions',
  'read:metrics',
  'read:plans',
] as const;

export type Scope = (typeof scopes)[number];

/** What each scope governs, in the contract's words. */
export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  'read:entitlements': 'customer entitlement status',
  'read:subscriptions': 'subscription records and detail',
  'read:metrics': 'aggregate retention and revenue metrics, and cancel-save outcomes',
  'read:plans': 'selling-plan definitions',
};

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}
