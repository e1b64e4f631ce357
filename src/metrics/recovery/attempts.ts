import type { Cases, ClosedCases } from './figures.ts';

/** Attempts to collect after a case opened. */
export interface Attempts {
  /** The first of them within its case. */
  readonly number: number;
  readonly succeeded: Cases;
  readonly failed: Cases;
  /** How many cases the failed ones are in. */
  readonly failedIn: number;
}

/** The first and the last attempt within a case that are counted together. */
const groups: readonly (readonly [first: number, last: number])[] = [
  [1, 1],
  [2, 2],
  [3, 3],
  [4, Infinity],
];

/** How the first attempts ended, the second, the third, and all later ones. */
export function attemptsIn(closed: readonly ClosedCases[]): Attempts[] {
  return groups.map(([first, last]) => {
    // The failure that opens a case is no attempt to collect it, and each later one is a failed attempt.
    const failedOf = ({ attempts }: ClosedCases) =>
      Math.max(0, Math.min(attempts - 1, last) - first + 1);
    const hasSucceeded = ({ result, attempts }: ClosedCases) =>
      result === 'recovered' && attempts >= first && attempts <= last;
    return {
      number: first,
      succeeded: sumOf(closed, (each) => (hasSucceeded(each) ? 1 : 0)),
      failed: sumOf(closed, failedOf),
      failedIn: sumOf(closed, (each) => Math.min(1, failedOf(each))).count,
    };
  });
}

/** @param timesOf how often each of some cases counts */
function sumOf(closed: readonly ClosedCases[], timesOf: (each: ClosedCases) => number): Cases {
  return {
    count: closed.reduce((sum, each) => sum + each.count * timesOf(each), 0),
    units: closed.reduce((sum, each) => sum + each.units * BigInt(timesOf(each)), 0n),
  };
}
