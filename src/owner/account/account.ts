import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { page, redirect, returnPath, avatar } from '../ui/page.ts';
import { mailChange } from './forgotten.ts';
import { newPasswordHint } from './links.ts';
import { changePassword } from '../../accounts/sign-in.ts';
import {
  type Accounts,
  changeName,
  readPersonName,
  endOtherSessions,
  endSessions,
  listSessions,
} from '../../accounts/sessions.ts';
import { passwordProblem } from '../../accounts/passwords.ts';
import { type OwnerPage, type OwnerParts, type OwnerVisit, actorOf, ownerPage } from '../pages.ts';
import { type Refusal, explainRefusal } from './refused.ts';
import { visitorIn } from './visitor.ts';
import { factorsPath } from '../factors/proof.ts';
import { alert, notice, hiddenRest } from '../ui/elements.ts';
import {
  passwordField,
  personNameField,
  personNameProblem,
  postForm,
  usernameField,
  token,
} from '../ui/fields.ts';
import { createCookies, parseTheme } from '../cookies.ts';
import { showAgo, showTime } from '../ui/formats.ts';
import { hiddenHead, plainTable } from '../ui/table.ts';
import { may, roleNames } from '../../accounts/rights.ts';
import { type MemberShop, type Visit, shopPath } from '../site.ts';
import { tierNames } from '../ui/labels.ts';

/** What is wrong with a form of the account page. */
interface Refused extends Partial<Refusal> {
  /** The field that the problem is about. */
  readonly invalid?: 'name' | 'password' | 'new-password';
}

export function accountPages(parts: OwnerParts): OwnerPage[] {
  const cookies = createCookies(parts);
  const show = async (visit: OwnerVisit, refused: Refused = {}): Promise<Answer> => {
    const { problem, invalid, status, headers } = refused;
    const done = problem === undefined ? notices.get(visit.query.get('done')) : undefined;
    const content = html`
      ${notice(done)} ${nameSection(visit, invalid === 'name')} ${shopsSection(visit.shops)}
      ${passwordSection(visit, refused)} ${factorsSection(visit)}
      ${await sessionSection(parts.accounts, visit)}
    `;
    // Beside the field that it is about, which may be far below.
    const shown = { problem: isOfPassword(invalid) ? undefined : problem };
    const failed = problem === undefined ? undefined : 422;
    return page(visit, { title: 'Account', content, ...shown, status: status ?? failed, headers });
  };
  return [
    ownerPage('/app/account', { label: 'Account', show: async (visit) => show(visit) }),
    ownerPage('/app/account/name', {
      acts: ['name_changed'],
      async submit(visit, form) {
        const name = readPersonName(form.get('name') ?? '');
        if (name === undefined) {
          return show(visit, { problem: personNameProblem, invalid: 'name' });
        }
        await changeName(parts.accounts, visit.session, actorOf(visit), name);
        return redirect('/app/account?done=name');
      },
    }),
    ownerPage('/app/account/password', {
      acts: ['password_changed'],
      stepUp: 'form',
      asksPassword: true,
      secrets: ['password', 'new-password'],
      section: '/app/account',
      async submit(visit, form) {
        const { email } = visit.session;
        const newPassword = form.get('new-password') ?? '';
        const shopNames = visit.shops.map(({ name }) => name);
        const problem = await passwordProblem(newPassword, { email, shopNames });
        if (problem !== undefined) {
          return show(visit, { problem, invalid: 'new-password' });
        }
        const password = form.get('password') ?? '';
        const guess = { ...visitorIn(visit), by: actorOf(visit), email, password };
        const result = await changePassword(parts.accounts, guess, newPassword);
        if (result.kind === 'right') {
          mailChange(parts, email);
          return redirect('/app/account?done=password', cookies.signIn(result));
        }
        return show(visit, {
          invalid: 'password',
          ...explainRefusal(result, 'The current password is incorrect. Check it, then try again.'),
        });
      },
    }),
    ...sessionPages(parts),
    ownerPage('/app/theme', {
      isBeforeFactor: true,
      acts: [],
      submit: async (_, form) =>
        redirect(returnPath(form.get('next')), [
          cookies.theme(parseTheme(form.get('theme') ?? undefined)),
        ]),
    }),
  ];
}

const notices: ReadonlyMap<string | null, string> = new Map([
  ['name', 'Name saved.'],
  ['password', 'Password changed. You are signed out everywhere else.'],
  ['session', 'Session ended.'],
  ['others', 'You are signed out everywhere else.'],
  ['left', 'You left the shop.'],
]);

function nameSection(visit: OwnerVisit, isInvalid: boolean): Html {
  const { email, name } = visit.session;
  return postForm(
    visit,
    '/app/account/name',
    html`<h2>You</h2>
      <p>You sign in as ${email}.</p>
      ${personNameField(name, isInvalid)}
      <button>Save name</button>`,
  );
}

const isOfPassword = (invalid: Refused['invalid']) =>
  invalid === 'password' || invalid === 'new-password';

