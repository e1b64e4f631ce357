import type { Refused } from '../../accounts/sign-in.ts';

interface Refusal {
  readonly problem: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * @param incorrect the message for what is incorrect
 * @param what is counted, and where the owner can get help
 */
export function explainRefusal(
  refused: Refused,
  incorrect: string,
  [what, help] = [
    'passwords',
    ', or ask the operator of this service for a link to reset your password',
  ],
): Refusal {
  if (refused.kind === 'wrong') return { problem: incorrect, status: 422 };
  const { waitSeconds } = refused;
  return {
    problem: `Too many incorrect ${what}. Try again in ${formatWait(waitSeconds)}${help}.`,
    status: 429,
    headers: { 'retry-after': String(waitSeconds) },
  };
}

export function formatWait(seconds: number): string {
  const [count, unit] = seconds < 120 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}
