import type { Actor } from '../../acts.ts';
import type { Clock } from '../../clock.ts';
import type { Sql } from '../../store/database.ts';
import { audited } from '../../store/owners/audit.ts';
import { type KeyPolicy, type Shop, updateKeyPolicy } from '../../store/shops.ts';

const day = 86_400_000;
export const maxPolicyDays = 3_650;

/** After how many days a new key expires, unless its maker chooses; undefined for never. */
export function usualDays({ keyDefaultDays, keyMaxDays }: Partial<KeyPolicy>): number | undefined {
  return keyDefaultDays ?? keyMaxDays ?? undefined;
}

/**
 * Whether a key works for longer than its shop allows new ones.
 * @param expiresAt null for never
 */
export function outlives(
  { keyMaxDays }: Partial<Pick<Shop, 'keyMaxDays'>>,
  { createdAt, expiresAt }: { readonly createdAt: Date; readonly expiresAt: Date | null },
): boolean {
  if (!keyMaxDays) return false;
  return expiresAt === null || expiresAt.getTime() - createdAt.getTime() > keyMaxDays * day;
}

/** What new keys of a shop may be, for those who make one that may not. */
export const lifeRule = (days: number) => `Keys of this shop may live for at most ${days} days.`;

export function describePolicy({ keyDefaultDays, keyMaxDays }: KeyPolicy): string {
  const usual = usualDays({ keyDefaultDays, keyMaxDays });
  const [first, last] = [usual, keyMaxDays ?? undefined].map((days) =>
    days === undefined ? undefined : `${days} days`,
  );
  return `${first ? `for ${first}` : 'forever'} by default, ${last ? `at most ${last}` : 'without a limit'}`;
}

/** @returns what is wrong with a policy */
export function policyProblem({ keyDefaultDays, keyMaxDays }: KeyPolicy): string | undefined {
  return keyDefaultDays !== null && keyMaxDays !== null && keyDefaultDays > keyMaxDays
    ? 'The default must not be longer than the longest life.'
    : undefined;
}

/** Keys that are there already stay as they are. @returns false if there is no such shop */
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