function passwordSection(visit: OwnerVisit, { problem, invalid }: Refused): Html {
  return postForm(
    visit,
    '/app/account/password',
    html`<h2>Password</h2>
      ${usernameField(visit.session.email)} ${invalid === 'password' && alert(problem)}
      ${passwordField(
        { id: 'password', label: 'Current password', isInvalid: invalid === 'password' },
        'current-password',
      )}
      ${invalid === 'new-password' && alert(problem)}
      ${passwordField(
        {
          id: 'new-password',
          label: 'New password',
          hint: newPasswordHint,
          isInvalid: invalid === 'new-password',
        },
        'new-password',
      )}
      <button>Change password</button>
      <span class="hint">This signs you out everywhere else.</span>`,
  );
}

function factorsSection({ session }: OwnerVisit): Html {
  return html`<section class="card">
    <h2>Second factor</h2>
    <p>
      ${
        session.hasFactor
          ? 'A second factor protects your account.'
          : 'Your password alone signs you in. Add a passkey or an authenticator app.'
      }
    </p>
    <p><a class="button plain" href="${factorsPath}">Manage</a></p>
  </section>`;
}

const allOthers = 'others';

function sessionPages(parts: OwnerParts): readonly OwnerPage[] {
  const { accounts } = parts;
  const cookies = createCookies(parts);
  return [
    ownerPage('/app/account/sessions', {
      acts: ['session_ended', 'other_sessions_ended'],
      async submit(visit, form) {
        const which = form.get('session') ?? '';
        const id = which === allOthers ? undefined : which;
        await endOtherSessions(accounts, visit.session, actorOf(visit), id);
        return redirect(`/app/account?done=${id === undefined ? allOthers : 'session'}`);
      },
    }),
    ownerPage('/app/account/sign-out-everywhere', {
      acts: ['sessions_ended'],
      async submit(visit) {
        await endSessions(accounts, visit.session, actorOf(visit));
        return redirect('/app/sign-in?done=signed-out-everywhere', cookies.signOut());
      },
    }),
  ];
}

/** Where the owner is signed in. */
async function sessionSection(accounts: Accounts, visit: OwnerVisit): Promise<Html> {
  const sessions = await listSessions(accounts, visit.session);
  const now = accounts.clock.now();
  return html`<section>
    <h2 id="sessions">Sessions</h2>
    <form id="end-session" method="post" action="/app/account/sessions">${token(visit)}</form>
    ${plainTable(
      sessions,
      [
        ['Browser', ({ browser }) => browser ?? 'Unknown', 'head'],
        ['Network', ({ network }) => network ?? 'Unknown'],
        ['Begun', ({ createdAt }) => showTime(visit, createdAt)],
        ['Last used', ({ isThis, seenAt }) => (isThis ? 'This one' : showAgo(seenAt, now))],
        [
          hiddenHead('Actions'),
          ({ isThis, id, browser }) =>
            !isThis &&
            html`<button class="plain small" form="end-session" name="session" value="${id}">
              End${hiddenRest(browser ?? 'session')}
            </button>`,
          'state',
        ],
      ],
      { labelledBy: 'sessions' },
    )}
    <div class="actions">
      ${
        sessions.length > 1 &&
        html`<button class="plain" form="end-session" name="session" value="${allOthers}">
          Sign out everywhere else
        </button>`
      }
      ${postForm(
        visit,
        '/app/account/sign-out-everywhere',
        html`<button class="plain">Sign out everywhere</button>`,
        'inline',
      )}
    </div>
  </section>`;
}

/** Where an owner with several shops chooses one; an only shop opens at once. */
export const shopChoicePages: readonly OwnerPage[] = [
  ownerPage('/app', {
    async show(visit) {
      const { shops } = visit;
      const [only] = shops;
      return only && shops.length === 1
        ? redirect(`/app/shops/${only.id}`)
        : shopsPage(visit, shops);
    },
  }),
  ownerPage('/app/shops', {
    label: 'Your shops',
    show: async (visit) => shopsPage(visit, visit.shops),
  }),
];

/** Lets an owner choose between several shops. */
function shopsPage(visit: Visit, shops: readonly MemberShop[]): Answer {
  const content =
    shops.length === 0
      ? html`<p>
          You do not have access to any shop. Ask an owner of the shop, or the operator of this
          service, for an invitation.
        </p>`
      : html`<ul class="card shops">
          ${shops.map(
            (shop) =>
              html`<li>
                <a href="${shopPath(shop)}"
                  >${avatar(shop)} <span class="name">${shop.name}</span>
                  <span class="tier">${tierNames[shop.tier]}</span></a
                >
              </li>`,
          )}
        </ul>`;
  return page(visit, { title: 'Your shops', content });
}

/** The owner's role in each of their shops, with links to its mail and to leaving it. */
function shopsSection(shops: readonly MemberShop[]): Html {
  return html`<section>
    <h2 id="shops">Your shops</h2>
    ${plainTable(
      shops,
      [
        ['Shop', (shop) => html`<a href="${shopPath(shop)}">${shop.name}</a>`, 'head'],
        ['Your role', ({ role }) => roleNames[role]],
        [
          'Digest and alerts',
          (shop) =>
            may(shop.role, 'figures') &&
            html`<a href="${shopPath(shop, '/notifications')}"
              >Email${hiddenRest(`of ${shop.name}`)}</a
            >`,
        ],
        [
          hiddenHead('Actions'),
          (shop) => html`<a href="${shopPath(shop, '/leave')}">Leave${hiddenRest(shop.name)}</a>`,
          'state',
        ],
      ],
      { labelledBy: 'shops' },
    )}
  </section>`;
}
