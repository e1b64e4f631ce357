import type { Role } from '../../vocabulary.ts';
import { type Sql, type Transaction, withTimeout } from '../database.ts';

/** The values of a claim that give each role. */
type RoleValues = Readonly<Partial<Record<Role, readonly string[]>>>;

export interface SsoProvider {
  readonly shopId: number;
  readonly issuer: string;
  readonly clientId: string;
  /** Encrypted. */
  readonly clientSecret: string;
  readonly domain: string;
  readonly verification: string;
  readonly verifiedAt: Date | null;
  readonly roleClaim: string | null;
  readonly roles: RoleValues;
  readonly defaultRole: Role | null;
  readonly replacesPasswords: boolean;
}

const selectProviders = (sql: Sql) => sql`
  select shop_id as "shopId", issuer, client_id as "clientId", client_secret as "clientSecret",
    domain, verification, verified_at as "verifiedAt", role_claim as "roleClaim", roles,
    default_role as "defaultRole", replaces_passwords as "replacesPasswords"
  from owners.sso_providers`;

export async function findSsoProvider(sql: Sql, shopId: number): Promise<SsoProvider | undefined> {
  const [found] = await withTimeout(sql<SsoProvider[]>`
    ${selectProviders(sql)} where owners.sso_providers.shop_id = ${shopId}`);
  return found;
}

/** The one that has verified a domain. */
export async function findSsoProviderByDomain(
  sql: Sql,
  domain: string,
): Promise<SsoProvider | undefined> {
  const [found] = await withTimeout(sql<SsoProvider[]>`
    ${selectProviders(sql)}
    where owners.sso_providers.domain = ${domain} and verified_at is not null`);
  return found;
}

export function listSsoProviders(sql: Sql): Promise<SsoProvider[]> {
  return sql<SsoProvider[]>`${selectProviders(sql)} order by owners.sso_providers.shop_id`;
}

/** Replaces the encrypted secret, unless it was changed meanwhile. */
export async function updateSsoSecret(
  sql: Sql,
  { shopId, clientSecret }: Pick<SsoProvider, 'shopId' | 'clientSecret'>,
  sealed: string,
): Promise<void> {
  await sql`
    update owners.sso_providers set client_secret = ${sealed}
    where shop_id = ${shopId} and client_secret = ${clientSecret}`;
}

/** @returns whether something was different before */
export async function upsertSsoProvider(tx: Transaction, provider: SsoProvider): Promise<boolean> {
  const { shopId, issuer, clientId, clientSecret, domain, verification, verifiedAt } = provider;
  const { roleClaim, roles, defaultRole, replacesPasswords } = provider;
  const result = await tx`
    insert into owners.sso_providers (shop_id, issuer, client_id, client_secret, domain, verification,
      verified_at, role_claim, roles, default_role, replaces_passwords)
    values (${shopId}, ${issuer}, ${clientId}, ${clientSecret}, ${domain}, ${verification},
      ${verifiedAt}, ${roleClaim}, ${JSON.stringify(roles)}::jsonb, ${defaultRole}, ${replacesPasswords})
    on conflict (shop_id) do update set issuer = excluded.issuer, client_id = excluded.client_id,
      client_secret = excluded.client_secret, domain = excluded.domain,
      verification = excluded.verification, verified_at = excluded.verified_at,
      role_claim = excluded.role_claim, roles = excluded.roles,
      default_role = excluded.default_role, replaces_passwords = excluded.replaces_passwords
    where to_jsonb(sso_providers) <> to_jsonb(excluded)`;
  return result.count === 1;
}

/** @returns false if another shop has verified the domain, or it was changed meanwhile */
export async function verifySsoDomain(
  tx: Transaction,
  { shopId, domain }: Pick<SsoProvider, 'shopId' | 'domain'>,
  at: Date,
): Promise<boolean> {
  const result = await tx`
    update owners.sso_providers set verified_at = ${at}
    where shop_id = ${shopId} and domain = ${domain} and not exists (
      select from owners.sso_providers o
      where o.domain = ${domain} and o.verified_at is not null and o.shop_id <> ${shopId})`;
  return result.count === 1;
}

export async function deleteSsoProvider(tx: Transaction, shopId: number): Promise<boolean> {
  const result = await tx`delete from owners.sso_providers where shop_id = ${shopId}`;
  return result.count === 1;
}

/** Whether somebody is invited to a shop that they are no member of. */
export async function hasInvitations(tx: Transaction, ownerId: string, at: Date): Promise<boolean> {
  const found = await tx`
    select from owners.links l
    where l.owner_id = ${ownerId} and l.shop_id is not null and l.used_at is null
      and l.expires_at > ${at} and not exists (
        select from owners.memberships m where m.owner_id = l.owner_id and m.shop_id = l.shop_id)
    limit 1`;
  return found.length > 0;
}

/** Accepts all invitations of somebody who has proved their address. @returns the shops that are new to them */
export async function acceptInvitations(
  tx: Transaction,
  ownerId: string,
  at: Date,
): Promise<readonly number[]> {
  const rows = await tx<{ shopId: number }[]>`
    with accepted as (
      update owners.links l set used_at = ${at}
      where owner_id = ${ownerId} and shop_id is not null and used_at is null and expires_at > ${at}
      returning shop_id, l.role
    )
    insert into owners.memberships (owner_id, shop_id, role, created_at)
    select distinct on (shop_id) ${ownerId}::uuid, shop_id, role, ${at}::timestamptz from accepted
    order by shop_id, role
    on conflict do nothing returning shop_id as "shopId"`;
  return rows.map(({ shopId }) => shopId);
}

export async function updateChallengeProvider(
  tx: Transaction,
  tokenHash: string,
  provider: number,
): Promise<void> {
  await tx`
    update owners.challenges set sso_provider = ${provider}
    where token_hash = decode(${tokenHash}, 'base64')`;
}

export async function updateSessionProvider(
  tx: Transaction,
  tokenHash: string,
  { provider, provedAt }: { readonly provider: number; readonly provedAt: Date | null },
): Promise<void> {
  await tx`
    update owners.sessions set sso_provider = ${provider}, proved_at = ${provedAt}
    where token_hash = decode(${tokenHash}, 'base64')`;
}

/** The issuer that began a session; undefined if a password did. */
export async function findSessionProvider(
  sql: Sql,
  tokenHash: string,
): Promise<number | undefined> {
  const [found] = await withTimeout(sql<{ provider: number | null }[]>`
    select sso_provider as provider from owners.sessions
    where token_hash = decode(${tokenHash}, 'base64')`);
  return found?.provider ?? undefined;
}
