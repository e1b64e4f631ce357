import { ownerIdIn } from '../../acts.ts';
import { inviteOwner } from '../../accounts/links.ts';
import { TeamRefusal, endMembership, setRole } from '../../accounts/team.ts';
import { admitMail } from '../../accounts/throttle.ts';
import { isEmail, normaliseEmail } from '../../accounts/sign-in.ts';
import type { Answer } from '../../http/answer.ts';
import {
  type Invitation,
  type Member,
  type Person,
  listInvitations,
  listMembers,
} from '../../store/owners/owners.ts';
import { type Role, roles } from '../../vocabulary.ts';
import { emailProblem } from '../account/forgotten.ts';
import { invitationLetter } from '../account/letters.ts';
import { formatWait } from '../account/refused.ts';
import { createCookies } from '../cookies.ts';
import { notFoundPage } from '../message-pages.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../pages.ts';
import { shopPath } from '../site.ts';
import { backTo, redirect, page } from '../ui/page.ts';
import { roleNames, roleSentences } from '../../accounts/rights.ts';
import { type Html, html } from '../../http/html.ts';
import { requiredPath } from '../factors/required.ts';
import { codeBlock, hiddenRest, notice } from '../ui/elements.ts';
import { actions, choiceField, inputField, postForm, token } from '../ui/fields.ts';
import { showAgo, showDay, showTime } from '../ui/formats.ts';
import { hiddenHead, plainTable } from '../ui/table.ts';

const base = '/team';

