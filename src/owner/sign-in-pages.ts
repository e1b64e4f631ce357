import type { Answer } from '../http/answer.ts';
import { html } from '../http/html.ts';
import { page } from './answers.ts';
import { alert, layout, notice, token } from './layout.ts';
import { attemptMinutes } from './sign-in.ts';
import type { Visit } from './visit.ts';

const done: ReadonlyMap<string | null, string> = new Map([
  ['signed-out', 'You are signed out.'],
  ['signed-out-everywhere', 'You are signed out everywhere.'],
]);

export const refusals = {
  wrong: 'This e-mail address and password do not belong together. Check both, then try again.',
  throttled: `There were too many wrong passwords. Wait ${attemptMinutes} minutes, then try again.`,
} as const;

const statuses = { wrong: 422, throttled: 429 } as const;

/** The status and headers of a refused password. */
export function refusalAnswer(kind: keyof typeof refusals) {
  const headers = kind === 'throttled' ? { 'retry-after': String(attemptMinutes * 60) } : {};
  return { status: statuses[kind], headers };
}

export function signInPage(visit: Visit, refused?: keyof typeof refusals, email = ''): Answer {
  const content = html`
    ${alert(refused && refusals[refused])}
    ${refused ? undefined : notice(done.get(visit.query.get('done')))}
    <form class="card narrow" method="post" action="/app/sign-in">
      ${token(visit)}
      <p class="field">
        <label for="email">E-mail address</label>
        <input
          id="email"
          name="email"
          type="email"
          autocomplete="username"
          required
          value="${email}"
        />
      </p>
      <p class="field">
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
        />
      </p>
      <button>Sign in</button>
    </form>
    <p class="quiet">
      You get an account by a link from whoever runs this service; ask them for a new link if you
      have forgotten your password.
    </p>
  `;
  const { status, headers } = refused ? refusalAnswer(refused) : { status: 200, headers: {} };
  return page(layout(visit, { title: 'Sign in', content }), status, headers);
}
