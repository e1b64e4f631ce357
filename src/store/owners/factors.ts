import { type Sql, type Transaction, arrayText, withTimeout } from '../database.ts';

export interface Factor {
  readonly factorId: string;
  readonly ownerId: string;
  /** Of a passkey, in base64url; null for an authenticator app. */
  readonly credentialId: string | null;
  readonly name: string;
  /** Of a passkey, its public key in base64; of an app, its secret, sealed. */
  readonly key: string;
  /** Of a passkey, its signature counter; of an app, the last time step whose code was used. */
  readonly counter: number;
  readonly createdAt: Date;
  readonly usedAt: Date | null;
}

type Queries = Sql | Transaction;

const columns = (sql: Queries) =>
  sql.unsafe(`
  factor_id as "factorId", owner_id as "ownerId", translate(encode(credential_id, 'base64'), E'+/=\\n', '-_') as "credentialId",
  name, key, counter, created_at as "createdAt", used_at as "usedAt"`);

/** The factors of an owner, oldest first. */
export function listFactors(sql: Queries, ownerId: string): Promise<Factor[]> {
  return withTimeout(sql<Factor[]>`
    select ${columns(sql)} from owners.factors where owner_id = ${ownerId} order by created_at`);
}

/** All authenticator apps, whose keys are secrets. */
export function listApps(sql: Queries): Promise<Factor[]> {
  return sql<Factor[]>`select ${columns(sql)} from owners.factors where credential_id is null`;
}

/** @param credentialId in base64url */
export async function findPasskey(sql: Sql, credentialId: string): Promise<Factor | undefined> {
  const bytes = Buffer.from(credentialId, 'base64url').toString('base64');
  const [factor] = await withTimeout(sql<Factor[]>`
    select ${columns(sql)} from owners.factors where credential_id = decode(${bytes}, 'base64')`);
  return factor;
}

/** @returns false if it is there already */
export async function insertFactor(
  tx: Transaction,
  factor: Omit<Factor, 'counter' | 'usedAt'> & Partial<Pick<Factor, 'counter'>>,
): Promise<boolean> {
  const { factorId, ownerId, credentialId, name, key, counter = 0, createdAt } = factor;
  const bytes = credentialId && Buffer.from(credentialId, 'base64url').toString('base64');
  const result = await tx`
    insert into owners.factors
      (factor_id, owner_id, credential_id, name, key, counter, created_at)
    values (${factorId}, ${ownerId}, decode(${bytes}, 'base64'), ${name}, ${key}, ${counter},
      ${createdAt})
    on conflict do nothing`;
  return result.count === 1;
}

/** Whether the factor has not been used at this count, or later. An authenticator that does not count stays at 0. */
export async function raiseCounter(
  sql: Sql,
  { factorId }: Pick<Factor, 'factorId'>,
  counter: number,
  at: Date,
): Promise<boolean> {
  const result = await sql`
    update owners.factors set counter = ${counter}, used_at = ${at}
    where factor_id = ${factorId}
      and (counter < ${counter} or (counter = 0 and ${counter}::bigint = 0))`;
  return result.count === 1;
}

/** Replaces the sealed secret of an app, if it is still `before`. */
export async function replaceFactorKey(
  sql: Sql,
  { factorId, key: before }: Factor,
  key: string,
): Promise<void> {
  await sql`
    update owners.factors set key = ${key} where factor_id = ${factorId} and key = ${before}`;
}

/** @param factorId all of the owner's if null @returns which there were */
export async function deleteFactors(
  tx: Transaction,
  ownerId: string,
  factorId: string | null = null,
): Promise<Pick<Factor, 'credentialId'>[]> {
  return tx<Factor[]>`
    delete from owners.factors
    where owner_id = ${ownerId} and factor_id::text = coalesce(${factorId}, factor_id::text)
    returning ${columns(tx)}`;
}

export interface RecoveryCodes {
  readonly left: number;
  readonly all: number;
  readonly madeAt: Date | null;
}

export async function countRecoveryCodes(sql: Queries, ownerId: string): Promise<RecoveryCodes> {
  const [row] = await withTimeout(sql<RecoveryCodes[]>`
    select count(*) filter (where used_at is null)::int as left, count(*)::int as all,
      max(created_at) as "madeAt"
    from owners.recovery_codes where owner_id = ${ownerId}`);
  return row as RecoveryCodes;
}