/** Where the owners of a shop manage who may do what in it, and where any member leaves it. */
export function teamPages(parts: OwnerParts): OwnerPage[] {
  const { store, accounts, clock, mailer, outbox } = parts;
  const sql = store.write;
  const cookies = createCookies(parts);
  const showTeam = (visit: ShopVisit, filled?: Filled) => teamPage(parts, visit, filled);
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
        if (!member) return notFoundPage(visit);
        const issuer = await accounts.sso.findFor(member.email);
        return memberPage(visit, member, members, issuer?.id === visit.shop.id);
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

/** The form of an invitation as it was sent, and what is wrong with it or with another change. */
interface Filled {
  readonly email?: string;
  readonly role?: Role | undefined;
  readonly problem?: string;
  readonly invalid?: 'email' | 'role';
}

const notices: ReadonlyMap<string | null, string> = new Map([
  ['role', 'Role changed. It counts from the next page they open.'],
  ['removed', 'Removed. They no longer have access to this shop.'],
]);

/** What a member is called: their name, or else their address. */
const personName = ({ name, email }: Person) => name ?? email;

const teamPath = ({ shop }: ShopVisit, { ownerId }: Pick<Member, 'ownerId'>, rest = '') =>
  shopPath(shop, `/team/${ownerId}${rest}`);

async function teamPage(
  { store, clock }: OwnerParts,
  visit: ShopVisit,
  filled: Filled = {},
): Promise<Answer> {
  const { problem } = filled;
  const [members, invitations] = await Promise.all([
    listMembers(store.write, visit.shop.id),
    listInvitations(store.write, visit.shop.id),
  ]);
  const now = clock.now();
  const content = html`
    ${!problem && notice(notices.get(visit.query.get('done')))}
    <section>
      ${plainTable(
        members,
        [
          [
            'Member',
            (member) =>
              html`${personName(member)} ${member.ownerId === visit.session.ownerId && '(you)'}
              ${member.name !== null && html`<br /><span class="quiet">${member.email}</span>`}`,
            'head',
          ],
          ['Role', ({ role }) => roleNames[role]],
          ['Since', ({ since }) => showDay(visit, since)],
          ['Last seen', ({ seenAt }) => (seenAt ? showAgo(seenAt, now) : 'Not in 90 days')],
          [
            hiddenHead('Actions'),
            (member) =>
              html`<a href="${teamPath(visit, member)}"
                >Change${hiddenRest(personName(member))}</a
              >`,
            'state',
          ],
        ],
        { caption: 'Members' },
      )}
    </section>
    ${invitations.length > 0 && invitationSection(visit, invitations, now)}
    ${invitationForm(visit, filled)}
  `;
  const action = html`<a class="button plain" href="${shopPath(visit.shop, requiredPath)}"
    >Second factor</a
  >`;
  return page(visit, { title: 'Team', content, action, problem });
}

function invitationSection(
  visit: ShopVisit,
  invitations: readonly Invitation[],
  now: number,
): Html {
  return html`<section>
    <h2 id="invitations">Invitations</h2>
    <form id="pending" method="post" action="${shopPath(visit.shop, '/team')}">
      ${token(visit)}
    </form>
    ${plainTable(
      invitations,
      [
        ['Address', ({ email }) => email, 'head'],
        ['Role', ({ role }) => roleNames[role]],
        [
          'Valid until',
          ({ expiresAt }) =>
            expiresAt.getTime() > now ? showTime(visit, expiresAt) : html`<em>Expired</em>`,
        ],
        [
          hiddenHead('Actions'),
          ({ ownerId, email, linkId }) =>
            html`<button class="plain small" form="pending" name="renew" value="${linkId}">
                New link${hiddenRest(`for ${email}`)}
              </button>
              <button
                class="plain small"
                form="pending"
                formaction="${teamPath(visit, { ownerId }, '/remove')}"
              >
                Withdraw${hiddenRest(email)}
              </button>`,
          'state',
        ],
      ],
      { labelledBy: 'invitations' },
    )}
  </section>`;
}

function roleChoices(chosen: Role | undefined, isInvalid = false): Html {
  return html`<fieldset>
    <legend>Role</legend>
    ${roles.map((role) =>
      choiceField(
        html`type="radio" name="role" value="${role}" required ${role === chosen && html`checked`}
        ${isInvalid && html`aria-invalid="true"`}`,
        html`<strong>${roleNames[role]}</strong> <span class="quiet">${roleSentences[role]}</span>`,
      ),
    )}
  </fieldset>`;
}

function invitationForm(visit: ShopVisit, { email = '', role, invalid }: Filled): Html {
  return html`<section>
    <h2>Invite somebody</h2>
    ${postForm(
      visit,
      shopPath(visit.shop, '/team'),
      html`${inputField(
          { id: 'email', label: 'Email', value: email, isInvalid: invalid === 'email' },
          html`type="email" autocomplete="off" required maxlength="254"`,
        )}
        ${roleChoices(role, invalid === 'role')} <button>Create invitation</button>`,
    )}
  </section>`;
}

/** The only page that shows the link. It is the direct response to the form, so the link is stored nowhere. */
function invitedPage(
  visit: ShopVisit,
  { email, role }: { readonly email: string; readonly role: Role },
  { url, hours }: { readonly url: string; readonly hours: number },
  isMailed: boolean,
): Answer {
  const content = html`<section class="card">
    <h2>${email}</h2>
    <p>
      ${
        isMailed
          ? 'The link is on its way by email. You can also copy it now: it is not shown again.'
          : 'Copy the link now, and send it to them: it is not shown again.'
      }
    </p>
    ${codeBlock('link', 'Invitation link', url)}
    <p>
      Anyone who has it can join as ${roleNames[role].toLowerCase()}. It works once, for ${hours}
      hours.
    </p>
    <p class="actions"><a class="button" href="${visit.request.url}">Done</a></p>
  </section>`;
  return page(visit, { title: 'Invitation created', content, status: 201 });
}

const isOnlyOwner = (member: Pick<Member, 'ownerId'>, members: readonly Member[]) =>
  members.every(({ role, ownerId }) => (role === 'owner') === (ownerId === member.ownerId));

/** @param comesBack whether single sign-on lets the member in again */
function memberPage(
  visit: ShopVisit,
  member: Member,
  members: readonly Member[],
  comesBack: boolean,
): Answer {
  const { name, email, role } = member;
  const { shop, session } = visit;
  const who = html`<p>${name !== null && html`${name}, `}${email}</p>`;
  const isSelf = member.ownerId === session.ownerId;
  const content = isOnlyOwner(member, members)
    ? html`${who}
        <p>
          The only owner of ${shop.name} keeps the role and stays in the team. Make another member
          an owner first.
        </p>`
    : html`${who}
      ${postForm(
        visit,
        teamPath(visit, member),
        html`${roleChoices(role)}
          ${isSelf && html`<p>With another role, you can no longer open this page.</p>`}
          <button>Change role</button>`,
      )}
      ${
        isSelf
          ? html`<p><a href="${shopPath(shop, '/leave')}">Leave ${shop.name}</a></p>`
          : postForm(
              visit,
              teamPath(visit, member, '/remove'),
              html`<h2>Remove</h2>
                <p>
                  ${personName(member)} loses access to ${shop.name} with the next page they open.
                  Keys they made keep working.
                  ${comesBack && 'Single sign-on lets them in again, unless your issuer refuses them: remove them there first.'}
                </p>
                <button class="danger">Remove from team</button>`,
            )
      }`;
  return page(visit, { title: 'Change member', content });
}

function leavePage(visit: ShopVisit, members: readonly Member[]): Answer {
  const { shop, shops, session } = visit;
  const isHeld = isOnlyOwner(session, members);
  const content = isHeld
    ? html`<p>
          You are the only owner of ${shop.name}, which keeps at least one. Make another member an
          owner first.
        </p>
        <p><a href="${shopPath(shop, '/team')}">Go to the team</a></p>`
    : postForm(
        visit,
        shopPath(shop, '/leave'),
        html`<p>
            You lose access to ${shop.name} at once, and get no more mail about it. Only an owner
            can let you in again.
            ${shops.length === 1 && 'It is your only shop, so your account is deleted, too.'}
          </p>
          ${actions(html`<button class="danger">Leave ${shop.name}</button>`, '/app/account', 'Stay')}`,
      );
  return page(visit, { title: `Leave ${shop.name}?`, content });
}
