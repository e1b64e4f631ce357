import type { Clock } from '../clock.ts';

/** By how much a source's clock may be ahead of this one. */
const clockDifferenceMs = 5 * 60_000;

/** Whether a time lies so far ahead that no difference between clocks explains it. */
export function liesAhead(at: number, clock: Clock): boolean {
  return at > clock.now() + clockDifferenceMs;
}
