import type { Sql, Transaction } from '../database.ts';

/** Identifies a sign-in attempt, by SHA-256 in base64. */
export interface AttemptSource {
  readonly account: string;
  readonly address: string;
}

interface Failures {
  readonly count: number;
  readonly lastAt: Date | null;
}

/** A pair is the combination of an account and an address. */
type Subject = 'pair' | 'account' | 'address';

/** Failed attempts by subject. */
export type FailureCounts = Readonly<Record<Subject, Failures>>;

type CountRow = Record<`${Subject}Count`, number> & Record<`${Subject}At`, Date | null>;

/**
 * Serialises attempts on the same account or from the same address until the transaction ends. The account
 * is always locked first, to avoid deadlocks.
 */
export async function lockAttempts(
  tx: Transaction,
  { account, address }: AttemptSource,
): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('owners.attempts account ' || ${account}, 0))`;
  await tx`select pg_advisory_xact_lock(hashtextextended('owners.attempts address ' || ${address}, 0))`;
}

export async function countAttempts(
  tx: Transaction,
  { account, address }: AttemptSource,
  after: Date,
): Promise<FailureCounts> {
  const [row] = await tx<CountRow[]>`
    with failures as materialized (
      select at, account is not distinct from decode(${account}, 'base64') as by_account,
        address is not distinct from decode(${address}, 'base64') as by_address
      from owners.attempts
      where (account = decode(${account}, 'base64') or address = decode(${address}, 'base64'))
        and at > ${after}
    )
    select count(*) filter (where by_account and by_address)::int as "pairCount",
      max(at) filter (where by_account and by_address) as "pairAt",
      count(*) filter (where by_account)::int as "accountCount",
      max(at) filter (where by_account) as "accountAt",
      count(*) filter (where by_address)::int as "addressCount",
      max(at) filter (where by_address) as "addressAt"
    from failures`;
  const failures = (name: Subject): Failures => ({
    count: row?.[`${name}Count`] ?? 0,
    lastAt: row?.[`${name}At`] ?? null,
  });
  return { pair: failures('pair'), account: failures('account'), address: failures('address') };
}

export async function insertAttempt(
  tx: Transaction,
  { account, address }: AttemptSource,
  at: Date,
): Promise<void> {
  await tx`
    insert into owners.attempts (account, address, at)
    values (decode(${account}, 'base64'), decode(${address}, 'base64'), ${at})`;
}

/** Deletes the attempts on an account from one address. */
export async function clearAttempts(sql: Sql, { account, address }: AttemptSource): Promise<void> {
  await sql`
    delete from owners.attempts
    where account = decode(${account}, 'base64') and address = decode(${address}, 'base64')`;
}

export async function deleteAttemptsBefore(sql: Sql, at: Date): Promise<void> {
  await sql`delete from owners.attempts where at <= ${at}`;
}
