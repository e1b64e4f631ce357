import type { Actor } from '../../acts.ts';
import type { Clock } from '../../clock.ts';
import type { Sql } from '../../store/database.ts';
import { audited } from '../../store/owners/audit.ts';
import { type KeyPolicy, updateKeyPolicy } from '../../store/shops.ts';

export const maxKeyDays = 3_650;
const millisecondsADay = 86_400_000;

/** After how many days a new key expires, unless its maker chooses; undefined for never. */
export function usualDays({ keyDefaultDays, keyMaxDays }: KeyPolicy): number | undefined {
  const days = Math.min(keyDefaultDays ?? Infinity, keyMaxDays ?? Infinity);
  return days === Infinity ? undefined : days;
}

/** Whether a key works for longer than its shop allows new ones. @param key `expiresAt` is null for never */
export function outlives(
  { keyMaxDays }: KeyPolicy,
  key: { readonly createdAt: Date; readonly expiresAt: Date | null },
): boolean {
  if (!keyMaxDays) return false;
  const end = key.expiresAt?.getTime() ?? Infinity;
  return end - key.createdAt.getTime() > keyMaxDays * millisecondsADay;
}

/** When a key expires that is made now. */
export function expiryAfter(days: number | undefined, clock: Clock): Date | null {
  return days === undefined ? null : new Date(clock.now() + days * millisecondsADay);
}

export function describePolicy(policy: KeyPolicy): string {
  const usual = usualDays(policy);
  const limit = policy.keyMaxDays ? `at most ${policy.keyMaxDays} days` : 'without a limit';
  return `${usual === undefined ? 'forever' : `for ${usual} days`} by default, ${limit}`;
}

/** @returns what is wrong with a policy */
export function policyProblem({ keyDefaultDays, keyMaxDays }: KeyPolicy): string | undefined {
  return keyDefaultDays && keyMaxDays && keyDefaultDays > keyMaxDays
    ? `New keys cannot be valid for ${keyDefaultDays} days by default, but for ${keyMaxDays} days at most. Shorten the default, or raise the limit.`
    : undefined;
}

/** Keys that are there already stay as they are. @returns whether it was another policy before */
export function setKeyPolicy(
  { sql, clock }: { readonly sql: Sql; readonly clock: Clock },
  { shopId, actor }: { readonly shopId: number; readonly actor: Actor },
  policy: KeyPolicy,
): Promise<boolean> {
  const at = new Date(clock.now());
  const happened = {
    at,
    by: actor,
    what: 'key_policy_set',
    target: describePolicy(policy),
  } as const;
  return audited(sql, shopId, happened, (tx) => updateKeyPolicy(tx, shopId, policy));
}
