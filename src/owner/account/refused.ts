import type { Refused } from '../../accounts/sign-in.ts';
import { type Html, html } from '../../http/html.ts';

/** What is wrong with a form, for its page. */
export interface Refusal {
  readonly problem: string | Html;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * @param incorrect the message for what is incorrect
 * @param what is counted, and where the owner can get help
 */
export function explainRefusal(
  refused: Refused,
  incorrect = 'Incorrect password. Check it, then try again.',
  [what, help]: readonly [string, string | Html] = [
    'passwords',
    html`, or <a href="/app/forgot-password">choose a new one</a>`,
  ],
): Refusal {
  if (refused.kind === 'wrong') return { problem: incorrect, status: 422 };
  if (refused.kind === 'replaced') {
    return { problem: 'Single sign-on has replaced your password. Sign in with it.', status: 422 };
  }
  const { waitSeconds } = refused;
  return {
    problem: html`Too many incorrect ${what}. Try again in ${formatWait(waitSeconds)}${help}.`,
    status: 429,
    headers: { 'retry-after': String(waitSeconds) },
  };
}

export function formatWait(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}
