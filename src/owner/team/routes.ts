import { ownerIdIn } from '../../acts.ts';
import { inviteOwner } from '../../accounts/links.ts';
import { TeamRefusal, endMembership, setRole } from '../../accounts/team.ts';
import { admitMail } from '../../accounts/throttle.ts';
import { isEmail, normaliseEmail } from '../../accounts/sign-in.ts';
import type { Answer } from '../../http/answer.ts';
import { listInvitations, listMembers } from '../../store/owners/owners.ts';
import { roles } from '../../vocabulary.ts';
import { emailProblem } from '../account/forgotten.ts';
import { invitationLetter } from '../account/letters.ts';
import { formatWait } from '../account/refused.ts';
import { createCookies } from '../cookies.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../pages.ts';
import { shopPath } from '../site.ts';
import { backTo, redirect } from '../ui/page.ts';
import { type Filled, invitedPage, leavePage, memberPage, personName, teamPage } from './views.ts';

const base = '/team';

/** Where the owners of a shop manage who may do what in it, and where any member leaves it. */
export function teamPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, mailer, outbox } = parts;
  const sql = store.write;
  const cookies = createCookies(parts);
  const showTeam = async (visit: ShopVisit, filled?: Filled) => {
    const { id } = visit.shop;
    const [members, invitations] = await Promise.all([
      listMembers(sql, id),
      listInvitations(sql, id),
    ]);
    return teamPage(visit, members, invitations, clock.now(), filled);
  };
  /** Shows the team instead, with the reason, if the change is refused. */
  const changing = async (visit: ShopVisit, change: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof TeamRefusal)) throw error;
      // A former owner may no longer see the team.
      if (error.reason === 'not-allowed') return redirect('/app');
      return showTeam(visit, { problem: error.message });
    }
  };

  return [
    shopPage(base, {
      right: 'ownership',
      acts: ['owner_invited'],
      stepUp: 'form',
      label: 'Team',
      hint: 'Members, roles, invitations',
      navigation: { group: 'Integrate', icon: 'team' },
      show: async (visit) => showTeam(visit),
      submit: async (visit, form) =>
        changing(visit, async () => {
          const { shop, session } = visit;
          const renewed = form.get('renew');
          const pending = renewed === null ? [] : await listInvitations(sql, shop.id);
          const old = pending.find(({ linkId }) => linkId === renewed);
          if (renewed !== null && !old) throw new TeamRefusal('over');
          const email = old?.email ?? normaliseEmail(form.get('email') ?? '');
          const role = old?.role ?? roles.find((each) => each === form.get('role'));
          if (!isEmail(email) || !role) {
            const problem = role ? emailProblem : 'Choose a role.';
            return showTeam(visit, { email, role, problem, invalid: role ? 'email' : 'role' });
          }
          const isMailed = mailer() !== undefined;
          const from = `shop ${shop.id}`;
          const waitSeconds = isMailed ? await admitMail(sql, clock, { email, from }) : 0;
          if (waitSeconds > 0) {
            const problem = `Too many invitations were sent. Try again in ${formatWait(waitSeconds)}.`;
            return showTeam(visit, { email, role, problem });
          }
          const invitation = { shopId: shop.id, email, role, replaces: old?.linkId ?? '' };
          const { path, hours } = await inviteOwner(sql, clock, invitation, actorOf(visit));
          const url = parts.baseUrl() + path;
          const by = personName(session);
          outbox.post('an invitation', async () =>
            invitationLetter(email, { shopName: shop.name, role, by, url }),
          );
          return invitedPage(visit, { email, role }, { url, hours }, isMailed);
        }),
    }),
    shopPage(`${base}/:memberId`, {
      right: 'ownership',
      acts: ['role_set'],
      stepUp: 'form',
      parent: base,
      async show(visit) {
        const members = await listMembers(sql, visit.shop.id);
        const member = members.find(({ ownerId }) => ownerId === visit.params['memberId']);
        return member ? memberPage(visit, member, members) : notFoundPage(visit);
      },
      submit: async (visit, form) =>
        changing(visit, async () => {
          const role = roles.find((each) => each === form.get('role'));
          const ownerId = visit.params['memberId'] ?? '';
          if (!role) return backTo(visit, `${base}/${ownerId}`);
          await setRole(sql, clock, { shopId: visit.shop.id, ownerId, role }, actorOf(visit));
          // With another role, an owner no longer sees the team.
          if (ownerId === visit.session.ownerId) return redirect(shopPath(visit.shop));
          return backTo(visit, base, 'role');
        }),
    }),
    shopPage(`${base}/:memberId/remove`, {
      right: 'ownership',
      acts: ['owner_removed', 'invitation_withdrawn'],
      stepUp: 'form',
      parent: base,
      submit: async (visit) =>
        changing(visit, async () => {
          const ownerId = ownerIdIn(`owner ${visit.params['memberId']}`);
          if (ownerId === undefined) return notFoundPage(visit);
          const member = { shopId: visit.shop.id, ownerId };
          await endMembership(sql, clock, member, actorOf(visit));
          return backTo(visit, base, 'removed');
        }),
    }),
    shopPage('/leave', {
      right: 'member',
      isBeforeFactor: true,
      acts: ['member_left'],
      stepUp: 'form',
      label: 'Leave this shop',
      parent: '/app/account',
      show: async (visit) => leavePage(visit, await listMembers(sql, visit.shop.id)),
      async submit(visit) {
        const { shop, shops, session } = visit;
        try {
          const member = { shopId: shop.id, ownerId: session.ownerId };
          await endMembership(sql, clock, member, actorOf(visit));
        } catch (error) {
          if (!(error instanceof TeamRefusal)) throw error;
          return leavePage(visit, await listMembers(sql, shop.id));
        }
        // With the last shop, the account is gone, too.
        return shops.length > 1
          ? redirect('/app/account?done=left')
          : redirect('/app/sign-in?done=left', cookies.signOut());
      },
    }),
  ];
}
