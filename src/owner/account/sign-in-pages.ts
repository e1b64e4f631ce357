import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { page } from '../ui/answers.ts';
import { alert, layout, notice, token } from '../ui/layout.ts';
import type { Refused } from '../../accounts/sign-in.ts';
import type { Visit } from '../visit.ts';

const done: ReadonlyMap<string | null, string> = new Map([
  ['signed-out', 'You are signed out.'],
  ['signed-out-everywhere', 'You are signed out everywhere.'],
]);

interface Refusal {
  readonly problem: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @param wrong what to say of a wrong password */
export function explainRefusal(refused: Refused, wrong: string): Refusal {
  if (refused.kind === 'wrong') return { problem: wrong, status: 422 };
  const { waitSeconds } = refused;
  return {
    problem: `Too many wrong passwords. Try again in ${showWait(waitSeconds)}, or ask the operator of this service for a link to set a new one.`,
    status: 429,
    headers: { 'retry-after': String(waitSeconds) },
  };
}

function showWait(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

const incorrect = 'Incorrect email or password. Check both, then try again.';

export function signInPage(visit: Visit, refused?: Refused, email = ''): Answer {
  const refusal = refused && explainRefusal(refused, incorrect);
  const content = html`
    ${alert(refusal?.problem)} ${refused ? undefined : notice(done.get(visit.query.get('done')))}
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
  return page(layout(visit, { title: 'Sign in', content }), refusal?.status, refusal?.headers);
}
