import type { Result } from './trial.ts';
import type { Scene } from './scene.ts';

/** Maximum time from the end of a fault until the last refused request. */
const maxRecoverySeconds = 5;
const maxShown = 5;

export interface Summary {
  /** What was wrong, one sentence each. */
  readonly problems: readonly string[];
  readonly closing: string;
}

/** @param noun what a fault is called */
export function summarise(
  results: readonly Result[],
  { traffic, owner }: Scene,
  seconds: number,
  noun: string,
): Summary {
  const wrong = [...traffic.wrong, ...owner.wrong];
  const slow = results.filter(({ recoverySeconds: each }) => each > maxRecoverySeconds);
  const deaths = results.flatMap((result) => result.deaths);
  const problems = [
    ...wrong.slice(0, maxShown),
    ...results.flatMap((result) => result.problems),
    ...slow.map(({ name, recoverySeconds: each }) => `${name}: recovered after ${each} seconds`),
    ...deaths,
  ];
  const refusals = results.filter(({ refused }) => refused > 0);
  const refused = refusals.reduce((sum, each) => sum + each.refused, 0);
  const [slowest] = results.toSorted((a, b) => b.recoverySeconds - a.recoverySeconds);
  const closing = [
    `${results.length} ${noun}s in ${Math.round(seconds)} s`,
    `${traffic.outcomes.length} answers, ${wrong.length} of them wrong`,
    `${owner.checked} keys checked from creation to revocation`,
    `refused ${refused}${refused > 0 ? ` (${refusals.map((each) => `${each.name}: ${each.refused}`).join('; ')})` : ''}`,
    `longest recovery ${slowest?.recoverySeconds.toFixed(1)} s of at most ${maxRecoverySeconds} (${slowest?.name})`,
    `${deaths.length === 0 ? 'no' : deaths.length} processes died unexpectedly`,
  ];
  return { problems, closing: `${closing.join(', ')}.` };
}
