import { roleNames, roleSentences } from '../../accounts/rights.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { Invitation, Member, Person } from '../../store/owners/owners.ts';
import { type Role, roles } from '../../vocabulary.ts';
import type { ShopVisit } from '../pages.ts';
import { requiredPath } from '../factors/required.ts';
import { shopPath } from '../site.ts';
import { codeBlock, hiddenRest, notice } from '../ui/elements.ts';
import { actions, choiceField, inputField, postForm, token } from '../ui/fields.ts';
import { showAgo, showDay, showTime } from '../ui/formats.ts';
import { page } from '../ui/page.ts';
import { hiddenHead, plainTable } from '../ui/table.ts';

/** The form of an invitation as it was sent, and what is wrong with it or with another change. */
export interface Filled {
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
export const personName = ({ name, email }: Person) => name ?? email;

const teamPath = ({ shop }: ShopVisit, { ownerId }: Pick<Member, 'ownerId'>, rest = '') =>
  shopPath(shop, `/team/${ownerId}${rest}`);

export function teamPage(
  visit: ShopVisit,
  members: readonly Member[],
  invitations: readonly Invitation[],
  now: number,
  filled: Filled = {},
): Answer {
  const { problem } = filled;
  const content = html`
    ${!problem && notice(notices.get(visit.query.get('done')))}
    <section>
      ${plainTable(
        members,
        [
          ['Member', (member) => nameCell(visit, member), 'head'],
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

function nameCell({ session }: ShopVisit, member: Member): Html {
  const { ownerId, name, email } = member;
  return html`${personName(member)} ${ownerId === session.ownerId && '(you)'}
  ${name !== null && html`<br /><span class="quiet">${email}</span>`}`;
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
export function invitedPage(
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

export function memberPage(visit: ShopVisit, member: Member, members: readonly Member[]): Answer {
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
                </p>
                <button class="danger">Remove from team</button>`,
            )
      }`;
  return page(visit, { title: 'Change member', content });
}

export function leavePage(visit: ShopVisit, members: readonly Member[]): Answer {
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
