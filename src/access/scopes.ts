/** The scopes of keys, in the order in which pages and documentation show them. */
export const scopes = [
  'read:entitlements',
  'read:subscriptions',
  'read:metrics',
  'read:plans',
] as const;

export type Scope = (typeof scopes)[number];

/** What each scope gives access to, in the wording of the API contract. */
export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  'read:entitlements': 'customer entitlement status',
  'read:subscriptions': 'subscription records and detail',
  'read:metrics': 'aggregate retention and revenue metrics, and cancel-save outcomes',
  'read:plans': 'selling-plan definitions',
};

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text);
}
