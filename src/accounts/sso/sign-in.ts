import type { Actor } from '../../acts.ts';
import { type Role, roles } from '../../vocabulary.ts';
import { appendEntry, appendForOwner, installation } from '../../store/owners/audit.ts';
import { listFactors } from '../../store/owners/factors.ts';
import {
  deleteInvitations,
  ensureOwner,
  findOwnerByEmail,
  listMemberships,
  lockAccount,
  lockRoles,
  updatePassword,
} from '../../store/owners/owners.ts';
import {
  type SsoProvider,
  hasInvitations,
  updateChallengeProvider,
  updateSessionProvider,
} from '../../store/owners/sso.ts';
import { type Waiting, acceptAll, beginSignIn, hashOfWaiting } from '../factors/second-step.ts';
import { createLink } from '../links.ts';
import {
  type Accounts,
  type Browser,
  type SignInSecrets,
  deleteExpiredSessions,
  endAccess,
  fingerprint,
} from '../sessions.ts';
import { giveRole, isOnlyOwner } from '../team.ts';
import { type Identity, SsoRefused } from './flow.ts';
import type { Provider } from './providers.ts';

/** The role that a shop's issuer gives somebody: the highest that a value of the claim stands for. */
function roleOf(shop: SsoProvider, { claims }: Identity): Role | undefined {
  const claim = shop.roleClaim === null ? undefined : claims[shop.roleClaim];
  const values = new Set(Array.isArray(claim) ? claim.map(String) : [String(claim ?? '')]);
  const given = roles.find((role) => shop.roles[role]?.some((value) => values.has(value)));
  return given ?? shop.defaultRole ?? undefined;
}

/**
 * Starts a session of the person that an issuer has named, or asks for their second factor. A shop's issuer makes them
 * a member; the installation's signs in those who are members or invited. Who gets a new shop by it loses the password
 * that they had, since the one who invited them to another shop may have chosen it.
 * @throws SsoRefused
 */
export async function signInBySso(
  accounts: Accounts,
  provider: Provider,
  identity: Identity,
  from: Browser & { readonly by: Actor },
): Promise<(SignInSecrets | Waiting) & { readonly hasLostPassword: boolean }> {
  const { sql, clock } = accounts;
  const { id, shop, name } = provider;
  const { email } = identity;
  const at = new Date(clock.now());
  const role = shop && roleOf(shop, identity);
  if (shop && !role) {
    const text = `${name} gives you no role here. Ask those who manage it for access.`;
    throw new SsoRefused(text, 'no role');
  }
  const secrets = await sql.begin(async (tx) => {
    if (role) await ensureOwner(tx, email, at);
    const owner = await findOwnerByEmail(tx, email);
    const ownerId = owner?.ownerId ?? '';
    if (owner) await lockAccount(tx, ownerId);
    const by: Actor = { ...from.by, who: `owner ${ownerId}` };
    if (role) {
      const team = await lockRoles(tx, id);
      const isNew = !team.has(ownerId);
      // Without a claim, the role that the team gave a member stays; and a shop keeps its only owner.
      const isOther =
        team.get(ownerId) !== role && shop?.roleClaim !== null && !isOnlyOwner(team, ownerId);
      if (isNew) {
        await deleteInvitations(tx, ownerId, id);
        await createLink(tx, clock, ownerId, { shopId: id, role });
      } else if (isOther) await giveRole(tx, { ownerId, shopId: id, role });
      if (isNew || isOther) {
        await appendEntry(tx, id, { at, by, what: 'sso_role_given', target: role });
      }
    }
    const isInvited = owner !== undefined && (await hasInvitations(tx, ownerId, at));
    if (!owner || (!isInvited && (await listMemberships(tx, ownerId)).length === 0)) {
      const text = `Your address at ${name} is not invited. Ask an owner of your shop, or the operator of this service.`;
      throw new SsoRefused(text, 'not a member');
    }
    const { passwordHash } = owner;
    const hasLostPassword = isInvited && passwordHash !== null;
    if (hasLostPassword) {
      if (!(await updatePassword(tx, ownerId, passwordHash, null))) return undefined;
      await endAccess(tx, clock, ownerId);
      await appendForOwner(tx, ownerId, { at, by, what: 'password_removed' });
    }
    if ((await listFactors(tx, ownerId)).length === 0) await acceptAll(tx, ownerId, by, at);
    const kept = { ownerId, passwordHash: hasLostPassword ? null : passwordHash };
    const begun = await beginSignIn(tx, accounts, kept, from, 'signed_in');
    if (begun && 'waiting' in begun) {
      await updateChallengeProvider(tx, hashOfWaiting(begun.waiting), id);
    } else if (begun) {
      const provedAt = identity.authenticatedAt ?? null;
      await updateSessionProvider(tx, fingerprint(begun.session), { provider: id, provedAt });
    }
    return begun && { ...begun, ownerId, hasLostPassword };
  });
  if (!secrets) {
    throw new SsoRefused('Your password was just changed. Start again.', 'a changed password');
  }
  await deleteExpiredSessions(sql, clock, secrets.ownerId);
  return secrets;
}

/** Enters in the audit log that an issuer's answer was refused. */
export function appendSsoRefusal(
  { sql, clock }: Accounts,
  provider: number,
  reason: string,
  by: Actor,
): Promise<void> {
  const happened = { at: new Date(clock.now()), by, target: reason, isLimited: true };
  return appendEntry(sql, provider || installation, { ...happened, what: 'sso_refused' });
}
