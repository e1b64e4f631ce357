import type { Result } from './trial.ts';
import type { World } from './world.ts';

/** How long it may take, once the cause of a fault is gone, until nothing is refused any more. */
const mostRecoverySeconds = 5;
const mostShown = 5;

/** What was wrong, a sentence each, and the line that closes the run. */
export function summarise(
  results: readonly Result[],
  { traffic, owner }: World,
  seconds: number,
): { readonly problems: readonly string[]; readonly closing: string } {
  const wrong = [...traffic.wrong, ...owner.wrong];
  const slow = results.filter(({ recoverySeconds: each }) => each > mostRecoverySeconds);
  const deaths = results.flatMap((result) => result.deaths);
  const problems = [
    ...wrong.slice(0, mostShown),
    ...results.flatMap((result) => result.problems),
    ...slow.map(({ name, recoverySeconds: each }) => `${name}: recovered after ${each} seconds`),
    ...deaths,
  ];
  const refusals = results.filter(({ refused }) => refused > 0);
  const refused = refusals.reduce((sum, each) => sum + each.refused, 0);
  const [slowest] = results.toSorted((a, b) => b.recoverySeconds - a.recoverySeconds);
  const closing = [
    `${results.length} faults in ${Math.round(seconds)} s`,
    `${traffic.outcomes.length} answers, ${wrong.length} of them wrong`,
    `${owner.checked} keys followed from making to revocation`,
    `refused ${refused}${refused > 0 ? ` (${refusals.map((each) => `${each.name}: ${each.refused}`).join('; ')})` : ''}`,
    `longest recovery ${slowest?.recoverySeconds.toFixed(1)} s of at most ${mostRecoverySeconds} (${slowest?.name})`,
    `${deaths.length === 0 ? 'no' : deaths.length} processes died but those that were killed`,
  ];
  return { problems, closing: `${closing.join(', ')}.` };
}
