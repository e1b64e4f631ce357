import { type Actor, ownerIdIn, withRole } from '../acts.ts';
import type { Clock } from '../clock.ts';
import type { Sql, Transaction } from '../store/database.ts';
import { appendEntry } from '../store/owners/audit.ts';
import {
  deleteInvitationsBy,
  deleteMembership,
  lockAccount,
  lockRoles,
  updateRole,
} from '../store/owners/owners.ts';
import type { Role } from '../vocabulary.ts';
import { mayGrant } from './rights.ts';

/** Why a team was not changed. */
const refusals = {
  'last-owner': 'A shop keeps at least one owner. Make another member an owner first.',
  'not-allowed': 'Your own role does not include this any more.',
  gone: 'This person is no longer in the team.',
  member: 'This person is a member already. Change their role in the list.',
  invited: 'This person is invited already. A new link, in the list, replaces the one they have.',
  over: 'This invitation was withdrawn, or has another link by now.',
} as const;

/** A change of a team that is not made. Its message says why, to the member who tried. */
export class TeamRefusal extends Error {
  override readonly name = 'TeamRefusal';
  readonly reason: keyof typeof refusals;

  constructor(reason: keyof typeof refusals) {
    super(refusals[reason]);
    this.reason = reason;
  }
}

/** The operator, who may change everything. */
const isOperator = (by: Actor) => by.who === 'command line';

type Team = ReadonlyMap<string, Role>;

/**
 * Locks the roles in a shop, so that changes of its team happen one after the other.
 * @param role the one to be given; that of the least rights to remove somebody
 * @throws TeamRefusal if who acts may not give it
 */
export async function lockTeam(
  tx: Transaction,
  shopId: number,
  by: Actor,
  role: Role = 'analyst',
): Promise<Team> {
  const team = await lockRoles(tx, shopId);
  const own = team.get(ownerIdIn(by.who) ?? '');
  if (isOperator(by) || (own && mayGrant(own, role))) return team;
  throw new TeamRefusal('not-allowed');
}

/** @throws TeamRefusal if a member is the only owner; the operator can invite another one */
function requireOtherOwner(team: Team, ownerId: string, by: Actor): void {
  if (!isOperator(by) && isOnlyOwner(team, ownerId)) throw new TeamRefusal('last-owner');
}

export function isOnlyOwner(team: Team, ownerId: string): boolean {
  const owners = [...team].filter(([, role]) => role === 'owner').map(([id]) => id);
  return owners.length === 1 && owners[0] === ownerId;
}

interface InShop {
  readonly shopId: number;
  readonly ownerId: string;
}

/** @throws TeamRefusal */
export function setRole(
  sql: Sql,
  clock: Clock,
  { shopId, ownerId, role }: InShop & { readonly role: Role },
  by: Actor,
): Promise<void> {
  return sql.begin(async (tx) => {
    const team = await lockTeam(tx, shopId, by, role);
    if (!team.has(ownerId)) throw new TeamRefusal('gone');
    if (team.get(ownerId) === role) return;
    requireOtherOwner(team, ownerId, by);
    await giveRole(tx, { ownerId, shopId, role });
    const target = withRole(ownerId, role);
    await appendEntry(tx, shopId, { at: new Date(clock.now()), by, what: 'role_set', target });
  });
}

/** Gives a member another role. Invitations that they have made end, as those of owners who are removed. */
export async function giveRole(
  tx: Transaction,
  member: InShop & { readonly role: Role },
): Promise<void> {
  await updateRole(tx, member);
  await deleteInvitationsBy(tx, member);
}

/**
 * Removes a member, or withdraws the invitation of somebody who is none. Members may leave whatever their role.
 * @throws TeamRefusal
 */
export function endMembership(
  sql: Sql,
  clock: Clock,
  { shopId, ownerId }: InShop,
  by: Actor,
): Promise<void> {
  return sql.begin(async (tx) => {
    await lockAccount(tx, ownerId);
    const isSelf = ownerIdIn(by.who) === ownerId;
    const team = await (isSelf ? lockRoles(tx, shopId) : lockTeam(tx, shopId, by));
    requireOtherOwner(team, ownerId, by);
    if (!(await deleteMembership(tx, ownerId, shopId))) throw new TeamRefusal('gone');
    await deleteInvitationsBy(tx, { ownerId, shopId });
    const ofMember = isSelf ? 'member_left' : 'owner_removed';
    const what = team.has(ownerId) ? ofMember : 'invitation_withdrawn';
    const target = isSelf ? null : `owner ${ownerId}`;
    await appendEntry(tx, shopId, { at: new Date(clock.now()), by, what, target });
  });
}
