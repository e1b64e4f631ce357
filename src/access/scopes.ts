import { type Scope, scopes } from '../vocabulary.ts';

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