/** @param hashes SHA-256 in base64 */
export async function replaceRecoveryCodes(
  tx: Transaction,
  ownerId: string,
  hashes: readonly string[],
  at: Date,
): Promise<void> {
  await tx`delete from owners.recovery_codes where owner_id = ${ownerId}`;
  await tx`
    insert into owners.recovery_codes (owner_id, code_hash, created_at)
    select ${ownerId}::uuid, decode(hash, 'base64'), ${at}
    from unnest(${arrayText(hashes)}::text[]) hash`;
}

/** @returns whether there was such a code that had not been used */
export async function useRecoveryCode(
  tx: Transaction,
  ownerId: string,
  hash: string,
  at: Date,
): Promise<boolean> {
  const result = await tx`
    update owners.recovery_codes set used_at = ${at}
    where owner_id = ${ownerId} and code_hash = decode(${hash}, 'base64') and used_at is null`;
  return result.count === 1;
}

interface Challenge {
  /** SHA-256 in base64. */
  readonly tokenHash: string;
  /** Whose sign-in waits for its second step; null for a passkey's challenge. */
  readonly ownerId: string | null;
  /** The hash of the link that is accepted with the second step; null or undefined for none. */
  readonly linkHash?: string | null | undefined;
  readonly expiresAt: Date;
}

export async function insertChallenge(
  sql: Queries,
  { tokenHash, ownerId, linkHash = null, expiresAt }: Challenge,
  now: Date,
): Promise<void> {
  // Strangers can have challenges made: there are never more rows than were made in the time that they are valid.
  await sql`
    with expired as (
      delete from owners.challenges
      where token_hash in (
        select token_hash from owners.challenges where expires_at <= ${now}
        order by expires_at limit 2 for update skip locked))
    insert into owners.challenges (token_hash, owner_id, link_hash, expires_at)
    values (decode(${tokenHash}, 'base64'), ${ownerId}, decode(${linkHash}, 'base64'), ${expiresAt})`;
}

/** @returns undefined if it was not there, or had expired; the issuer or the link that began the sign-in, if one did */
export async function takeChallenge(
  sql: Queries,
  tokenHash: string,
  now: Date,
): Promise<{ readonly provider: number | null; readonly linkHash: string | null } | undefined> {
  const [taken] = await sql<{ provider: number | null; linkHash: string | null }[]>`
    delete from owners.challenges
    where token_hash = decode(${tokenHash}, 'base64') and expires_at > ${now}
    returning sso_provider as provider, encode(link_hash, 'base64') as "linkHash"`;
  return taken;
}

/** An owner whose sign-in waits for its second step. */
export interface WaitingOwner {
  readonly ownerId: string;
  readonly email: string;
  /** Null for somebody who signs in at an issuer only. */
  readonly passwordHash: string | null;
}

export async function findWaitingOwner(
  sql: Sql,
  tokenHash: string,
  now: Date,
): Promise<WaitingOwner | undefined> {
  const [owner] = await withTimeout(sql<WaitingOwner[]>`
    select a.owner_id as "ownerId", a.email, a.password_hash as "passwordHash"
    from owners.challenges c join owners.accounts a using (owner_id)
    where c.token_hash = decode(${tokenHash}, 'base64') and c.expires_at > ${now}`);
  return owner;
}

export async function deleteChallengesOf(tx: Transaction, ownerId: string): Promise<void> {
  await tx`delete from owners.challenges where owner_id = ${ownerId}`;
}

export async function deleteChallengesBefore(sql: Sql, at: Date): Promise<void> {
  await sql`delete from owners.challenges where expires_at <= ${at}`;
}

/** @returns whether it was something else before */
export async function upsertFactorPolicy(
  tx: Transaction,
  shopId: number,
  requires: boolean,
): Promise<boolean> {
  const result = await tx`
    insert into owners.shop_policies (shop_id, requires_second_factor)
    select ${shopId}, ${requires}
    where ${requires} or exists (select from owners.shop_policies where shop_id = ${shopId})
    on conflict (shop_id) do update set requires_second_factor = excluded.requires_second_factor
    where shop_policies.requires_second_factor <> excluded.requires_second_factor`;
  return result.count === 1;
}

/** The addresses of the members of a shop who have no second factor. */
export async function listMembersWithoutFactor(sql: Sql, shopId: number): Promise<string[]> {
  const rows = await withTimeout(sql<{ email: string }[]>`
    select a.email from owners.memberships m join owners.accounts a using (owner_id)
    where m.shop_id = ${shopId}
      and not exists (select from owners.factors f where f.owner_id = m.owner_id)
    order by a.email`);
  return rows.map(({ email }) => email);
}
