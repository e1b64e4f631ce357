import {
  type Accounts,
  endOtherSessions,
  endSessions,
  listSessions,
} from '../../accounts/sessions.ts';
import { type Html, html } from '../../http/html.ts';
import { createCookies } from '../cookies.ts';
import { type OwnerPage, type OwnerParts, type OwnerVisit, actorOf, ownerPage } from '../pages.ts';
import { hiddenRest } from '../ui/elements.ts';
import { postForm, token } from '../ui/fields.ts';
import { showAgo, showTime } from '../ui/formats.ts';
import { redirect } from '../ui/page.ts';
import { hiddenHead, plainTable } from '../ui/table.ts';

const allOthers = 'others';

export function sessionPages(parts: OwnerParts): readonly OwnerPage[] {
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
export async function sessionSection(accounts: Accounts, visit: OwnerVisit): Promise<Html> {
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
